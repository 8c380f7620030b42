"""The page in a real browser: games played through, addresses that hold them, the gallery, trouble, and who cannot see.

It needs Playwright and a Chromium on the path, and is skipped where there is none.
"""

import itertools
import re
import time
from pathlib import Path

import pytest

from tests.helpers.command_line import HEAP, LATE, environment, process
from tests.helpers.marks import thorough_but
from tests.helpers.serving import Server, fill, needs_browser

pytestmark = [pytest.mark.long, needs_browser]
VARIANTS = ["tictactoe", "connect4:4,4", "chess:KRK", "mutorere"]
OVER = "?v=tictactoe&m=a1,b1,a2,b2,a3&second=human"
"""A game that is over."""
ROOK = "7k/8/5K2/6R1/8/8/8/8%20w"


@pytest.fixture(scope="module")
def url(solved, tmp_path_factory):
    home = tmp_path_factory.mktemp("home")
    fill(home, solved, VARIANTS)
    server = Server(home)
    yield server.url
    server.stop()


@pytest.fixture
def open_page(browser, url, request):
    """A function that opens a page; whatever it asks of another place, or complains of, fails the test."""
    pages, faults = [], []

    def note(text):
        if not re.search("status of (400|403|404|503)|ERR_CONNECTION_REFUSED", text):  # what a test asks for
            faults.append(text)

    def open_page(query="", at=None, wait="#board svg", **options):
        page = browser.new_page(**{"reduced_motion": "reduce", **options})
        page.set_default_timeout(1000 * LATE)
        at = at or (request.getfixturevalue("lgame_url") if "lgame" in query else url)
        own = (at, "data:")
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on("console", lambda said: note(said.text) if said.type == "error" else None)
        page.on("request", lambda asked: faults.append(asked.url) if not asked.url.startswith(own) else None)
        page.goto(f"{at}{query}")
        page.wait_for_selector(wait)
        pages.append(page)
        return page

    yield open_page
    for page in pages:
        page.close()
    assert not faults


def wait(page, condition):
    """Wait until a condition holds, in JavaScript, of `status`, what is said, and `plies`, how many there have been."""
    page.wait_for_function(
        "() => { const status = document.querySelector('#status').textContent;"
        "const plies = document.querySelectorAll('#history .point').length - 1;"
        f"return {condition}; }}"
    )


def wait_for_turn(page):
    """Wait until it is the person's turn, or the game is over."""
    wait(page, "/you |your turn|both play right|has won|A (tie|draw)[.:]/.test(status) && !document.querySelector("
         "'#moves [aria-disabled=true]')")  # fmt: skip


def status(page):
    return page.locator("#status").text_content().strip()


def focused(page):
    """Return what has the focus, by its id or its class."""
    return page.evaluate("document.activeElement.id || document.activeElement.getAttribute('class') || "
                         "document.activeElement.tagName")  # fmt: skip


# A game


@pytest.mark.thorough
def test_a_game_is_played_through(open_page):
    page = open_page("?v=tictactoe")
    for _ in range(9):
        wait_for_turn(page)
        if not page.locator("#moves button").count():
            break
        before = page.locator("#history .point").count()
        page.locator("#moves button").nth(0).click()
        wait(page, f"plies >= {before}")
    assert re.search(r"O has won.* You lose|A tie", status(page))
    assert page.locator("#moves button").count() == 0
    page.wait_for_selector("#card li")
    assert "of 5 moves perfect" in page.locator("#card h2").text_content()
    assert page.locator("#card li").count() == 5
    page.locator("#again").click()
    wait(page, "plies === 0")
    assert page.url.endswith("?v=tictactoe")
    assert page.locator("#over").is_hidden() and page.locator("#moves button").count() == 9


def test_a_link_holds_variant_and_position(open_page):
    page = open_page("?v=tictactoe&p=XX.%2FOO.%2F...")
    assert status(page) == "X to move: you win in 1 ply with right play."
    assert page.locator("#moves li").nth(0).text_content() == "+win in 1c1"
    assert page.locator("#moves button").nth(0).get_attribute("aria-label") == "c1, win in 1"
    page.locator("#moves button").nth(0).click()
    wait(page, "status.includes('X has won') && status.includes('You win.')")
    assert "v=tictactoe&p=XX./OO./...&m=c1" in page.url
    assert status(page).startswith("You played c1.")
    page.locator("#undo").click()
    wait(page, "status.includes('you win in 1')")
    page.locator("#position").fill("X../.../...")
    page.locator("#setup button").nth(0).click()
    wait(page, "status.startsWith('O to move')")
    page.locator("#position").fill("nonsense")
    page.locator("#setup button").nth(0).click()
    page.wait_for_function("() => document.querySelector('#error').textContent.includes('o position')")
    assert page.locator("#board svg").is_visible()


