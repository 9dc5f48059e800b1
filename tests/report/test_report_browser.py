"""The report in a real browser: nothing fetched, nothing to complain of, good on a phone.

Chromium comes from the system, Playwright and axe from PyPI; where one is missing these tests are
skipped, and say so.
"""

from __future__ import annotations

import contextlib
import re
import zlib

import pytest
from test_designs import CROSSED

from allminds.report import page as pages
from allminds.report import write_report
from allminds.runs.plan import Plan, Test, read_plan
from allminds.runs.run import How, run

pytest.importorskip("playwright", reason="no tests in a browser: playwright is not installed")
pytest.importorskip("axe_playwright_python", reason="no tests in a browser: axe is not installed")

HOSTILE = "x\"'><script>&amp;.py"
BREAKS = """
class Breaks:
    '''<script>alert(2)</script> & "more".'''
    def act(self, observation, random):
        if random.below(9) == 0:
            raise ValueError("<svg onload=alert(3)>" + "a long reason without a space" * 9)
        return 5
"""

# What reaches over the edge of the window, save what is hidden or scrolls by itself.
OUTSIDE = """() => [...document.querySelectorAll("body *")].filter(e => {
  const box = e.getBoundingClientRect();
  return box.width > 1 && !e.closest("thead, .scroll *, svg *")
    && (box.left < -0.5 || box.right > document.documentElement.clientWidth + 0.5);
}).map(e => `${e.tagName}.${e.className} ${e.textContent.slice(0, 40)}`)"""
# What is wider than the cell or paragraph that holds it, and so runs into what stands beside it.
SPILT = """() => [...document.querySelectorAll("td, th, caption, dd, li, p, pre, figcaption")]
  .filter(e => !e.closest("thead, .scroll *") && e.clientWidth > 1
    && e.scrollWidth > e.clientWidth + 1)
  .map(e => `${e.tagName}.${e.className} ${e.textContent.slice(0, 40)}`)"""
# Spaces of WCAG 1.4.12: wider than any common font, so that it does not matter which there are.
WIDEN = """() => {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync("* { letter-spacing: .12em !important; word-spacing: .16em !important; }");
  document.adoptedStyleSheets.push(sheet);
}"""
UNFOLD = "document.querySelectorAll('details').forEach(one => { one.open = true; })"


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    """Two runs with everything there is: groups, votes, predictions, failures, hostile names."""
    where = tmp_path_factory.mktemp("browser")
    (where / HOSTILE).write_text(BREAKS)
    settings = {"rows": 5, "cols": 5, "iterations": 10, "agents": 2}
    minds = ["random", "local-search", "stigmergy", "optimum", f"{where / HOSTILE}:Breaks"]
    first = [
        Test(instrument="lambda-star", minds=minds, episodes=44, settings=settings),
        Test(
            instrument="c-test",
            minds=[
                "random",
                "levin-search",
                "mode",
                "pattern",
                "min-distance",
                "vote(mode,pattern,min-distance)",
            ],
            episodes=20,
        ),
        Test(instrument="stag-hunt", minds=["random", "hare"], against="stag", episodes=40),
        Test(instrument="public-goods", minds=["random", "give"], episodes=40),
    ]
    second = [first[0].model_copy(update={"minds": ["random", "crowd", "local-search"]})]
    here = How(jobs=1)
    plans = (Plan(tests=first, yours=["random", minds[-1]]), Plan(tests=second))
    folders = [run(plan, where / str(n), here) for n, plan in enumerate(plans)]
    weights = {"lambda-star": 1.0, "c-test": 2.0}
    return write_report(folders, where / "report.html", weights)


@pytest.fixture(scope="module")
def factors(tmp_path_factory):
    """A crossed design: factors, their interactions, and groups pooled over all cells."""
    where = tmp_path_factory.mktemp("factors")
    (where / "plan.toml").write_text(CROSSED.replace("episodes = 20", "episodes = 8"), "utf-8")
    folder = run(read_plan(where / "plan.toml"), where / "run", How(jobs=1))
    return write_report(folder, where / "report.html")


