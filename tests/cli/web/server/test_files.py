"""What is served of a folder of files: those that are no databases, that vanish, that lie, and that lead to code."""

import os
import random
import socket
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import pytest

pytest.importorskip("fastapi")

from retrograde.cli.web import library as libraries
from retrograde.cli.web import shelf
from retrograde.databases import NoDatabase, database_path
from tests.helpers.command_line import HEAP, retrograde
from tests.helpers.forge import Forged, mutate
from tests.helpers.serving import FEN, SERVED, client_of, damage, fill, get, served

pytestmark = pytest.mark.long

# Names and files


@pytest.mark.parametrize("count", [60, 89, 300])
def test_a_game_whose_name_is_too_long_for_a_file_has_none(client, count):
    options = "steps=" + "+".join(map(str, range(1, count + 1)))
    for path in (f"/tentozero/{options}/", f"/tentozero/{options}/positions/?p=1", f"/{options}/", f"/{options}/x/"):
        get(client, path, 404)
    told = get(client, "/api/position", variant=f"tentozero:{options}")  # which needs none: it is searched
    assert told["variant"] == f"tentozero:{options}"
    get(client, "/api/database", 404, variant="é" * 200)
    get(client, "/api/database", 404, variant="tictactoe\0")


def test_what_is_too_long_altogether(client):
    assert "address" in get(client, "/" + "x" * 9000, 414)["error"]
    assert "address" in get(client, "/standard", 414, fen="x" * 9000)["error"]
    response = client.get("/", headers={"x": "y" * 20_000})
    assert (response.status_code, "headers" in response.json()["error"]) == (431, True)


def bad_files(home):
    """Put things of many kinds where databases should be; return the variants that they stand for."""
    (home / "dodgem.h5").mkdir()
    (home / "lgame.h5").write_bytes(b"junk")
    (home / "tentozero.h5").write_bytes(b"")
    (home / "connect4.h5").symlink_to(home / "nowhere")
    (home / "chess,KQK.h5").symlink_to(home / "chess,KQK.h5")
    (home / "chess,KPK.h5").write_bytes((home / "chess,KRK.h5").read_bytes()[:3000])
    damage(home / "mutorere.h5", "legend")
    variants = ["dodgem", "lgame", "tentozero", "connect4", "chess:KQK", "chess:KPK", "mutorere"]
    if hasattr(os, "mkfifo"):
        os.mkfifo(home / "hareandhounds.h5")
        with socket.socket(socket.AF_UNIX) as sock:
            where = os.getcwd()
            os.chdir(home)  # the names of such sockets are short
            sock.bind("tictactoe,misere=yes.h5")
            os.chdir(where)
        variants += ["hareandhounds", "tictactoe:misere"]
    return variants


def test_bad_files_hinder_nothing(home, client):
    bad = bad_files(home)
    assert served(client) == ["chess:KRK", "tictactoe"]
    assert [game["id"] for game in get(client, "/")] == ["chess", "tictactoe"]
    assert [one["id"] for one in get(client, "/chess/")["variants"]] == ["KRK"]
    assert get(client, "/standard", fen=FEN)["dtm"] == -32
    assert get(client, "/api/position", variant="tictactoe")["value"] == "tie"
    for text in bad:
        assert "cannot be read now" in get(client, "/api/position", 503, variant=text)["error"], text


@pytest.mark.parametrize("error", [MemoryError(), OSError(24, "Too many open files"), KeyError("x"), RecursionError()])
def test_whatever_reading_a_file_raises_hinders_nothing(home, client, monkeypatch, error):
    read = shelf.read_facts

    def fail(path):
        if path.name == "mutorere.h5":
            raise error
        return read(path)

    with monkeypatch.context() as patch:
        patch.setattr(shelf, "read_facts", fail)
        assert served(client) == ["chess:KRK", "tictactoe"]
    assert served(client) == ["chess:KRK", "mutorere", "tictactoe"]  # such a failure may pass


def test_a_file_that_vanishes_meanwhile(home, client, monkeypatch):
    list_databases = shelf.list_databases
    monkeypatch.setattr(shelf, "list_databases", lambda: [home / "gone.h5", *list_databases()])
    assert len(served(client)) == 3
    facts = libraries.Shelf().find("tictactoe")
    database_path("tictactoe", home).unlink()
    with pytest.raises(libraries.Unavailable, match="is gone"):
        client.app.state.library.open(facts)


def test_lists_need_no_rules(home, client, monkeypatch):
    def forbidden(*_, **__):
        raise AssertionError("a list asks for rules")

    for name in ("load_game", "named_game", "open_database"):
        monkeypatch.setattr(libraries, name, forbidden)
    assert served(client) == ["chess:KRK", "mutorere", "tictactoe"]
    assert len(get(client, "/")) == 3 and get(client, "/chess/")["variants"]


