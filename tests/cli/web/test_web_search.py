"""The server and the page where a game has no database: they search, and tell what is proved; others need not wait."""

import re
import threading
import time

import pytest

from tests.helpers.command_line import retrograde
from tests.helpers.serving import Server, client_of, get, needs_browser

pytestmark = pytest.mark.long


@pytest.fixture
def home(tmp_path, monkeypatch):
    """An empty folder for databases."""
    monkeypatch.setenv("RETROGRADE_HOME", str(tmp_path))
    return tmp_path


def test_what_is_known_is_told_at_once_and_more_when_it_is_asked_for(home):
    with client_of((), None, True, 60.0) as client:
        at_once = get(client, "/api/position", variant="connect4:3,3,3")
        assert (at_once["value"], at_once["known"], at_once["how"], at_once["open"]) == (None, "not known", "", True)
        assert [move["known"] for move in at_once["moves"]] == ["not known"] * 3
        found = get(client, "/api/position", variant="connect4:3,3,3", search=True, line=True)
        assert found["value"] == "tie"
        assert found["how"].startswith("proved by search: ")
        assert len(found["line"]) == found["remoteness"]
        assert {move["value"] for move in found["moves"]} <= {"win", "tie", "lose"}
        assert next(move["best"] for move in found["moves"])
        again = get(client, "/api/position", variant="connect4:3,3,3")
        assert (again["value"], again["remoteness"]) == (found["value"], found["remoteness"])


def test_a_certificate_is_asked_before_a_search_and_told_as_what_it_is(home):
    retrograde("prove", "connect4:4,3,3", "--leaves", 1, "--workers", 1, "--table", "16M")
    with client_of(("connect4:4,3,3",), None, True, 1.0) as client:
        told = get(client, "/api/position", variant="connect4:4,3,3")
        assert (told["value"], told["how"]) == ("win", "proved by the certificate, a weak solution")
        replied = get(client, "/api/reply", variant="connect4:4,3,3", position=told["position"])
        after = get(client, "/api/position", variant="connect4:4,3,3", position=replied["position"])
        assert after["value"] == "lose"


def test_a_game_is_played_and_judged(home):
    with client_of((), None, True, 0.5) as client:
        start = get(client, "/api/position", variant="connect4:3,3,3")["position"]
        reply = get(client, "/api/reply", variant="connect4:3,3,3", position=start)
        assert reply["name"] in "123"
        game = get(client, "/api/game", variant="connect4:3,3,3", moves=reply["name"])
        assert len(game["steps"]) == 2
        marks = get(client, "/api/scorecard", variant="connect4:3,3,3", position=start, moves=reply["name"])
        assert [mark["verdict"] for mark in marks] == ["best"]
        assert get(client, "/api/database", variant="connect4:3,3,3")["file"] == ""


@pytest.mark.thorough
def test_a_board_of_several_words_is_shown_set_up_and_played(home):
    """Nearly full, so that searches prove all."""
    ending = "OXXXXXXX/XXXXOOXX/OXOOOOOX/OXXOXXXX/OXOXXOXX/OOOXXXOX/.XXXXXXX/..XXXXXX,O"
    with client_of((), None, True, 5.0) as client:
        assert [man["sign"] for man in get(client, "/api/board", variant="othello:8,8")["men"]] == ["X", "O"]
        told = get(client, "/api/position", variant="othello:8,8", position=ending, search=True)
        assert (told["position"], told["value"]) == (ending, "lose")
        assert {move["name"] for move in told["moves"]} == {"a8", "b8"}
        assert told["svg"].count('class="hit"') == 64
        pieces = ending[:-2].replace("/", "")
        assert get(client, "/api/setup", variant="othello:8,8", pieces=pieces, turn="O")["position"] == ending
        assert get(client, "/api/reply", variant="othello:8,8", position=ending)["name"] in ("a8", "b8")