@pytest.fixture
def opened(browser, report):
    """Open a report; what it complains of, or asks of others, fails the test."""
    contexts, wrong = [], []

    def make(width, which=report, **options):
        context = browser.new_context(viewport={"width": width, "height": 800}, **options)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda said: wrong.append(said.text))
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("dialog", lambda asked: wrong.append(asked.message) or asked.dismiss())
        page.on("request", lambda one: one.url.startswith("file:") or wrong.append(one.url))
        page.goto(which.as_uri())
        return page

    yield make
    for context in contexts:
        context.close()
    assert wrong == []


def test_it_opens_without_a_complaint_or_a_request(opened):
    page = opened(1000)
    assert "runs side by side" in page.title()
    assert page.locator("svg").count() > 10
    assert page.locator("body img, body script").count() == 0


@pytest.mark.parametrize("name", ["report", "factors"])
@pytest.mark.parametrize("width", [320, 390, 720, 1000])
def test_nothing_reaches_over_the_edge(opened, width, name, request):
    page = opened(width, request.getfixturevalue(name))
    page.evaluate(UNFOLD)
    for _ in ("as it is", "widened"):
        assert page.evaluate(OUTSIDE) == []
        assert page.evaluate(SPILT) == []
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        page.evaluate(WIDEN)


@pytest.mark.slow
def test_no_violations_by_axe(opened):
    from axe_playwright_python.sync_playwright import Axe

    for width in (390, 1000):
        page = opened(width, bypass_csp=True)  # axe is injected
        if width == 1000:
            page.evaluate(UNFOLD)
        found = Axe().run(page).response["violations"]
        told = [f"{one['id']}: {[n['html'][:120] for n in one['nodes'][:3]]}" for one in found]
        assert "\n".join(told) == ""


def test_every_link_leads_somewhere_and_opens_what_is_folded(opened):
    page = opened(1000)
    links = page.eval_on_selector_all("a[href^='#']", "all => all.map(a => a.hash.slice(1))")
    assert links
    gone = "names => names.filter(name => !document.getElementById(name))"
    assert page.evaluate(gone, links) == []
    table = page.locator("#test-2 table.scores")
    assert not table.is_visible()
    page.click(".matrix a[href='#test-2']")
    table.wait_for(state="visible")


@pytest.mark.parametrize(("width", "words"), [(120, 0), (290, 1), (600, 3)])
def test_a_word_in_a_bar_is_whole_or_not_seen(browser, width, words):
    style = (pages.HERE / "style.css").read_text("utf-8")
    counts = {"better": 6, "equivalent": 2, "undecided": 2}
    parts = "".join(
        f'<span class="{name}" style="flex:{n}"><b>{n}</b> <i>{name}</i></span>'
        for name, n in counts.items()
    )
    page = browser.new_page()
    bar = f'<div class="bar-of" style="width:{width}px">{parts}</div>'
    page.set_content(f"<style>{style}</style>{bar}")
    cut = "all => all.filter(one => one.scrollWidth > one.clientWidth).length"
    seen = "all => all.filter(one => one.clientWidth > 1 || one.offsetWidth > 1).length"
    assert page.eval_on_selector_all(".bar-of span", cut) == 0
    assert page.eval_on_selector_all(".bar-of i", seen) == words
    page.close()


def test_the_card_can_be_saved(opened):
    page = opened(1000)
    page.evaluate(UNFOLD)
    with page.expect_download() as saved:
        page.get_by_text("card.md", exact=True).first.click()
    assert saved.value.suggested_filename == "card.md"
    assert "| test | mind | score |" in saved.value.path().read_text("utf-8")


LARGER = "html { font-size: 20px !important; }"
SERIF = "* { font-family: 'DejaVu Serif', 'Liberation Serif', Georgia, serif !important; }"
STYLED = """css => {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(css);
  document.adoptedStyleSheets.push(sheet);
}"""