def test_facts_are_read_once_for_each_state_of_a_file(home, client, monkeypatch):
    read, calls = shelf.read_facts, []
    monkeypatch.setattr(shelf, "read_facts", lambda path: calls.append(path.name) or read(path))
    served(client), served(client)
    assert sorted(calls) == ["chess,KRK.h5", "mutorere.h5", "tictactoe.h5"]
    path = database_path("tictactoe", home)
    path.write_bytes(path.read_bytes())
    served(client)
    assert calls[3:] == ["tictactoe.h5"]


def test_neither_a_file_nor_a_request_names_code(home, tmp_path, monkeypatch):
    """Databases whose variants are paths, and requests that are: the module they mean leaves no mark."""
    monkeypatch.chdir(tmp_path)
    mark = tmp_path / "mark"
    for folder in (home, tmp_path):
        (folder / "evil.py").write_text(f"open({str(mark)!r}, 'w').close()\n{HEAP}")
    names = ["evil", f"{tmp_path}/evil", f"{tmp_path}/evil.py", f"{home}/evil.py:size=3", "../evil.py", "evil.py"]
    names += ["./evil.py", "connect4:./evil.py", "tictactoe:evil.py"]
    forged = Forged.read(database_path("tictactoe", home))
    for number, name in enumerate(names):
        forged.attributes |= {"variant": name, "game": name.partition(":")[0]}
        forged.write(home / f"{number}.h5")
    client = client_of()
    assert set(served(client)) == {*SERVED, *names}
    get(client, "/"), get(client, "/standard", fen=FEN)
    for name in [*names, "evil:x.py", "./evil", "connect4:evil.py"]:
        assert client.get("/api/position", params={"variant": name}).status_code in (404, 503)
        assert client.get(f"/{name.replace('/', '%2F')}/regular/").status_code in (404, 503)
    assert not mark.exists()


def answered_or_told(client, path, variant):
    """Ask for what lies may make impossible, but then it is one line (500 where the rules choke on them)."""
    response = client.get(f"/api/{path}", params={"variant": variant})
    if response.status_code != 200:
        assert response.status_code in (400, 404, 500, 503)
        assert list(response.json()) == ["error"]


@pytest.mark.parametrize("seed", [1, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(2, 20))])
def test_forged_files_hinder_nothing(home, client, seed):
    """A home full of what somebody made who knows the format; each is asked for what it says that it is."""
    chance = random.Random(seed)
    forged = 0
    for number in range(40):
        file = Forged.read(database_path(chance.choice(SERVED), home))
        mutate(file, chance)
        with suppress(ValueError, TypeError, OSError, KeyError):  # HDF5 itself does not write that
            file.write(home / f"{number}.h5")
            forged += 1
    assert forged > 20
    for text in (variants := served(client)):
        for path in ("position", "counts"):
            answered_or_told(client, path, text)
    assert set(variants) >= set(SERVED)
    for text in SERVED:
        database_path(text, home).unlink()  # so that the forged ones have their turn
    for text in SERVED:
        for path in ("position", "counts"):
            answered_or_told(client, path, text)
    assert client.get("/standard", params={"fen": FEN}).status_code in (200, 503)


def test_of_two_files_of_a_variant_the_one_with_its_name_is_served(home, client):
    other = home / "another.h5"
    other.write_bytes(database_path("tictactoe", home).read_bytes())
    assert served(client).count("tictactoe") == 1
    assert shelf.Shelf().find("tictactoe").path.name == "tictactoe.h5"
    database_path("tictactoe", home).unlink()
    assert shelf.Shelf().find("tictactoe").path == other
    assert get(client, "/api/position", variant="tictactoe")["value"] == "tie"
    (home / "dodgem.h5").write_bytes(other.read_bytes())  # a name that is not its own
    assert "cannot be read" in get(client, "/api/position", 503, variant="dodgem")["error"]


def test_few_databases_are_open_at_once(home, client, monkeypatch):
    monkeypatch.setattr(libraries, "MOST_OPEN", 2)
    for text in [*SERVED, *SERVED]:
        assert get(client, "/api/database", variant=text)
        assert len(client.app.state.library.opened) <= 2


def test_rules_that_are_not_at_hand(home, tmp_path):
    rules = tmp_path / "mislaid.py"  # a name that no other test has
    rules.write_text(HEAP)
    retrograde("solve", rules)
    assert get(client_of([str(rules)]), "/api/position", variant="mislaid")["summary"].startswith("Take one")
    rules.unlink()
    client = client_of()
    assert "mislaid" in served(client)
    assert "not at hand" in get(client, "/api/position", 503, variant="mislaid")["error"]


