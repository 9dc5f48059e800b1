"""A Markdown extension: ``$a/b$`` and ``$$a/b$$`` in LaTeX become MathML, which browsers draw.

No script and no font has to be loaded for it. A formula in ``$$`` stands on lines of its own.
"""

from __future__ import annotations

import re
from typing import Any
from xml.etree.ElementTree import Element

from latex2mathml.converter import convert
from markdown import Markdown
from markdown.blockprocessors import BlockProcessor
from markdown.extensions import Extension
from markdown.inlinepatterns import InlineProcessor

INLINE = r"(?<![\\$\w])\$(?! )([^$\n]+?)(?<! )\$(?![\d$])"
BLOCK = re.compile(r"^\$\$(.+)\$\$$", re.DOTALL)


class _Inline(InlineProcessor):
    # its name and parameters are Markdown's interface
    def handleMatch(self, m: re.Match[str], data: str) -> tuple[str, int, int]:  # noqa: ARG002
        kept = self.md.htmlStash.store(convert(m.group(1)))
        return kept, m.start(0), m.end(0)


class _Block(BlockProcessor):
    def test(self, parent: Element, block: str) -> bool:  # noqa: ARG002 - Markdown's interface
        return bool(BLOCK.match(block.rstrip()))

    def run(self, parent: Element, blocks: list[str]) -> None:
        found = BLOCK.match(blocks.pop(0).rstrip())
        assert found is not None
        place = Element("p", {"class": "formula"})
        place.text = self.parser.md.htmlStash.store(convert(found.group(1), display="block"))
        parent.append(place)


class MathML(Extension):
    """Formulas of a page."""

    def extendMarkdown(self, md: Markdown) -> None:
        """Before emphasis, so that an underscore in a formula is one."""
        md.inlinePatterns.register(_Inline(INLINE, md), "mathml", 185)
        md.parser.blockprocessors.register(_Block(md.parser), "mathml", 175)


def makeExtension(**settings: Any) -> MathML:
    """Called by Markdown."""
    return MathML(**settings)