@pytest.mark.parametrize("name", ["report", "factors"])
@pytest.mark.parametrize("css", [LARGER, SERIF, LARGER + SERIF])
@pytest.mark.parametrize("width", [390, 1280])
def test_nothing_reaches_over_the_edge_in_another_font(opened, width, css, name, request):
    page = opened(width, request.getfixturevalue(name))
    page.evaluate(UNFOLD)
    page.evaluate(STYLED, css)
    assert page.evaluate(OUTSIDE) == []
    assert page.evaluate(SPILT) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width


PAPERS = {"A4": 673, "Letter": 695}  # widths in pixels, less the margins of 16 mm
WHOLE = ".cause, .card, figure, .subject, .profile tbody, tr, #answer p, .scores"


@pytest.mark.parametrize("name", ["report", "factors"])
@pytest.mark.parametrize("paper", PAPERS)
@pytest.mark.parametrize("css", ["", SERIF])
def test_paper_is_as_wide_as_the_page(opened, paper, css, name, request):
    """A browser shrinks all pages, text included, if anything is wider than the paper."""
    page = opened(PAPERS[paper], request.getfixturevalue(name))
    page.emulate_media(media="print")
    page.evaluate(STYLED, css)
    assert page.evaluate("document.documentElement.scrollWidth") <= PAPERS[paper]
    scales = _scales(page.pdf(format=paper))
    assert len(scales) > 1
    assert set(scales) == {0.75}  # points to a pixel: nothing is shrunk


def _scales(pdf):
    """How large the pixels of each page of a PDF file are, in points."""
    found = []
    for one in re.findall(rb"stream\r?\n(.*?)endstream", pdf, re.S):
        with contextlib.suppress(zlib.error):
            marks = re.findall(rb"(?m)^([.\d]+) 0 0 -?[.\d]+ .* cm", zlib.decompress(one)[:400])
            if len(marks) > 1:  # of the page, and of what stands on it
                found.append(round(float(marks[0]) * float(marks[1]), 3))
    return found


def test_nothing_is_cut_between_pages(opened):
    page = opened(PAPERS["A4"])
    page.emulate_media(media="print")
    cut = "(all) => all.filter(e => getComputedStyle(e).breakInside !== 'avoid').length"
    assert page.eval_on_selector_all(WHOLE, cut) == 0
    tall = "(all) => all.map(e => e.getBoundingClientRect().height)"
    page_height = 297 / 25.4 * 96 - 2 * 16 / 25.4 * 96
    assert max(page.eval_on_selector_all(".cause, .card", tall)) < page_height
    after = "(all) => all.filter(e => getComputedStyle(e).breakAfter !== 'avoid').length"
    assert page.eval_on_selector_all("h1, h2, h3, h4, summary, .whose", after) == 0


def test_paper_is_white_and_says_what_it_leaves_out(opened):
    page = opened(PAPERS["A4"], color_scheme="dark")
    page.emulate_media(media="print")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert page.get_by_text("On paper the tables behind plots").is_visible()
    assert not page.get_by_text("Point at a dot").first.is_visible()
    page.emulate_media(media="screen")
    assert not page.get_by_text("On paper the tables behind plots").is_visible()


def test_what_is_folded_is_there_in_print(opened):
    page = opened(1000)
    assert not page.locator("#test-1 table.scores").is_visible()
    page.emulate_media(media="print")
    assert page.locator("#test-1 table.scores").is_visible()
    assert not page.locator("table.points").first.is_visible()


def test_a_dot_says_whose_it_is_when_it_is_pointed_at_or_tapped(opened):
    page = opened(390)
    dot = page.locator(".profile .strip g").first
    words = dot.locator("text")
    assert not words.is_visible()
    dot.evaluate("one => one.focus()")  # as a tap does
    assert words.is_visible()
    assert dot.locator("title").text_content() == words.text_content()