def test_a_database_by_another_metric_is_served_by_its_text(home, client):
    """It has other outcomes than the one beside it; where there is none, it is said what makes it."""
    retrograde("solve", "tictactoe", "--metric", "score", "--database", database_path("tictactoe", home, "score"))
    told = get(client, "/api/position", variant="tictactoe@score")
    assert told["variant"] == "tictactoe" and told["value"] == "tie"
    served_by = client.app.state.library.solution
    assert [served_by(text).metric for text in ("tictactoe@score", "tictactoe")] == ["score", "remoteness"]
    given = libraries.Library(["tictactoe@score"])
    assert [given.solution(text).metric for text in ("tictactoe@score", "tictactoe")] == ["score", "score"]
    assert [facts.metric for facts in given.all()] == ["score"]
    given.close()
    with pytest.raises(NoDatabase, match="no database for tictactoe by nimber"):
        libraries.Library(["tictactoe@nimber"])
    missing = get(client, "/api/position", 404, variant="tictactoe@expectation-against-random")["error"]
    assert missing.endswith("retrograde solve tictactoe --against random")
    (home / "mutorere@drawlevel.h5").write_bytes(b"junk")
    unreadable = get(client, "/api/position", 503, variant="mutorere@drawlevel")["error"]
    assert unreadable.endswith("retrograde info mutorere@drawlevel")


def test_drawn_endings_are_shown_though_play_goes_on_nowhere(client, home, solved):
    """Solved and unsolved ones have a picture, and those that are solved open."""
    for text in ("chess:KK", "chess:KNK"):
        assert client.get("/api/picture", params={"variant": text}).text.startswith("<svg")
        assert "KNK" not in text or get(client, "/api/board", variant=text)["men"]
    fill(home, solved, ["chess:KK"])
    for parameters in ({}, {"position": "random"}):
        told = get(client, "/api/position", variant="chess:KK", **parameters)
        assert (told["value"], told["over"], told["moves"]) == ("draw", True, [])
    assert get(client, "/api/game", variant="chess:KK")["last"]["over"]
    assert get(client, "/api/board", variant="chess:KK")["men"]
    assert get(client, "/chess/KK/positions/", p="random")["positionValue"] == "draw"


def test_of_files_that_stay_as_they_are_nothing_is_read_again(client, home, monkeypatch):
    read, looked_up = [], []
    shelf.installed_games.cache_clear()
    monkeypatch.setattr(shelf, "read_facts", lambda path, before=shelf.read_facts: read.append(path) or before(path))
    monkeypatch.setattr(shelf, "game_names", lambda before=shelf.game_names: looked_up.append(1) or before())
    for _ in range(3):
        assert len(served(client)) == len(SERVED)
    assert len(read) == len(SERVED) and len(looked_up) == 1
    os.utime(read[0], (1, 1))
    assert len(served(client)) == len(SERVED)
    assert read[len(SERVED) :] == [read[0]]


def test_a_position_does_not_wait_for_a_slow_list(home, monkeypatch):
    reading, released = threading.Event(), threading.Event()

    def slow(path, before=shelf.read_facts):
        reading.set()
        assert released.wait(20)
        return before(path)

    with client_of() as client, ThreadPoolExecutor(1) as pool:  # within `with` all requests are on one event loop
        assert get(client, "/api/position", variant="tictactoe")["value"] == "tie"
        monkeypatch.setattr(shelf, "read_facts", slow)
        listing = pool.submit(served, client)
        assert reading.wait(20)
        assert get(client, "/api/position", variant="tictactoe")["value"] == "tie"
        assert client.get("/static/page.js").status_code == 200 and not listing.done()
        released.set()
        assert set(listing.result(20)) == set(SERVED)


def test_a_database_of_other_rules_tells_nothing_of_the_game_as_it_is(client, home):
    forged = Forged.read(home / "tictactoe.h5")
    forged.attributes["rules"] = "0" * 32
    forged.write(home / "tictactoe.h5")
    told = {one["variant"]: one["start"] for one in get(client, "/api/variants")}
    assert told["tictactoe"] is None and told["mutorere"] is not None
    assert "other rules" in get(client, "/api/position", 503, variant="tictactoe")["error"]


def test_what_is_unknown_names_no_files_and_no_prose_as_a_command(client):
    about = get(client, "/api/about", variant="nosuch")
    assert (about["state"], about["command"], about["words"]) == ("unknown", "", "no game 'nosuch'")
    assert get(client, "/api/position", 404, variant="nosuch")["error"] == "no game 'nosuch'"


def test_of_a_game_of_chance_it_is_said_why_gamescrafters_api_does_not_list_it(tmp_path, solved, monkeypatch):
    monkeypatch.setenv("RETROGRADE_HOME", str(fill(tmp_path, solved, ["piglet:2"])))
    client = client_of((), None, False)
    assert "lists no games of chance or for several players" in get(client, "/piglet/", 404)["error"]
    assert get(client, "/nosuch/", 404)["error"] == "no variant of 'nosuch' is served here"