@pytest.mark.thorough
def test_best_play_is_stepped_through_on_the_board(open_page):
    page = open_page("?v=connect4:4,4&p=2122")
    url, said, men = page.url, status(page), page.locator("#board .man").count()
    assert page.locator("#line-back[aria-disabled=true]").count() == 1
    for ply in range(1, 13):
        page.locator("#line-on").click()
        wait(page, f"status === 'Best play, ply {ply} of 12. Nothing is played.'")
        assert page.locator("#line").text_content() == "1 2 1 1 3 3 4 4 3 3 4 4"
        assert page.locator("#board .man").count() == men + ply and page.locator("#board .lasts rect").count() == 1
    assert page.locator("#line-on[aria-disabled=true]").count() == 1 and page.locator("#board .ends rect").count()
    assert page.url == url and page.locator("#board .can").count() == 0
    for ply in range(11, 0, -1):
        page.locator("#line-back").click()
        wait(page, f"status.startsWith('Best play, ply {ply} ')")
    page.locator("#line-back").click()
    assert status(page) == said and page.locator("#board .man").count() == men
    page.locator("#line-on").click()
    wait(page, "status.startsWith('Best play, ply 1 ')")
    page.locator("#best").click()  # plays from the game's own position
    wait(page, "plies >= 1 && status.startsWith('You played 1.')")
    assert page.locator("#moves-part").evaluate("part => part.inert") is False


@pytest.mark.thorough
def test_a_move_that_is_pointed_at_shows_its_line(open_page):
    page = open_page("?v=connect4:4,4&p=2122")
    best = page.locator("#moves button").nth(0)
    for point in (best.hover, best.focus, page.locator("[data-place='8']").hover):  # the place where a stone lands
        point()
        page.wait_for_function("() => document.querySelector('#line').textContent === '1 2 1 1 3 3 4 4 3 3 4 4'")
        page.mouse.move(1, 1)
        best.evaluate("button => button.blur()")
        page.wait_for_function("() => document.querySelector('#line').textContent.startsWith('Step through')")
    page.locator("#hints").uncheck()
    assert page.locator("#line").is_hidden()


@pytest.mark.thorough
def test_equal_moves_stand_together(open_page):
    page = open_page("?v=tictactoe&m=a1&second=human&first=human")
    groups = page.locator("#moves li")
    assert groups.locator(".worth").all_text_contents() == ["tie in 8", "lose in 6"]
    assert [group.locator("button").count() for group in groups.all()] == [1, 7]
    assert groups.nth(0).locator("button").text_content() == "b2"


PGN = (
    '[Event "?"] [FEN "7k/8/5K2/6R1/8/8/8/8 w - - 0 1"] 1. Rg6 {slow [%clk 0:01]} (1. Kf7 Kh7 (1... Kh8)) Kh7 $2 '
    "2. Kf7! Kh8 3. Rh6 1-0"
)


@pytest.mark.thorough
def test_a_game_is_pasted_as_pgn(open_page):
    page = open_page("?v=chess:KRK&p=7k/8/5K2/6R1/8/8/8/8%20w")
    assert page.locator("#position-name").text_content() == "Position or PGN"
    page.locator("#position").fill(PGN)
    page.locator("#setup button").nth(0).click()
    wait(page, "plies === 5")
    assert status(page) == "You played Rh6#. White has won: checkmate. You win."
    assert page.url.endswith("&m=Rg6,Kh7,Kf7,Kh8,Rh6%23")
    page.locator("#position").fill("1. Rg6 Kh7 2. Kg1 *")
    page.locator("#setup button").nth(0).click()
    page.wait_for_function("() => document.querySelector('#error').textContent.includes('cannot be made')")


@pytest.mark.thorough
def test_a_database_is_downloaded_with_its_facts(open_page, url, solved):
    page = open_page("?v=tictactoe")
    page.wait_for_selector("#facts a")
    path = solved("tictactoe")
    assert re.search(
        r"5,478 positions in 4\.\d+ kB, by retrograde .*, digest [0-9a-f]{64}\.", page.locator("#facts").text_content()
    )
    with page.expect_download() as download:
        page.locator("#facts a").click()
    assert download.value.suggested_filename == "tictactoe.h5"
    assert Path(download.value.path()).read_bytes() == path.read_bytes()