@pytest.mark.thorough
def test_what_cannot_be_proved_in_time_is_told_as_not_known(home):
    with client_of(("connect4",), None, False, 0.2) as client:
        told = get(client, "/api/position", variant="connect4", search=True)
        assert (told["value"], told["remoteness"], told["open"]) == (None, None, True)
        assert re.fullmatch(r"not known: neither side can force a win within \d+ plies", told["known"])
        marks = get(client, "/api/scorecard", variant="connect4", position=told["position"], moves="4")
        assert [mark["verdict"] for mark in marks] == ["unknown"]
        cards = get(client, "/api/gallery")["cards"]
        assert [(card["variant"], card["solved"], card["playable"]) for card in cards] == [("connect4", False, True)]
        get(client, "/api/position", 404, variant="tictactoe")


def test_only_games_that_searches_are_for_are_offered_to_be_played_unsolved(home):
    with client_of((), None, False, 0.2) as client:
        cards = get(client, "/api/gallery")["cards"]
        playable = {card["game"]: card["playable"] for card in cards}
        assert all(playable[name] for name in ("tictactoe", "connect4", "dodgem"))
        assert not any(playable[name] for name in ("pig", "eightpuzzle", "kalah", "nim3"))
        for card in cards:
            assert get(client, "/api/about", variant=card["variant"])["playable"] is card["playable"]


def test_where_others_can_reach_the_page_only_variants_that_are_named_are_searched(home):
    from retrograde.cli.web.hosts import hosts_of

    open_to_all = hosts_of("0.0.0.0", "0.0.0.0", ())
    with client_of((), open_to_all, False, 0.2) as client:
        assert "no database for tictactoe" in get(client, "/api/position", 404, variant="tictactoe")["error"]
        assert not any(card["playable"] for card in get(client, "/api/gallery")["cards"])
    with client_of((), open_to_all, True, 0.2) as client:
        get(client, "/api/position", variant="tictactoe")
    with client_of(("tictactoe",), open_to_all, False, 0.2) as client:
        get(client, "/api/position", variant="tictactoe")


@pytest.mark.thorough
def test_others_are_answered_while_one_searches(home):
    """By a process of its own: a client within this one asks one thing after another."""
    import json
    from urllib.request import urlopen

    server = Server(home, "--time", "10")
    try:

        def ask(path):
            with urlopen(f"{server.url}api/{path}") as answer:
                return json.load(answer)

        told = []
        searching = threading.Thread(target=lambda: told.append(ask("position?variant=connect4&search=1")))
        searching.start()
        time.sleep(1)
        assert ask("gallery")["cards"]
        assert searching.is_alive()
        searching.join()
        assert told[0]["value"] is None
    finally:
        server.stop()


@pytest.mark.thorough
@needs_browser
def test_the_page_shows_what_is_found_when_it_comes(home, browser):
    server = Server(home, "--time", "2")
    page = browser.new_page()
    faults = []
    page.on("pageerror", lambda error: faults.append(str(error)))
    try:
        page.goto(server.url)
        page.wait_for_selector(".card")
        assert "can be played all the same" in page.locator("[data-variant='tictactoe']").text_content()
        page.locator("[data-variant='tictactoe'] a").click()
        page.wait_for_selector("#board svg")
        page.wait_for_function("() => /a tie/.test(document.querySelector('#status').textContent)", timeout=60_000)
        assert page.locator("#how").text_content().startswith("Proved by search: ")
        assert page.locator("#database").is_hidden()
        page.wait_for_selector("#moves .tie button")
        page.locator("#moves button").first.click()
        page.wait_for_function("() => document.querySelectorAll('#history .point').length == 3", timeout=60_000)
        assert not faults
        page.goto(f"{server.url}?v=connect4")
        page.wait_for_selector("#moves .unknown button")
        assert "not known" in page.locator("#status").text_content()
        assert "not known" in page.locator("#moves").text_content()
        assert not faults
    finally:
        page.close()
        server.stop()
