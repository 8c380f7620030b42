"""The page in a real browser, which plays a game through: by mouse, by keyboard, on a narrow screen, from a link.

It needs Playwright and a Chromium on the path, and is skipped where there is none.
"""

import re
import shutil

import pytest

from retrograde.databases import database_path
from retrograde.games.catalog import load_game, variant

from .command_line import HEAP, environment, process
from .serving import Server

playwright = pytest.importorskip("playwright.sync_api")
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome", "chrome"))), None)
pytestmark = [pytest.mark.long, pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium on the path")]
VARIANTS = ["tictactoe", "connect4:4,4", "chess:KRK", "lgame"]
SWITCHES = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"]


@pytest.fixture(scope="module")
def url(solved, tmp_path_factory):
    home = tmp_path_factory.mktemp("home")
    for text in VARIANTS:
        (home / database_path(variant(load_game(text)), home).name).write_bytes(solved(text).read_bytes())
    server = Server(home)
    yield server.url
    server.stop()


@pytest.fixture(scope="module")
def browser():
    with playwright.sync_playwright() as tool:
        browser = tool.chromium.launch(executable_path=CHROMIUM, args=SWITCHES)
        yield browser
        browser.close()


@pytest.fixture
def open_page(browser, url):
    """A function that opens a page; whatever it asks of another place, or complains of, fails the test."""
    pages, faults = [], []

    def note(text):
        if "status of 400" not in text:  # a position that is none, which a test asks for
            faults.append(text)

    def open_page(query="", **options):
        page = browser.new_page(**options)
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on("console", lambda said: note(said.text) if said.type == "error" else None)
        page.on("request", lambda asked: faults.append(asked.url) if not asked.url.startswith((url, "data:")) else None)
        page.goto(f"{url}{query}")
        page.wait_for_selector("#board svg")
        pages.append(page)
        return page

    yield open_page
    for page in pages:
        page.close()
    assert not faults


def plies(page):
    return page.locator("#history circle").count() - 1


def wait_for_turn(page):
    """Wait until it is the person's turn, or the game is over."""
    page.wait_for_function(
        "() => document.querySelector('#status').textContent.match(/you |your turn|both play right|has won|^A /) &&"
        "(!document.querySelector('#moves button') || !document.querySelector('#moves button').disabled)"
    )


def test_a_game_is_played_through(open_page):
    page = open_page("?v=tictactoe")
    for _ in range(9):
        wait_for_turn(page)
        if not page.locator("#moves button").count():
            break
        page.locator("#board .can[data-place]").nth(0).click()
        page.wait_for_timeout(600)
    assert re.match(r"The second player has won|A tie", page.locator("#status").text_content())
    assert page.locator("#moves button").count() == 0
    assert page.locator("#history circle").count() >= 6
    page.locator("#new").click()
    page.wait_for_function("() => document.querySelectorAll('#history circle').length == 1")
    assert "p=...%2F...%2F..." in page.url


def test_a_link_holds_variant_and_position(open_page):
    page = open_page("?v=tictactoe&p=XX.%2FOO.%2F...")
    assert page.locator("#status").text_content() == "X to move: you win in 1 ply with right play."
    assert page.locator("#moves button").nth(0).text_content() == "c1 win in 1"
    page.locator("#moves button").nth(0).click()
    page.wait_for_function("() => document.querySelector('#status').textContent.includes('The first player has won')")
    assert "p=XXX%2FOO.%2F..." in page.url
    page.locator("#undo").click()
    page.wait_for_function("() => document.querySelector('#status').textContent.includes('you win in 1')")
    page.locator("#position").fill("X../.../...")
    page.locator("#setup button").nth(0).click()
    page.wait_for_function("() => document.querySelector('#status').textContent.startsWith('O to move')")
    page.locator("#position").fill("nonsense")
    page.locator("#setup button").nth(0).click()
    page.wait_for_function("() => document.querySelector('#error').textContent.includes('no position')")


def test_hints_are_switched_off(open_page):
    page = open_page("?v=connect4%3A4%2C4&p=2122")
    assert page.locator("#board .move").nth(0).is_visible()
    page.locator("#hints").uncheck()
    assert not page.locator("#board .move").nth(0).is_visible()
    assert page.locator("#status").text_content() == "Red to move: your turn."
    assert "lose" not in page.locator("#side").inner_text().replace("lose\nfor who", "")


def test_a_man_is_moved_from_a_square_to_a_square(open_page):
    page = open_page("?v=chess%3AKRK&p=7k%2F8%2F5K2%2F6R1%2F8%2F8%2F8%2F8+w")
    page.locator("[data-place='30']").click()  # g5
    assert "from what is picked" in page.locator("#picking").inner_text()
    page.locator("#clear").click()
    page.locator("[data-place='21']").click()  # f6
    page.locator("[data-place='13']").click()  # f7
    page.wait_for_function("() => document.querySelectorAll('#history circle').length >= 2")


def test_it_is_played_by_keyboard(open_page):
    page = open_page("?v=connect4%3A4%2C4")
    page.locator("#second").select_option("human")
    places = page.locator("#board .can")
    assert places.nth(0).get_attribute("role") == "button"
    assert places.nth(0).get_attribute("aria-label")
    for _ in range(3):
        before = plies(page)
        page.locator("#board .can").nth(1).focus()
        page.keyboard.press("Enter")
        page.wait_for_function(f"() => document.querySelectorAll('#history circle').length == {before + 2}")
    assert page.locator("#status").get_attribute("aria-live") == "polite"
    assert page.locator("#board svg title").nth(0).text_content().startswith("connect4 ")


def test_the_computer_begins_and_sides_are_swapped(open_page):
    page = open_page("?v=tictactoe")
    page.locator("#swap").click()
    page.wait_for_function("() => document.querySelectorAll('#history circle').length == 2")
    wait_for_turn(page)
    assert "O to move" in page.locator("#status").text_content()


def test_it_fits_a_narrow_screen(open_page):
    for query in ("?v=chess%3AKRK", "?v=connect4%3A4%2C4", "?v=lgame"):
        page = open_page(query, viewport={"width": 360, "height": 740})
        page.wait_for_selector("#counts svg")
        assert page.evaluate("document.documentElement.scrollWidth") <= 360
        board = page.locator("#board svg").bounding_box()
        assert 250 < board["width"] <= 360


def test_a_variant_that_does_not_open_hinders_no_other(browser, solved, tmp_path):
    """A database whose rules are not at hand comes first in the list."""
    home, rules = tmp_path / "home", tmp_path / "forgotten.py"  # a name that no other test has
    rules.write_text(HEAP)
    home.mkdir()
    assert process("solve", rules, env=environment(home)).returncode == 0
    rules.unlink()
    (home / "tictactoe.h5").write_bytes(solved("tictactoe").read_bytes())
    server = Server(home)
    try:
        page = browser.new_page()
        page.goto(server.url)
        page.wait_for_selector("#board svg")
        assert page.locator("#variant").input_value() == "tictactoe"
        assert page.locator("#summary").text_content().startswith("Claim cells by turns")
        page.locator("#variant").select_option("forgotten")
        page.wait_for_function("() => document.querySelector('#error').textContent.includes('not at hand')")
        page.close()
    finally:
        server.stop()
