"""Solves that the page asks for: who may, what is refused, how they go on, and that all else is answered meanwhile."""

import sys
import time

import pytest

from tests.helpers.marks import thorough_but

pytest.importorskip("fastapi")

from retrograde.cli.web import solves
from retrograde.cli.web.hosts import hosts_of
from retrograde.databases import database_path
from tests.helpers.command_line import HEAP, LATE, environment, process
from tests.helpers.serving import client_of, get, served

pytestmark = pytest.mark.long

OPEN = hosts_of("0.0.0.0", "0.0.0.0")


def ask_to(client, what, variant, status=200, **headers):
    """Ask to solve a variant, or to cancel it, as the page does."""
    token = get(client, "/api/gallery")["token"]
    headers = {"x-retrograde": token, **{name.replace("_", "-"): text for name, text in headers.items()}}
    response = client.post(f"/api/{what}", params={"variant": variant}, headers=headers)
    assert response.status_code == status, response.text
    return response.json()


def wait_for(client, variant, states=solves.OVER, seconds=LATE):
    """Wait until a solve has come to one of some states, and return what is told of it."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        told = {one["variant"]: one for one in get(client, "/api/solves")}[variant]
        if told["state"] in states:
            return told
        time.sleep(0.05)
    raise AssertionError(told)


@pytest.fixture
def stand_in(monkeypatch, tmp_path):
    """A function that lets a script stand for `retrograde solve`; it is given the same arguments."""

    def stand_in(source):
        script = tmp_path / "script.py"
        script.write_text(source)
        monkeypatch.setattr(solves, "COMMAND", [sys.executable, str(script)])

    return stand_in


SLOW = """
import sys, time
if "--estimate" in sys.argv:
    print('{"seconds": [0.1, 1], "memory": 1000, "positions": 10, "tiers": "%s"}' % ("x" * 300_000))  # more than a pipe
else:
    print('{"phase": "explore", "share": 0.25, "seconds_left": 3}', file=sys.stderr, flush=True)
    time.sleep(60)