@pytest.mark.thorough
@pytest.mark.parametrize("wide", thorough_but([390, 1280], 390))
def test_numbers_of_the_chart_are_legible(open_page, wide):
    page = open_page("?v=connect4:4,4", viewport={"width": wide, "height": 844})
    page.wait_for_selector("#counts svg")
    boxes = [text.bounding_box() for text in page.locator("#counts svg > text").all()]
    assert min(box["height"] for box in boxes) > 11
    labels = sorted((box["x"], box["width"]) for box in boxes if box["y"] > max(b["y"] for b in boxes) - 3)
    assert len(labels) > 5
    assert all(x + width < other for (x, width), (other, _) in itertools.pairwise(labels))


@pytest.mark.thorough
def test_hints_are_switched_off(open_page):
    page = open_page("?v=connect4%3A4%2C4&p=2122")
    assert page.locator("#moves .badge").count() and page.locator(".board-legend").is_visible()
    page.locator("#hints").uncheck()
    assert status(page) == "Red to move: your turn."
    assert not re.search("lose|win", page.locator("#side").inner_text())
    assert page.locator("#moves .badge").count() == 0
    assert page.url.endswith("hints=0")


@pytest.mark.thorough
def test_a_man_is_moved_from_a_square_to_a_square(open_page):
    page = open_page("?v=chess%3AKRK&p=7k%2F8%2F5K2%2F6R1%2F8%2F8%2F8%2F8+w")
    page.locator("[data-place='30']").click()  # g5
    page.locator("[data-place='38']").click()  # g4
    wait(page, "plies >= 1")


def test_it_is_played_by_keyboard(open_page):
    page = open_page("?v=connect4%3A4%2C4&second=human")
    places = page.locator("#board .can")
    assert places.nth(0).get_attribute("role") == "button"
    assert places.nth(0).get_attribute("aria-label")
    for plies in range(1, 4):
        page.locator("#moves button").nth(1).focus()
        page.keyboard.press("Enter")
        wait(page, f"plies === {plies}")
        assert page.evaluate("document.activeElement.closest('#moves') !== null")
    assert page.locator("#status").get_attribute("aria-live") == "polite"
    assert re.match(r"Red plays \d\. Yellow to move", status(page))


@pytest.mark.thorough
def test_the_computer_begins_and_sides_are_swapped(open_page):
    page = open_page("?v=tictactoe")
    page.locator("#swap").click()
    wait(page, "plies === 1 && status.includes('O to move')")
    assert "first=computer&second=human" in page.url
    assert re.match(r"X plays \w\d\. O to move", status(page))


@pytest.mark.thorough
def test_players_are_called_as_the_game_calls_them(open_page):
    page = open_page("?v=connect4:4,4&m=1,2")
    assert page.locator("#first-name").text_content() == "Red"
    assert (
        "Red wins" in page.locator("#history").inner_text() and "Yellow wins" in page.locator("#history").inner_text()
    )
    assert page.locator("#title").text_content() == "Connect Four 4 × 4"
    assert page.title() == "Connect Four 4 × 4, move 2: Red to move – retrograde"
    assert status(page).startswith("You played 1. Yellow plays 2. Red to move")
    label = page.locator("#history .point").nth(1).get_attribute("aria-label")
    assert re.fullmatch(r"Back to 1\. 1, tie in 15 for Yellow", label)


@pytest.mark.thorough
def test_verbs_agree_with_names(open_page):
    page = open_page("?v=tictactoe")
    script = "async (name) => { const { agreed } = await import('/static/words.js'); return agreed(name, 'wins'); }"
    assert [page.evaluate(script, name) for name in ("Red", "Hounds", "Hare")] == ["wins", "win", "wins"]
    page.route("**/api/game*", as_hounds)
    page.goto(page.url.partition("?")[0] + "?v=tictactoe&m=a1,b1,a2,b2&first=computer&second=computer&hints=1")
    wait(page, "status.includes('have won')")
    assert status(page).startswith("Hounds play a3. Hounds have won")
    assert page.locator("#history .heads span").all_text_contents() == ["Hounds win", "Hare wins"]
    assert "`" not in page.locator("#summary").text_content()


def as_hounds(route):
    """Answer as the server does, with other names."""
    response = route.fetch()
    told = response.json()
    told["players"] = ["hounds", "hare"]
    told["last"]["summary"] = "`material` and so on"
    route.fulfill(response=response, json=told)


# The address


