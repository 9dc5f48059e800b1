"""The site builds without a warning, and a browser finds nothing wrong with any page of it."""

from __future__ import annotations

import functools
import http.server
import os
import re
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
WIDTHS = (1280, 390)
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The whole site, but for the papers: making all of them again takes minutes."""
    pytest.importorskip("mkdocs", reason="the extra docs is not installed")
    folder = tmp_path_factory.mktemp("documentation")
    shutil.copytree(
        ROOT / "docs", folder / "docs", ignore=shutil.ignore_patterns("reproduced.html")
    )
    shutil.copy(ROOT / "mkdocs.yml", folder)
    (folder / "src").symlink_to(ROOT / "src")
    tools = Path(sys.executable).parent
    papers = [tools / "allminds", "reproduce", "insa-cabrera-2015", "--out", "docs/reproduced.html"]
    subprocess.run(papers, cwd=folder, check=True, capture_output=True)
    built = subprocess.run(
        [tools / "mkdocs", "build", "--strict"],
        cwd=folder, env=os.environ | {"PYTHONPATH": "docs", "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert built.returncode == 0, built.stderr
    assert "WARNING" not in built.stderr
    return folder / "site"


def pages(site):
    """Every page that a reader can come to, by its path."""
    return sorted(str(page.relative_to(site)) for page in site.rglob("*.html"))


def test_there_is_a_page_for_every_source(site):
    sources = {path.relative_to(ROOT / "docs") for path in (ROOT / "docs").rglob("*.md")}
    assert {str(path.with_suffix(".html")) for path in sources} <= set(pages(site))
    assert "reproduced.html" in pages(site)


def test_nothing_is_loaded_from_elsewhere(site):
    loads = re.compile(r"<(?:script|img|link|iframe|source)[^>]*(?:src|href)=[\"']?(?:https?:)?//")
    for page in pages(site):
        text = (site / page).read_text(encoding="utf-8")
        found = [one[0] for one in loads.finditer(text) if "canonical" not in one[0]]
        assert found == [], page


class Quiet(http.server.SimpleHTTPRequestHandler):
    """Serves files and keeps no log."""

    def log_message(self, *given):
        """Nothing."""


@pytest.fixture(scope="module")
def address(site):
    """Where the site is served."""
    handler = functools.partial(Quiet, directory=site)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()


@pytest.mark.parametrize("width", WIDTHS)
def test_a_browser_finds_nothing_wrong(site, address, browser, width):
    wrong = []
    tab = browser.new_page(viewport={"width": width, "height": 900})
    tab.on("console", lambda said: said.type == "error" and wrong.append(said.text))
    tab.on("pageerror", lambda error: wrong.append(str(error)))
    tab.on("request", lambda asked: _own(asked.url, address) or wrong.append(asked.url))
    for page in pages(site):
        if page == "404.html":
            continue
        tab.goto(address + page)
        if tab.evaluate("document.documentElement.scrollWidth") > width:
            wrong.append(f"{page} is wider than the screen")
    tab.close()
    assert wrong == []


def test_search_works_without_a_network(address, browser):
    tab = browser.new_page(viewport={"width": 1280, "height": 900})
    tab.goto(address + "index.html")
    tab.fill("input[name=query]", "generalisability")
    tab.wait_for_selector(".md-search-result__item")
    tab.close()


def _own(url, address):
    return url.startswith((address, "data:", "blob:"))