"""


def test_an_empty_gallery_begins_with_tic_tac_toe(tmp_path, monkeypatch):
    monkeypatch.setenv("RETROGRADE_HOME", str(tmp_path))
    cards = get(client_of(()), "/api/gallery")["cards"]
    assert cards[0]["game"] == "tictactoe" and not any(card["solved"] for card in cards)
    titles = [card["title"].casefold() for card in cards[1:]]
    assert titles == sorted(titles)


@pytest.mark.thorough
def test_a_small_game_is_solved(home):
    client = client_of()
    assert "hareandhounds" not in served(client)
    cards = {card["variant"]: card for card in get(client, "/api/gallery")["cards"]}
    assert not cards["hareandhounds"]["solved"] and cards["tictactoe"]["solved"]
    assert ask_to(client, "solve", "hareandhounds")["state"] == "estimating"
    answered = 0
    while wait_for(client, "hareandhounds", ("estimating", "solving", *solves.OVER))["state"] not in solves.OVER:
        get(client, "/api/position", variant="tictactoe")
        answered += 1
        time.sleep(0.02)
    assert wait_for(client, "hareandhounds")["state"] == "done"
    assert answered > 0  # the solve is a process of its own, and a modest one
    assert database_path("hareandhounds", home).is_file()
    card = {card["variant"]: card for card in get(client, "/api/gallery")["cards"]}["hareandhounds"]
    assert card["solved"] and card["start"]["value"] in ("win", "lose") and card["positions"] > 1000
    assert get(client, "/api/position", variant="hareandhounds")["moves"]


@pytest.mark.thorough
def test_what_is_large_is_refused_and_leaves_nothing(home):
    client = client_of()
    before = sorted(home.iterdir())
    ask_to(client, "solve", "chess:KRPKP")
    told = wait_for(client, "chess:KRPKP")
    assert told["state"] == "refused" and "it would take about" in told["words"]
    assert sorted(home.iterdir()) == before


def test_an_estimate_that_takes_long_is_refused_too(home, stand_in, monkeypatch):
    stand_in("import time\ntime.sleep(60)")
    monkeypatch.setattr(solves, "LONGEST_ESTIMATE", 0.3)
    client = client_of()
    ask_to(client, "solve", "dodgem")
    told = wait_for(client, "dodgem")
    assert told["state"] == "refused" and "takes too long" in told["words"]


def test_progress_is_told_and_a_solve_is_cancelled(home, stand_in):
    stand_in(SLOW)
    client = client_of()
    ask_to(client, "solve", "dodgem")
    end = time.monotonic() + LATE
    while (told := wait_for(client, "dodgem", ("estimating", "solving")))["share"] is None:
        assert time.monotonic() < end
    assert (told["state"], told["phase"], told["share"], told["seconds_left"]) == ("solving", "explore", 0.25, 3)
    assert ask_to(client, "solve", "dodgem")["state"] == "solving"  # the same, though asked for again
    assert "dodgem is being solved" in ask_to(client, "solve", "mutorere:", 409)["error"]
    ask_to(client, "cancel", "dodgem")
    assert wait_for(client, "dodgem", seconds=5)["state"] == "stopped"
    ask_to(client, "solve", "dodgem")  # and once more
    wait_for(client, "dodgem", ("solving",))
    client.app.state.solves.close()
    assert wait_for(client, "dodgem", seconds=5)["state"] == "stopped"


def test_a_solve_that_takes_too_long_is_stopped(home, stand_in, monkeypatch):
    stand_in(SLOW)
    monkeypatch.setattr(solves, "LONGEST_SOLVE", 0.3)
    client = client_of()
    ask_to(client, "solve", "dodgem")
    told = wait_for(client, "dodgem", seconds=10)
    assert told["state"] == "stopped" and "it takes more than" in told["words"]


FAILING = """
import sys
sys.exit("retrograde: error: cannot write '/home/alice/x': no \\x1b[2Jspace")
"""


def test_a_failure_is_told_but_no_folders_to_strangers(home, stand_in, caplog):
    stand_in(FAILING)
    client = client_of()
    ask_to(client, "solve", "dodgem")
    told = wait_for(client, "dodgem", seconds=10)
    assert told["state"] == "failed" and told["words"].startswith("cannot write '/home/alice/x'")
    assert "\x1b" not in told["words"] + caplog.text
    client = client_of((), OPEN, True)
    ask_to(client, "solve", "dodgem")
    assert "alice" not in wait_for(client, "dodgem", seconds=10)["words"]
    stand_in("print('no JSON')")
    ask_to(client, "solve", "dodgem")
    assert wait_for(client, "dodgem", seconds=10)["state"] == "failed"


# Who may


@pytest.mark.parametrize("hosts", [OPEN, hosts_of("127.0.0.1", "127.0.0.1", ["games.example"])])
def test_a_server_that_is_open_to_others_solves_nothing_unless_told(home, hosts):
    client = client_of((), hosts)
    gallery = get(client, "/api/gallery")
    assert (gallery["may_solve"], gallery["token"]) == (False, "")
    for token in ("", "x"):
        assert "solves no games" in ask_to(client, "solve", "dodgem", 403, x_retrograde=token)["error"]
    assert not get(client, "/api/about", variant="dodgem")["may_solve"]
    assert get(client_of((), hosts, True), "/api/gallery")["may_solve"]
    assert get(client, "/api/solves") == []


def test_where_variants_are_given_nothing_else_is_solved(home):
    client = client_of(["tictactoe"])
    gallery = get(client, "/api/gallery")
    assert not gallery["may_solve"] and [card["variant"] for card in gallery["cards"]] == ["tictactoe"]
    assert "some variants only" in ask_to(client, "solve", "dodgem", 403)["error"]


@pytest.mark.parametrize(
    "headers",
    [
        {"x_retrograde": ""}, {"x_retrograde": "guess"}, {"x_retrograde": "é".encode()}, {"origin": "http://evil.example"},
        {"origin": "null"}, {"origin": "http://localhost:9"}, {"sec_fetch_site": "cross-site"},
        {"sec_fetch_site": "same-site"}, {"sec_fetch_site": "none"},
    ],
)  # fmt: skip
@pytest.mark.parametrize("what", thorough_but(["solve", "cancel"], "solve"))
def test_no_page_from_elsewhere_can_ask_for_it(home, what, headers):
    client = client_of()
    assert "error" in ask_to(client, what, "dodgem", 403, **headers)
    assert get(client, "/api/solves") == []


def test_a_page_of_our_own_can(home, stand_in):
    stand_in(SLOW)
    client = client_of()
    headers = {"origin": "http://localhost:8000", "sec_fetch_site": "same-origin"}
    ask_to(client, "solve", "dodgem", **headers)
    client.app.state.solves.close()


def test_wishes_are_post_alone(client):
    for path in ("/api/solve", "/api/cancel"):
        for method in ("GET", "HEAD", "PUT", "OPTIONS"):
            response = client.request(method, path, params={"variant": "dodgem"})
            assert (response.status_code, response.headers["allow"]) == (405, "POST")


def test_no_request_names_a_file_or_code(home, tmp_path, stand_in):
    stand_in(SLOW)
    (tmp_path / "evil.py").write_text("raise SystemExit")
    client = client_of()
    for text in (str(tmp_path / "evil.py"), "./evil.py", "evil", "--help", "", "connect4:9999999,9", "x" * 300):
        assert "error" in ask_to(client, "solve", text, 404)
    ask_to(client, "solve", "x" * 500, 422)
    assert get(client, "/api/solves") == []


def test_nothing_is_imported_from_the_folder_that_it_is_started_in():
    assert solves.COMMAND[1] == "-P"


# What the gallery tells


def test_the_gallery_runs_no_rules_of_files(home, tmp_path):
    """A person's own database is told of by its name; its rules would say so if they ran."""
    rules = tmp_path / "forgotten.py"
    rules.write_text(HEAP)
    assert process("solve", rules, env=environment(home)).returncode == 0
    rules.write_text("raise RuntimeError('rules were run')")
    client = client_of()
    card = {card["variant"]: card for card in get(client, "/api/gallery")["cards"]}["forgotten"]
    assert (card["title"], card["solved"], card["positions"]) == ("forgotten", True, 11)
    assert card["start"]["value"] == "win" and card["longest_win"] == 5
    about = get(client, "/api/about", variant="forgotten")
    assert (about["state"], about["may_solve"]) == ("unavailable", False) and "not at hand" in about["words"]
    assert about["command"] == "retrograde serve ./mygame.py"
    assert "not at hand" in get(client, "/api/picture", 503, variant="forgotten")["error"]


def test_pictures_are_svg_of_what_is_solved_or_not(client):
    for variant in ("tictactoe", "chess:KRK", "chess:KQKR", "dodgem", "connect4:5,4", "tentozero"):
        response = client.get("/api/picture", params={"variant": variant})
        assert response.text.startswith("<svg ") and response.headers["content-type"] == "image/svg+xml"
    get(client, "/api/picture", 404, variant="./evil.py")


@pytest.mark.parametrize(
    ("variant", "state", "command", "may_solve"),
    [
        ("tictactoe", "solved", "", False),
        ("connect4:4,4", "unsolved", "retrograde solve connect4:width=4,height=4", True),
        ("nogame", "unknown", "", False),
        ("connect4:x", "unknown", "", False),
    ],
)
def test_what_does_not_open_is_told_with_a_way_on(client, variant, state, command, may_solve):
    about = get(client, "/api/about", variant=variant)
    assert (about["state"], about["command"], about["may_solve"]) == (state, command, may_solve)
    assert bool(about["words"]) == (state != "solved")


def test_the_flag_is_offered():
    assert "--allow-solve" in process("serve", "--help").stdout