@pytest.mark.thorough
def test_every_move_is_a_step_of_the_browsers_history(open_page):
    page = open_page("?v=connect4:4,4&skill=0.8")
    page.wait_for_url("**/?v=connect4:width=4,height=4&skill=0.8")
    for plies, column in ((2, 0), (4, 1)):
        wait_for_turn(page)
        page.locator("#moves button").filter(has_text=re.compile(f"^{column + 1}$")).click()
        wait(page, f"plies === {plies}")
    wait_for_turn(page)
    url, said = page.url, status(page)
    names = re.search(r"&m=(.*?)&", url)[1].split(",")
    assert len(names) == 4 and names[0] == "1" and names[2] == "2"
    page.go_back()
    wait(page, "plies === 3")
    assert "Yellow to move" in status(page)  # the computer waits there: else nobody could go back further
    page.wait_for_timeout(900)
    assert page.locator("#history .point").count() == 4 and page.locator("#go").text_content() == "Go on"
    page.go_back()
    wait(page, "plies === 2")
    page.locator("#hints").uncheck()
    page.go_forward()
    wait(page, "plies === 3")
    page.go_forward()
    wait(page, "plies === 4")
    assert page.url == f"{url}&hints=0" and not page.locator("#hints").is_checked()  # as it is now
    page.locator("#hints").check()
    assert status(page) == said
    page.reload()
    wait(page, "plies === 4")
    assert (page.url, status(page), page.locator("#skill").input_value()) == (url, said, "0.8")
    other = open_page(url.partition("/?")[2].join(["?", ""]))
    wait(other, "plies === 4")
    assert status(other) == said and other.locator("#skill-shown").text_content() == "80 % perfect"


@pytest.mark.thorough
def test_a_link_to_a_move_that_is_none_shows_the_game_before_it(open_page):
    page = open_page("?v=tictactoe&m=a1,zz,b2")
    page.wait_for_function("() => document.querySelector('#error').textContent.startsWith(\"Move 2, 'zz'\")")
    wait(page, "plies === 2")  # the computer answers a1
    assert "The game stands before it." in page.locator("#error").text_content()


@pytest.mark.parametrize("name", thorough_but(["a,b", "50%", "%2C", "e8=Q+", "x y&z"], "%2C"))
def test_an_address_holds_whatever_moves_are_called(open_page, name):
    page = open_page("?v=tictactoe")
    script = """async (name) => {
        const { readAddress, writeAddress } = await import('/static/address.js');
        const game = { variant: 'x:a=1,b', start: null, position: 'p', moves: [name, 'c'] };
        const text = writeAddress({ ...game, players: ['computer', 'human'], skill: 0.5, hints: false });
        return readAddress(new URL(text, location).search);
    }"""
    assert page.evaluate(script, name) == {
        "variant": "x:a=1,b", "start": None, "moves": [name, "c"], "players": ["computer", "human"], "skill": 0.5,
        "hints": False,
    }  # fmt: skip


@pytest.mark.thorough
def test_nonsense_in_an_address_is_as_usual(open_page):
    page = open_page("?v=tictactoe&skill=9&first=nobody&hints=maybe&x=1&m=%25zz")
    page.wait_for_function("() => document.querySelector('#error').textContent.includes('Move 1')")
    assert page.url.endswith("?v=tictactoe")


# Taking back


@pytest.mark.thorough
def test_undo_takes_back_ones_own_last_move(open_page):
    page = open_page("?v=tictactoe&m=a1,b2,c3,b1")
    page.locator("#undo").click()
    wait(page, "plies === 2 && status.includes('X to move')")
    page.locator("#undo").click()
    wait(page, "plies === 0")
    assert page.locator("#undo").get_attribute("aria-disabled") == "true"
    page.go_back()  # and an undo is taken back
    wait(page, "plies === 2")


@pytest.mark.thorough
def test_redo_makes_the_moves_again_that_undo_took_back(open_page):
    page = open_page("?v=tictactoe&m=a1,b2,c3,b1&second=human")
    assert page.locator("#redo").get_attribute("aria-disabled") == "true"
    for plies in (3, 2):
        page.locator("#undo").click()
        wait(page, f"plies === {plies}")
    page.locator("#redo").click()
    wait(page, "plies === 3")
    assert "m=a1,b2,c3&" in page.url
    page.locator("#undo").click()
    wait(page, "plies === 2")
    page.locator("#best").click()  # another move: there is nothing left to make again
    wait(page, "plies === 3")
    assert page.locator("#redo").get_attribute("aria-disabled") == "true"


@pytest.mark.thorough
def test_best_moves_are_made_one_after_another(open_page):
    page = open_page("?v=tictactoe&p=X../.O./..X&second=human")
    for plies in range(1, 7):
        page.locator("#best").click()
        wait(page, f"plies === {plies}")
    assert status(page).endswith("A tie.") and page.locator("#best").is_hidden()


