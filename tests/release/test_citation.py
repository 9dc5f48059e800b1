"""CITATION.cff can be read, is of this version, and names the papers as they name themselves."""

from __future__ import annotations

import importlib.metadata
import tomllib
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
PAPERS = ROOT.parent / "shared" / "papers"


@pytest.fixture(scope="module")
def citation():
    return yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))


def test_it_has_the_fields_that_the_format_requires(citation):
    assert citation["cff-version"] == "1.2.0"
    assert citation["type"] == "software"
    for name in ("message", "title", "version", "authors", "license", "references"):
        assert citation[name], name
    for paper in citation["references"]:
        assert paper["type"] in ("conference-paper", "report")
        assert paper["title"]
        assert all(author["family-names"] and author["given-names"] for author in paper["authors"])


def test_its_version_and_licence_are_those_of_the_package(citation):
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert str(citation["version"]) == project["version"]
    assert importlib.metadata.version("allminds") == project["version"]
    assert citation["license"] == project["license"]
    assert citation["keywords"] == project["keywords"]


def test_the_five_papers_are_named_as_they_name_themselves(citation):
    assert len(citation["references"]) == 5
    if not PAPERS.is_dir():
        pytest.skip("the papers are not beside this checkout")
    texts = [path.read_text(encoding="utf-8")[:3000] for path in sorted(PAPERS.glob("*.txt"))]
    for paper, text in zip(citation["references"], texts, strict=True):
        assert paper["title"] in text
        for author in paper["authors"]:
            assert author["family-names"] in text
        assert str(paper.get("doi", "")).split("_")[0] in text