@pytest.mark.thorough
def test_undo_after_a_game_between_machines_makes_nobody_a_person(open_page):
    page = open_page("?v=tictactoe&first=computer")
    wait(page, "status.includes('A tie')")
    page.wait_for_function("() => document.querySelectorAll('#card li').length === 9")  # of nobody in particular
    page.locator("#undo").click()
    wait(page, "plies === 8")
    assert [page.locator(side).input_value() for side in ("#first", "#second")] == ["computer", "computer"]
    page.wait_for_timeout(800)
    assert page.locator("#history .point").count() == 9  # they wait
    page.locator("#go").click()
    wait(page, "plies === 9 && status.includes('A tie')")
    page.go_back()
    wait(page, "plies === 8")


@pytest.mark.thorough
def test_a_point_of_the_history_takes_one_back(open_page):
    page = open_page(OVER)
    page.locator("#history .point").nth(2).click()
    wait(page, "plies === 2")
    assert page.url.endswith("&m=a1,b1&second=human")
    page.locator("#history .point").nth(1).focus()
    page.keyboard.press("Enter")
    wait(page, "plies === 1 && status.includes('O to move')")
    assert focused(page) == "point"


@pytest.mark.thorough
def test_a_game_that_goes_round_ends(open_page):
    """Both move to and fro: the third time a position comes up, it is a draw, as in the terminal."""
    page = open_page("?v=mutorere&second=human")
    for plies in range(1, 60):
        page.locator("#moves .draw button").nth(0).click()
        wait(page, f"plies === {plies}")
        if "three times" in status(page):
            break
    assert "A draw: this position has come up three times." in status(page)
    assert page.locator("#board .spots .move, #board .lines .move").count() == 0
    assert page.locator("#again").is_visible() and page.locator("#board .can").count() == 0


# Copies


def test_what_can_be_copied(open_page, browser, url):
    page = open_page("?v=chess:KRK&p=7k/8/5K2/6R1/8/8/8/8%20w&m=Kf7,Kh7&second=human")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    for name, wanted in (
        ("link", page.url), ("position", "8/5K1k/8/6R1/8/8/8/8 w - - 2 2"), ("moves", "Kf7 Kh7"), ("pgn", "1. Kf7 Kh7")
    ):  # fmt: skip
        page.locator("#copied").evaluate("box => { box.textContent = ''; }")
        page.locator(f"#copy-{name}").click()
        page.wait_for_function("() => document.querySelector('#copied').textContent.includes('copied')")
        text = page.evaluate("navigator.clipboard.readText()")
        assert text.startswith(wanted[:20]) if name == "position" else wanted in text
    assert open_page("?v=tictactoe").locator("#copy-pgn").is_hidden()


@pytest.mark.thorough
def test_where_the_clipboard_is_out_of_reach_the_text_is_shown(open_page):
    page = open_page("?v=tictactoe&m=a1,b2")
    page.evaluate("Object.defineProperty(navigator, 'clipboard', { value: undefined })")
    page.locator("#copy-moves").click()
    page.wait_for_selector("#copy-text")
    assert page.locator("#copy-text").input_value() == "a1 b2" and focused(page) == "copy-text"


# The gallery


def test_the_front_shows_every_game(open_page):
    page = open_page(wait="#solved .card")
    assert page.title() == "All games – retrograde"
    cards = page.locator("#solved .card")
    titles = cards.locator("h3").all_text_contents()
    assert titles == ["Connect Four 4 × 4", "King and rook against king", "Mū Tōrere", "Tic-tac-toe"]
    facts = cards.nth(0).locator(".facts").inner_text()
    assert re.sub(r"\s+", " ", facts) == "=A tie in 16 plies 161,029 positions Longest win: 13 plies"
    assert "Dodgem 3 × 3" in page.locator("#unsolved h3").all_text_contents()
    for picture in page.locator("#solved img").all():
        picture.scroll_into_view_if_needed()
        page.wait_for_function("image => image.complete && image.naturalWidth > 50", arg=picture.element_handle())
    cards.nth(3).locator("a").click()
    page.wait_for_selector("#board svg")
    assert page.url.endswith("?v=tictactoe")
    page.locator("#home").click()
    page.wait_for_selector("#solved .card")


@pytest.mark.thorough
def test_games_are_filtered_by_kind_and_size(open_page):
    page = open_page(wait="#solved .card")

    def shown(part, **chosen):
        for name in ("kind", "size"):
            page.select_option(f"#{name}", chosen.get(name, ""))
        return [one.get_attribute("data-variant").split(":")[0] for one in page.locator(f"#{part} .card:visible").all()]

    assert shown("solved", size="0-10000") == ["mutorere", "tictactoe"]
    assert shown("unsolved", size="0-10000") == [] and page.locator("#unsolved-part").is_hidden()
    assert shown("solved", size="10000-1000000", kind="two") == ["connect4", "chess"]
    assert {"pig", "yahtzee", "game2048"} <= {*shown("unsolved", kind="chance")}
    assert {"hanoi", "eightpuzzle"} <= {*shown("unsolved", kind="one")}
    assert shown("unsolved", kind="several") == ["nim3", "tictactoe3"] and page.locator("#unsolved-part").is_visible()


@pytest.fixture
def own_server(solved, tmp_path):
    """A function that starts a server of a folder with some variants, and returns it."""
    servers = []

    def own_server(variants, *options):
        home = tmp_path / "home"
        home.mkdir()
        fill(home, solved, variants)
        servers.append(Server(home, *options))
        return servers[-1]

    yield own_server
    for server in servers:
        server.stop()


def test_a_game_is_solved_from_the_front(open_page, own_server):
    server = own_server(["mutorere"])
    page = open_page(at=server.url, wait="#unsolved .card")
    card = page.locator("[data-variant=tictactoe]")
    card.get_by_role("button", name="Solve Tic-tac-toe", exact=True).focus()
    page.keyboard.press("Enter")
    page.wait_for_selector("[data-variant=tictactoe] progress")
    assert focused(page) != "BODY"
    page.reload()  # it goes on
    page.wait_for_selector("[data-variant=tictactoe] progress, #solved [data-variant=tictactoe]")
    page.locator("#solved [data-variant=tictactoe] a").click()
    page.wait_for_selector("#board svg")


@pytest.mark.thorough
def test_another_variant_is_refused_or_not_known(open_page, own_server):
    server = own_server(["mutorere"])
    page = open_page(at=server.url, wait="#unsolved .card")
    page.locator("#game").select_option("chess")
    page.locator("#options").fill("KXK")
    page.locator("#another button").click()
    page.wait_for_function("() => document.querySelector('#trouble').textContent.includes('KXK')")
    page.locator("#options").fill("KRPKP")
    page.locator("#another button").click()
    page.wait_for_selector("[data-variant='chess:KRPKP']")
    page.locator(".progress").get_by_text("In a terminal: retrograde solve chess:KRPKP").wait_for()


@pytest.mark.thorough
def test_what_is_solved_already_is_linked_to(open_page):
    page = open_page(wait="#solved .card")
    page.locator("#game").select_option("chess")
    assert page.locator("#options-help").text_content().startswith("For example KRK; ")
    for options in ("KRK", "chess:KRK"):  # a whole variant is as good, whatever game is chosen
        page.locator("#options").fill(options)
        page.locator("#another button").click()
        page.wait_for_function("() => document.querySelector('#already').textContent.startsWith('Already solved')")
        assert page.locator("#already a").get_attribute("href") == "./?v=chess:KRK"
        page.locator("#already").evaluate("box => box.replaceChildren()")
        page.locator("#game").select_option("tictactoe")
        assert page.locator("#options-help").text_content().startswith("Its options are ")
    assert page.locator("#trouble").is_hidden()


@pytest.mark.thorough
def test_the_token_of_a_server_that_was_started_anew_is_fetched(open_page, own_server):
    server = own_server(["mutorere"])
    page = open_page(at=server.url, wait="#unsolved .card")
    server.stop()
    again = Server(server.home, "--port", server.url.rpartition(":")[2].strip("/"))
    try:
        page.get_by_role("button", name="Solve Tic-tac-toe", exact=True).click()
        page.wait_for_selector("[data-variant=tictactoe] progress, #solved [data-variant=tictactoe]")
        assert page.locator("#trouble").is_hidden()
    finally:
        again.stop()


@pytest.mark.thorough
def test_a_server_that_is_open_to_others_offers_no_solving(open_page, own_server):
    server = own_server(["mutorere"], "--allow-host", "games.example")
    page = open_page(at=server.url, wait="#unsolved .card")
    assert page.get_by_role("button", name="Solve").count() == 0 and page.locator("#another").is_hidden()
    assert "retrograde solve tictactoe" in page.locator("[data-variant=tictactoe]").inner_text()


# Trouble, and ways on


@pytest.mark.thorough
def test_where_others_can_reach_the_page_a_game_that_is_not_solved_is_told_as_such(open_page, own_server):
    server = own_server(["mutorere"], "--allow-host", "games.example")
    page = open_page("?v=tictactoe:3", at=server.url, wait="#trouble button")
    assert "Tic-tac-toe is not solved yet. Solve it in a terminal:" in page.locator("#trouble").inner_text()
    assert page.title() == "Tic-tac-toe cannot be shown – retrograde"
    assert "retrograde solve tictactoe" in page.locator("#trouble code").text_content()
    assert page.locator("#board").is_hidden() and focused(page) != "BODY"
    assert page.get_by_role("button", name="Solve Tic-tac-toe", exact=True).count() == 0


def test_a_link_to_nothing_says_so(open_page):
    page = open_page("?v=nogame", wait="#trouble button")
    assert "No game 'nogame'" in page.locator("#trouble").inner_text()
    assert page.get_by_role("link", name="All games").count() == 2
    page = open_page("?v=tictactoe&p=nonsense", wait="#trouble button")
    assert "o position 'nonsense'" in page.locator("#trouble").inner_text()
    page.get_by_role("button", name="From the start").click()
    page.wait_for_selector("#board svg")
    assert page.url.endswith("?v=tictactoe")


@pytest.mark.thorough
def test_a_server_that_is_gone_is_told_and_asked_again(open_page, own_server, solved):
    server = own_server(["tictactoe"])
    page = open_page("?v=tictactoe&second=human", at=server.url)
    port = server.url.rpartition(":")[2].strip("/")
    server.stop()
    page.locator("#moves button").nth(0).click()
    page.wait_for_function("() => document.querySelector('#error').textContent.includes('does not answer')")
    assert page.locator("#board svg").is_visible()
    again = Server(server.home, "--port", port)
    try:
        page.locator("#error button").click()
        wait(page, "plies === 1")
        assert page.locator("#error").text_content() == ""
    finally:
        again.stop()


@pytest.mark.thorough
def test_a_game_stays_when_no_other_can_begin(open_page, own_server):
    """The server is gone when a new game is asked for: the game stays, and is a step back later."""
    server = own_server(["tictactoe"])
    page = open_page("?v=tictactoe&second=human", at=server.url)
    page.locator("#moves button").nth(0).click()
    wait(page, "plies === 1")
    old = page.url
    server.stop()
    page.locator("#new").click()
    page.wait_for_function("() => document.querySelector('#error').textContent.includes('does not answer')")
    wait(page, "plies === 1")
    assert page.locator("#board svg").is_visible() and page.locator("#trouble").is_hidden() and page.url == old
    again = Server(server.home, "--port", server.url.rpartition(":")[2].strip("/"))
    try:
        page.locator("#error button").click()
        wait(page, "plies === 0")
        page.go_back()
        wait(page, "plies === 1")
        assert page.url == old
    finally:
        again.stop()


@pytest.mark.thorough
def test_rules_that_are_not_at_hand_are_told(open_page, solved, tmp_path):
    """A database whose rules are not at hand hinders no other."""
    home, rules = tmp_path / "home", tmp_path / "forgotten.py"  # a name that no other test has
    rules.write_text(HEAP)
    home.mkdir()
    assert process("solve", rules, env=environment(home)).returncode == 0
    rules.unlink()
    fill(home, solved, ["tictactoe"])
    server = Server(home)
    try:
        page = open_page(at=server.url, wait="#solved .card")
        assert page.locator("#solved .card").count() == 2
        page.locator("[data-variant=forgotten] a").click()
        page.wait_for_selector("#trouble button")
        assert "rules of forgotten are not at hand" in page.locator("#trouble").inner_text()
        assert page.locator("#trouble code").text_content() == "retrograde serve ./mygame.py"
        page.get_by_role("link", name="All games").nth(1).click()
        page.wait_for_selector("#solved .card")
    finally:
        server.stop()


@pytest.mark.thorough
def test_slow_answers_are_told(open_page):
    page = open_page("?v=tictactoe&second=human")
    page.route("**/api/position*", lambda route: (time.sleep(0.9), route.continue_()))
    page.locator("#moves button").nth(0).click(no_wait_after=True)
    page.wait_for_function("() => document.querySelector('#busy').textContent.includes('thinking')")
    wait(page, "plies === 1")
    assert page.locator("#busy").text_content() == ""


@pytest.mark.thorough
def test_nothing_can_be_clicked_before_the_game_is_there(open_page):
    page, held = open_page("?v=tictactoe"), []
    page.route("**/api/game*", lambda route: held.append(route))
    with page.expect_request("**/api/game*"):
        page.reload()
    assert page.locator("#home").is_visible()
    assert not any(button.is_visible() for button in page.locator("button").all())
    held[0].continue_()
    page.wait_for_selector("#board svg")
    assert page.locator("#best").is_visible() and page.locator("#skill-shown").text_content() == "perfect"


# Whoever looks


@pytest.mark.thorough
@pytest.mark.parametrize(
    "query", thorough_but(["?v=connect4:4,4&m=1,2", f"?v=chess:KRK&p={ROOK}", "?v=lgame", OVER], OVER)
)
def test_all_that_is_needed_stands_on_one_screen(open_page, query):
    page = open_page(query, viewport={"width": 800, "height": 600})
    page.wait_for_selector("#counts svg")
    first = "#card" if page.locator("#over").is_visible() else "#moves"
    for part in ("#status", "#board svg", "#new", "#undo", "#hints", "#history", first):
        box = page.locator(part).bounding_box()
        assert box["y"] >= 0 and box["y"] + box["height"] <= 600, part
        assert box["height"] > 10 and box["x"] + box["width"] <= 800
    assert page.locator("#board svg").bounding_box()["height"] > 250
    assert page.evaluate("document.documentElement.scrollWidth") <= 800


@pytest.mark.thorough
def test_first_things_come_first_on_a_phone(open_page):
    for query in ("?v=chess%3AKRK", "?v=connect4%3A4%2C4", "?v=lgame", ""):
        page = open_page(query, wait="#counts svg" if query else ".card", viewport={"width": 360, "height": 740})
        assert page.evaluate("document.documentElement.scrollWidth") <= 360
        if not query:
            continue
        places = [
            page.locator(part).bounding_box() for part in ("#status", "#board svg", "#undo", "#moves", "#history")
        ]
        assert [box["y"] for box in places] == sorted(box["y"] for box in places)
        assert 250 < places[1]["width"] <= 360 and places[1]["y"] + places[1]["height"] < 620
        assert places[2]["y"] + places[2]["height"] < 740


AXE = Path(pytest.importorskip("axe_playwright_python").__file__).with_name("axe.min.js")


@pytest.mark.thorough
def test_heads_of_a_long_history_stay_in_view(open_page):
    moves = "1,2,1,2,2,1,2,1,3,4,3,4"
    page = open_page(f"?v=connect4:4,4&second=human&m={moves}", viewport={"width": 800, "height": 450})
    wait(page, "plies === 12")
    page.locator("#history").evaluate("box => { box.scrollTop = box.scrollHeight; }")
    assert page.locator("#history").evaluate("box => box.scrollTop > 20")
    box, head = page.locator("#history").bounding_box(), page.locator("#history .heads").bounding_box()
    assert head["y"] == pytest.approx(box["y"], abs=1) and head["height"] > 10
    side, moves = page.locator("#side").bounding_box(), page.locator("#moves-part").bounding_box()
    assert moves["height"] <= side["height"] / 2 and box["height"] > side["height"] / 3


LOOKS = [
    (query, scheme)
    for query in ("", "?v=connect4:4,4&m=1,2,1", "?v=chess:KRK", OVER, "?v=lgame&hints=0", "?v=dodgem")
    for scheme in ("light", "dark")
]
QUICK_LOOKS = [LOOKS[3]]


@pytest.mark.parametrize(
    ("query", "scheme"),
    [pytest.param(*look, marks=pytest.mark.thorough if look in QUICK_LOOKS else pytest.mark.slow) for look in LOOKS],
)
def test_axe_finds_nothing(open_page, scheme, query):
    ready = {"": ".card", "?v=dodgem": "#trouble button"}.get(query, "#counts svg")
    page = open_page(query, wait=ready, color_scheme=scheme, bypass_csp=True)
    page.wait_for_timeout(500)  # the computer has moved, what moves is at rest
    page.evaluate(AXE.read_text(encoding="utf-8"))
    found = page.evaluate("axe.run()")
    assert [(one["id"], one["nodes"][0]["html"]) for one in found["violations"]] == []
    assert len(found["passes"]) > 15


@pytest.mark.thorough
def test_the_focus_is_never_lost(open_page):
    page = open_page("?v=tictactoe&m=a1,b1,a2,b2&second=human")
    page.locator("#moves button").nth(0).focus()
    page.keyboard.press("Enter")  # a3, which wins
    wait(page, "status.includes('X has won')")
    assert focused(page) == "again"
    page.keyboard.press("Enter")
    wait(page, "plies === 0")
    assert page.evaluate("document.activeElement.closest('#board') !== null")
    page = open_page("?v=tictactoe&first=computer")
    page.locator("#go").focus()
    wait(page, "status.includes('A tie')")
    assert focused(page) != "BODY"


@pytest.mark.thorough
def test_values_are_told_without_colours(open_page):
    page = open_page("?v=connect4:4,4&m=1,2,3,3&second=human")
    for group in page.locator("#moves li").all():
        sign = {"win": "+", "lose": "−", "tie": "=", "draw": "="}[group.get_attribute("class")]
        assert group.locator(".badge").text_content() == sign
    assert all(text[0] in "+−=" for text in page.locator("#history .point text:first-of-type").all_text_contents())
    assert page.locator(".board-legend text").all_text_contents() == ["+", "=", "−"]
