"""The command line: results for people and in JSON, exit statuses, and one clear line for whatever goes wrong."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import click
import pytest

from retrograde.cli.failure import explain
from retrograde.cli.main import COMMANDS
from retrograde.cli.render.words import amount, duration, prospect_text, table, verdict
from retrograde.databases import database_path
from retrograde.games import DRAW, LOSE, TIE, WIN
from retrograde.games.catalog import variants_in
from retrograde.games.identity.trusted import record_path
from tests.helpers.command_line import COMMAND, HEAP, LATE, Child, environment, process, retrograde
from tests.helpers.marks import thorough
from tests.helpers.paths import ROOT

TICTACTOE = {"win": 2836, "lose": 1574, "tie": 1068, "draw": 0}  # published.py has the sources of such numbers
SUMMARY = {"variant", "positions", "stored", "values", "by_remoteness", "start", "bytes", "path"}
OF_A_RUN = {"seconds", "peak_memory_bytes", "resumed", "explored_before"}


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A folder of databases that is empty, and a current folder beside it with a user's game."""
    folder = tmp_path / "home"
    work = tmp_path / "work"
    work.mkdir()
    (work / "heap.py").write_text(HEAP)
    monkeypatch.chdir(work)
    monkeypatch.setenv("RETROGRADE_HOME", str(folder))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "configuration"))
    monkeypatch.delenv("NO_COLOR", raising=False)
    return folder


@pytest.fixture
def tictactoe(home, solved):
    """A home with tic-tac-toe in it."""
    home.mkdir()
    database = home / "tictactoe.h5"
    database.write_bytes(solved("tictactoe").read_bytes())
    return database


def result_of(*args, **options):
    """Return the JSON that a command prints."""
    return json.loads(retrograde(*args, "--json", **options).stdout)


def error_of(*args, status=1, **options):
    """Return the one line that a command fails with."""
    result = retrograde(*args, status=status, **options)
    assert result.stdout == ""
    assert result.stderr.startswith("retrograde: error: ")
    assert result.stderr.count("\n") == 1
    return result.stderr.removeprefix("retrograde: error: ").rstrip()


# Help


def examples(help_text):
    return re.findall(r"^ +((?:echo \w+ \| )?retrograde .*)$", help_text.partition("Example")[2], re.MULTILINE)


@pytest.mark.parametrize("flag", ["-h", "--help"])
@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_with_an_example(command, flag):
    text = retrograde(command, flag).stdout
    assert f"Usage: retrograde {command}" in text
    assert examples(text)
    assert all(f"retrograde {command}" in example for example in examples(text))


COMPILED_AGAIN = {
    *("prove connect4:4,4", "match connect4:4,4 depth:2", "judge connect4:4,4", "verify connect4.h5"),
    *("search mutorere", "search othello:4,4", "search kalah:3,2", "solve connect4:5,5 --cluster"),
}
"""How examples begin for which kernels are compiled, half a minute in all, that others have for another game."""


@pytest.mark.thorough
@pytest.mark.parametrize("left_out", [COMPILED_AGAIN, pytest.param(set(), marks=pytest.mark.slow)], ids=["few", "all"])
@pytest.mark.long
def test_every_example_runs(left_out, home, solved, monkeypatch):
    uvicorn = pytest.importorskip("uvicorn")
    monkeypatch.setattr(uvicorn.Server, "run", lambda *_, **options: None)  # else it serves for ever
    home.mkdir()
    (home / "connect4,width=4,height=4.h5").write_bytes(solved("connect4:width=4,height=4").read_bytes())
    for name, text in (("game.pgn", "1. e4 e5 *\n"), ("moves.txt", "2 2 3\n")):
        (home / name).write_text(text)
    shutil.copytree(ROOT / "tests" / "data" / "syzygy", home / "syzygy")
    for variant in variants_in("chess:all=3"):
        (home / database_path(variant).name).write_bytes(solved(variant).read_bytes())
    monkeypatch.chdir(home)
    for text in ("nim", "mutorere", "draughts:KKvK,4", "morris:3"):
        retrograde("solve", text)  # what `sum`, `publish` and `fit` ask
    order = {"solve": 0, "export": 1, "remove": 3}  # the others read what these make, and remove deletes it
    for command in sorted(COMMANDS, key=lambda name: order.get(name, 2)):
        for example in examples(retrograde(command, "--help").stdout):
            shell, _, line = example.rpartition(" | ")
            if line.removeprefix("retrograde ").startswith(tuple(left_out)) or re.search("://|--pyodide", line):
                continue
            text = "y\n" if command == "remove" else shell.removeprefix("echo ")
            if "--memory" in line:  # what this process has taken for other tests is not the example's
                done = process(*line.split()[1:], input=text)
                assert done.returncode == 0, done.stderr
            else:
                retrograde(*line.split()[1:], input=text)


def test_the_help_of_all_names_every_command_and_how_to_switch_completion_on():
    result = retrograde("--help")
    assert all(f"  {name} " in result.stdout for name in COMMANDS)
    for shell in ("bash", "zsh", "fish"):
        assert f"_RETROGRADE_COMPLETE={shell}_source retrograde" in result.stdout
    assert "Commands:" in retrograde(status=2).stderr


def test_help_imports_nothing_that_takes_long():
    script = "import sys; from retrograde.cli import main\ntry: main(['--help'])\nfinally: print(*sys.modules)"
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    modules = set(result.stdout.split())
    assert "retrograde.cli.main" in modules
    assert not modules & {
        "numpy",
        "h5py",
        "numba",
        "retrograde.games",
        "retrograde.databases",
        "retrograde.cli.commands.solve",
    }


def test_the_version_is_told():
    assert re.fullmatch(r"retrograde \d+\.\d+\.\d+\S*\n", retrograde("--version").stdout)


# games and check


def test_games_lists_all_games():
    listed = result_of("games")
    assert {"connect4", "tictactoe", "mutorere"} <= {game["name"] for game in listed}
    text = retrograde("games").stdout
    assert all(game["name"] in text and f"{game['title']}: {game['summary']}" in text for game in listed)
    assert {game["name"]: game["title"] for game in listed}["connect4"] == "Connect Four"


def test_games_shows_the_default_that_only_the_class_for_larger_variants_has():
    assert result_of("games", "cube")["options"] == [{"name": "only", "type": "text", "default": "all"}]


def test_games_tells_of_one():
    facts = result_of("games", "connect4")
    assert facts["options"][0] == {"name": "width", "type": "whole number", "default": "7"}
    assert facts["start"] == "/".join(["." * 7] * 6)
    assert facts["methods"] == ["images", "tier", "read", "show", "move_name"]
    text = retrograde("games", "connect4").stdout
    assert text.startswith("connect4: Connect Four. Drop stones into columns in turn; the first player with four")
    assert "1 2 3 4 5 6 7" in text
    assert facts["example"] in text


@pytest.mark.parametrize("name", [game["name"] for game in result_of("games")])
def test_the_example_of_every_game_is_a_variant(name):
    game, _, options = result_of("games", name)["example"].partition(":")
    assert game == name
    assert result_of("games", f"{game}:{options}")["name"] == name


def test_games_tells_of_a_file_of_the_users(home):
    facts = result_of("games", "./heap.py:size=12")
    assert (facts["name"], facts["start"], facts["example"]) == ("heap", "12", "./heap.py:size=6")


@pytest.mark.long
def test_check_tells_whether_the_contract_is_kept(home):
    assert "keeps the contract" in retrograde("check", "tictactoe", "--positions", "100").stdout
    Path("heap.py").write_text(HEAP.replace("heap - taken", "heap - taken if heap != 3 else [][1]"))
    text = retrograde("check", "./heap.py", status=1).stdout
    assert "breaks the contract" in text
    report = result_of("check", "./heap.py", status=1)
    assert report["ok"] is False
    assert report["findings"][0]["rule"] == "do_move"
    assert report["findings"][0]["complaint"] in text


# solve, list and info


def test_solve_prints_the_summary_that_info_prints(home):
    solution = result_of("solve", "tictactoe")
    assert set(solution) >= SUMMARY | OF_A_RUN
    assert (solution["variant"], solution["positions"], solution["stored"]) == ("tictactoe", 5478, 765)
    assert solution["values"] == TICTACTOE
    assert {"value": "win", "remoteness": 1, "count": 2358} in solution["by_remoteness"]
    assert sum(row["count"] for row in solution["by_remoteness"]) == 5478
    assert solution["start"] == {"position": ".../.../...", "value": "tie", "remoteness": 9}
    assert solution["path"] == str(home / "tictactoe.h5")
    assert solution["bytes"] == Path(solution["path"]).stat().st_size
    assert solution["seconds"] > 0
    assert solution["peak_memory_bytes"] > 1e6
    info = result_of("info", "tictactoe")
    of_the_game = {name: value for name, value in solution.items() if name not in OF_A_RUN}
    assert info == of_the_game | {"rules": "at hand", "class": "strong"}


def test_info_says_where_the_rules_are_others_now(home):
    retrograde("solve", "./heap.py:size=7")
    shown = retrograde("info", "./heap.py:size=7").stdout
    assert "made with other rules" not in shown and "positions  8" in shown
    heap = Path("heap.py")
    heap.write_text(heap.read_text().replace("min(3, heap)", "min(2, heap)"))
    shown = retrograde("info", "./heap.py:size=7").stdout.splitlines()
    assert shown[0].startswith("heap:size=7: ")
    assert shown[1] == (
        "made with other rules than ./heap.py:size=7 has now; the numbers below are for the old rules; "
        "solve it again with: retrograde solve ./heap.py:size=7 --fresh"
    )
    assert any(line.startswith("  positions  8") for line in shown)  # the facts are still told
    assert result_of("info", "./heap.py:size=7")["rules"] == "changed"
    named = home / "heap,size=7.h5"
    heap.unlink()
    assert result_of("info", named)["rules"] == "not at hand"
    assert "made with other rules" not in retrograde("info", named).stdout


def test_info_says_how_positions_are_counted(tictactoe):
    shown = retrograde("info", "tictactoe").stdout
    assert "positions  5,478" in shown
    assert "these counts include symmetric positions; counted once, there are 765 positions" in shown


def test_solve_tells_people_what_came_out(home):
    text = retrograde("solve", "tictactoe").stdout
    assert text.startswith("tictactoe: a tie in 9 plies\n")
    assert re.search(r"win +2,836 +51\.8 %", text)
    assert re.search(r"positions +5,478", text)
    assert "of memory at most" in text
    assert "tictactoe.h5: 4.76 kB, 6.95" in text


def test_solve_does_not_solve_twice_unless_asked(tictactoe):
    before = tictactoe.stat().st_mtime_ns, tictactoe.read_bytes()
    text = retrograde("solve", "tictactoe").stdout
    assert "solved before" in text
    assert "a tie in 9 plies" in text
    assert (tictactoe.stat().st_mtime_ns, tictactoe.read_bytes()) == before
    assert "solved before" not in retrograde("solve", "tictactoe", "--fresh").stdout
    assert tictactoe.stat().st_mtime_ns > before[0]
    assert tictactoe.read_bytes() == before[1]


def test_solve_puts_the_database_where_it_is_told(home):
    result = result_of("solve", "connect4:2,2", "--database", "four.h5", "--workers", "1", "--memory", "1G")
    assert result["path"] == "four.h5"
    assert result_of("info", "four.h5")["variant"] == "connect4:width=2,height=2"
    assert result_of("info", "connect4:2,2", "--database", "four.h5")["variant"] == "connect4:width=2,height=2"
    assert result_of("query", "connect4:2,2", "--database", "four.h5")["value"] == "tie"
    assert not home.exists()


def test_a_database_of_an_earlier_text_of_the_same_file_is_replaced(home):
    retrograde("solve", "./heap.py")
    Path("heap.py").write_text(HEAP.replace("min(3,", "min(2,"))
    done = retrograde("solve", "./heap.py")
    path = home / "heap.h5"
    assert done.stderr == f"retrograde: {path} was made by earlier rules of ./heap.py, and will be replaced\n"
    assert "the first player wins in 7 plies" in done.stdout  # 10 = 3 · 3 + 1
    assert "solved before" in retrograde("solve", "./heap.py").stdout


def test_a_database_of_another_file_of_that_name_or_elsewhere_is_not_replaced(home):
    Path("other").mkdir()
    Path("other/heap.py").write_text(HEAP.replace("min(3,", "min(2,"))
    retrograde("solve", "./heap.py")
    before = (home / "heap.h5").read_bytes()
    assert "was made by other rules of heap; solve it again with --fresh" in error_of("solve", "./other/heap.py")
    retrograde("solve", "./heap.py", "--database", "here.h5")
    Path("heap.py").write_text(HEAP.replace("min(3,", "min(1,"))
    assert "was made by other rules" in error_of("solve", "./heap.py", "--database", "here.h5")
    assert (home / "heap.h5").read_bytes() == before


def test_a_database_that_took_long_is_not_replaced(home, monkeypatch):
    monkeypatch.setattr("retrograde.solver.replacing.SOON_SOLVED", 10)
    retrograde("solve", "./heap.py")
    before = (home / "heap.h5").read_bytes()
    Path("heap.py").write_text(HEAP.replace("min(3,", "min(2,"))
    assert "was made by other rules of heap; solve it again with --fresh" in error_of("solve", "./heap.py")
    assert (home / "heap.h5").read_bytes() == before


def test_rules_that_have_changed_ask_for_a_fresh_solve(home, monkeypatch):
    monkeypatch.setattr("retrograde.solver.replacing.SOON_SOLVED", 0)
    retrograde("solve", "./heap.py")
    Path("heap.py").write_text(HEAP.replace("min(3,", "min(2,"))
    assert error_of("solve", "./heap.py").endswith("was made by other rules of heap; solve it again with --fresh")
    assert "was made with other rules" in error_of("query", "./heap.py")
    assert result_of("info", "./heap.py")["start"]["position"] == "10"
    assert "not at hand or changed since" in retrograde("info", "./heap.py").stdout
    assert result_of("solve", "./heap.py", "--fresh")["start"]["remoteness"] == 7  # 10 = 3 · 3 + 1


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (f"connect4:{'1' * 5000}", "connect4:width: a number of 5,000 digits is too long"),
        (f"connect4:width=-{'1' * 5000}", "connect4:width: a number of 5,000 digits is too long"),
        (f"connect4:{'x' * 5000}", f"connect4:width must be a whole number, not '{'x' * 59}'…"),
        (f"connect4:4,4,4,{'1' * 5000}", f"connect4 has no option '{'1' * 59}'…; its options are "),
        (f"nim:3+{'1' * 5000}", "nim:heaps: a number of 5,000 digits is too long"),
        (f"nim:misere={'1' * 5000}", f"nim:misere must be yes or no, not '{'1' * 59}'…"),
        (f"chess:{'K' * 5000}", f"chess: no ending '{'K' * 59}…'; name the men"),
        (f"chess:all={'1' * 5000}", "chess: a number is too long"),
        ("x" * 5000, f"no game '{'x' * 59}'…; "),
    ],
    ids=lambda text: f"{text:.20}",
)
def test_long_values_are_not_printed_whole(home, text, why):
    said = error_of("solve", text)
    assert why in said and len(said) < 250


@pytest.mark.parametrize(
    ("text", "instead"),
    [
        ("pig:10", "play it: retrograde play pig:target=10"),
        ("nim3", "play it: retrograde play nim3"),
        ("yahtzee", "play it: retrograde play yahtzee"),
        ("klotski", "search it: retrograde search klotski"),
        ("eightpuzzle:2,2", "search it: retrograde search eightpuzzle:width=2,height=2"),
    ],
)
def test_judge_refuses_a_game_before_it_asks_for_a_database(home, text, instead):
    why = "judge is for games of two players without chance"
    assert error_of("judge", text).endswith(f"{why}; {instead}")


@pytest.mark.long
def test_rules_that_have_changed_are_told_of_by_the_name_of_the_game_too(home):
    path = result_of("solve", "./heap.py:12")["path"]
    retrograde("solve", "./heap.py", "--database", "heap.h5")
    Path("heap.py").write_text(HEAP.replace("min(3,", "min(2,"))
    again = "solve it again with: retrograde solve ./heap.py:size=12 --fresh"
    for source in ("heap:size=12", path):
        assert f"the rules in ./heap.py have changed since {path!r} was made; {again}" in error_of("query", source)
        head, told = " ".join(retrograde("info", source).stdout.split()).split(" win ")[0], "made with other rules than"
        assert told in head and again in head
        assert result_of("info", source)["rules"] == "changed"
    assert "solve ./heap.py --database heap.h5 --fresh" in error_of("query", "heap.h5")
    Path("heap.py").unlink()
    assert "are not at hand" in error_of("query", path)


def test_a_rule_file_is_not_blamed_for_the_database_of_a_program(home):
    """Early versions did not record which rules a file had."""
    retrograde("solve", "./heap.py")
    (entry,) = json.loads(record_path().read_text())["heap"]
    early = {name: value for name, value in entry.items() if name != "rules"}
    Path("heap.py").write_text(HEAP.replace("min(3,", "min(2,"))
    record_path().write_text(json.dumps({"heap": [early]}))
    assert "the rules in ./heap.py have changed" in error_of("query", "heap")
    program = {"file": "prog.py", "digests": {"prog.py": ""}, "rules": entry["rules"]}
    record_path().write_text(json.dumps({"heap": [early], "program:heap": [program]}))
    assert "a class of the program prog.py has them" in error_of("query", "heap")
    assert "heap.py has now" not in " ".join(retrograde("info", "heap").stdout.split())
    assert result_of("info", "heap")["rules"] == "not at hand"


@pytest.mark.long
def test_proofs_and_books_by_a_rule_file_need_no_solve_before(home):
    path = result_of("prove", "./heap.py")["path"]
    assert "replies checked" in retrograde("verify", path).stdout
    Path("guessing.py").write_text(f"{HEAP}\n    def estimate(self, heap):\n        return heap % 4\n")
    path = result_of("book", "./guessing.py", "--plies", "2", "--depth", "1")["path"]
    assert result_of("verify", path)["ok"]


def test_nothing_but_a_database_of_the_same_game_is_overwritten(tictactoe):
    assert "choose another --database" in error_of("solve", "mutorere", "--database", tictactoe, "--fresh")
    assert "choose another --database" in error_of("solve", "mutorere", "--database", "heap.py", "--fresh")
    assert Path("heap.py").read_text() == HEAP
    assert "Is a directory" in error_of("solve", "mutorere", "--database", tictactoe.parent, "--fresh")
    damaged = bytearray(tictactoe.read_bytes())
    damaged[1000] ^= 1
    tictactoe.write_bytes(damaged)
    assert "solve it again with --fresh" in error_of("solve", "tictactoe")
    assert result_of("solve", "tictactoe", "--fresh")["values"] == TICTACTOE


def test_list_tells_what_there_is(tictactoe):
    retrograde("solve", "./heap.py")
    (tictactoe.parent / "other.h5").write_text("something else")
    rows = retrograde("list").stdout.splitlines()
    assert rows[0].split() == ["variant", "positions", "size", "at", "the", "start"]
    assert rows[1].split() == ["heap", "11", "4.69", "kB", "first", "player", "wins", "in", "5", "plies"]
    assert rows[2].endswith("cannot be read")
    assert rows[3].split() == ["tictactoe", "5,478", "4.76", "kB", "a", "tie", "in", "9", "plies"]
    heap, other, board = result_of("list")
    assert heap["start"] == {"value": "win", "remoteness": 5}
    assert "is no database of retrograde" in other["error"]
    assert (board["variant"], board["positions"], board["path"]) == ("tictactoe", 5478, str(tictactoe))


@pytest.mark.long
def test_list_says_of_puzzles_that_they_are_solved(home):
    retrograde("solve", "hanoi:2")
    retrograde("solve", "bearoff:2,2")  # of one player, but no puzzle
    assert "solved in 3 moves" in retrograde("list").stdout


def test_query_at_the_start_says_who_moves(home):
    retrograde("solve", "tentozero")
    assert "the first player wins in 7 plies" in retrograde("query", "tentozero").stdout
    assert "the player to move " in retrograde("query", "tentozero", "9").stdout


def test_list_tells_that_there_is_nothing(home):
    assert retrograde("list").stdout.startswith(f"no databases in {home}; make one")
    assert result_of("list") == []


def test_info_shows_counts_by_remoteness_and_the_longest_win(tictactoe):
    text = retrograde("info", "tictactoe").stdout
    assert re.search(r"plies +win +lose +tie\n +0 +942 +16\n +1 +2,358 +80\n", text)
    assert "The longest win: X to move wins in 5 plies, as in 122 positions\n  O . X\n" in text
    assert re.search(r"records +765\n", text)
    assert re.search(r"made with +retrograde", text)


def test_info_needs_no_rules(home):
    path = result_of("solve", "./heap.py:12")["path"]
    assert (
        "The longest win: the player to move wins in 5 plies, as in 3 positions\n  9\n"
        in retrograde("info", path).stdout
    )
    Path("heap.py").unlink()
    assert "the second player wins in 6 plies" in retrograde("info", path).stdout
    assert "the rules of heap:size=12 are not at hand" in error_of("query", path)


def test_a_database_is_found_by_its_name_even_where_its_game_is_not_in_the_catalog(home):
    retrograde("solve", "./heap.py:12")
    for command in ("info", "query"):
        assert result_of(command, "heap:size=12")["variant"] == "heap:size=12"
    assert retrograde("verify", "heap:size=12").stdout.startswith("heap:size=12: 13 records recomputed")


# query


def test_query_tells_the_start_if_nothing_else_is_asked(tictactoe):
    facts = result_of("query", "tictactoe")
    assert set(facts) == {"variant", "position", "fields", "value", "remoteness", "moves", "line"}
    assert facts["fields"] == {"cells": ".../.../...", "mover": "X"}
    assert (facts["position"], facts["value"], facts["remoteness"]) == (".../.../...", "tie", 9)
    assert len(facts["line"]) == 9
    assert facts["moves"][0] == {"move": "a1", "position": "X../.../...", "value": "tie", "remoteness": 8}


def test_query_puts_the_best_move_first(tictactoe):
    facts = result_of("query", tictactoe, "XX./OO./...")
    assert facts["moves"][0] == {"move": "c1", "position": "XXX/OO./...", "value": "lose", "remoteness": 0}
    assert facts["line"] == ["c1"]
    assert [move["value"] for move in facts["moves"]] == ["lose", "tie", "win", "win", "win"]


def test_query_shows_people_the_board_and_whose_values_they_are(tictactoe):
    text = retrograde("query", "tictactoe", "XX./OO./...").stdout
    assert text.startswith("  X X .\n  O O .\n  . . .\n\nX to move wins in 1 ply\n\nThe moves, best first,")
    assert "  c1 win  in 1\n  c2 tie  in 5\n  a3 lose in 2\n" in text
    assert text.endswith("\nBest play  1. c1\n")


def test_query_of_a_game_that_is_over(tictactoe):
    assert retrograde("query", "tictactoe", "XXX/OO./...").stdout.endswith("\n\nO has lost: the game is over\n")
    facts = result_of("query", "tictactoe", "XXX/OO./...")
    assert (facts["moves"], facts["line"], facts["remoteness"]) == ([], [], 0)


def test_query_tells_of_draws(home):
    retrograde("solve", "mutorere")
    assert "a draw: neither side can force an end" in retrograde("query", "mutorere").stdout
    facts = result_of("query", "mutorere")
    assert (facts["value"], facts["remoteness"]) == ("draw", None)


def test_query_reads_positions_from_standard_input(tictactoe):
    result = retrograde("query", "tictactoe", "-", "--json", input="XX./OO./...\n\n  .../.../...  \n")
    assert [json.loads(line)["position"] for line in result.stdout.splitlines()] == ["XX./OO./...", ".../.../..."]
    assert retrograde("query", "tictactoe", "-", input=b"X../.../...\n\xff\n", status=1).stderr.count("\n") == 1


# verify


@pytest.mark.long
def test_verify_tells_that_all_is_right(tictactoe, monkeypatch):
    from retrograde.solver.verification import verifier

    monkeypatch.setattr(verifier, "INTERPRETED_SECONDS", 60.0)  # however busy the machine is
    text = retrograde("verify", "tictactoe").stdout
    assert text.startswith("tictactoe: 765 records recomputed, and every one is right\n5,478 positions in ")
    assert "proven: every value follows by the rules from the values of its children, there and at one symm" in text
    assert text.endswith("this rests on: the rules as given\n")
    report = result_of("verify", tictactoe, "--workers", "1")
    assert (report["proven"][:11], report["rests_on"]) == ("every value", "the rules as given")
    assert (report["ok"], report["stored"], report["wrong"], report["problems"]) == (True, 765, 0, [])


def test_verify_fails_where_something_is_wrong(tictactoe, monkeypatch):
    from retrograde.solver.verification import verifier, verify

    problem = verifier.Problem(0, ".../.../...", "is stored as WIN in 1, and its children make it TIE in 9")
    wrong = verifier.Verification("tictactoe", 765, 5478, 3, [problem])
    monkeypatch.setattr(verify, "verify", lambda *args, **options: wrong)
    text = retrograde("verify", "tictactoe", status=1).stdout
    assert text == f"tictactoe: 3 wrong\n  {problem}\n  … and 2 more\n"
    report = result_of("verify", "tictactoe", status=1)
    assert report["problems"] == [problem._asdict()]


# What goes wrong


WRONG = {  # command line: what the error says
    "solve conect4": "no game 'conect4'; did you mean connect4?",
    "solve ./none.py": "no rule file 'none.py'; check the path",
    "solve connect4:wide=4": "connect4 has no option 'wide=4'; did you mean width?",
    "solve connect4:width=4,width=5": "the option width is given twice",
    "solve connect4:width=x": "connect4:width must be a whole number, not 'x'",
    "solve connect4:20,20": "the board is too large: with height 20, the width is at most 4",
    "solve tictactoe --database /dev/null/x.h5": "/dev/null",
    "info connect4:4,4": "no database for connect4:width=4,height=4; make it with: retrograde solve connect4:4,4",
    "query none.h5": "no database 'none.h5'; see what there is with: retrograde list",
    "info tictactoe --database none.h5": "no database 'none.h5'",
    "info mutorere --database {tictactoe}": "is of tictactoe, not of mutorere",
    "query foreign.h5": "'foreign.h5' is no database of retrograde",
    "query empty.h5": "'empty.h5' is empty, and no database",
    "query tictactoe nonsense": "no position 'nonsense' of tictactoe: a board is 3 lines of 3 signs",
    "query tictactoe OOO/.../...": "no position 'OOO/.../...' of tictactoe: there must be as many X as O",
    "query tictactoe XXX/OOO/...": "position 'XXX/OOO/...' of tictactoe cannot be reached from the start",
    "play tictactoe --from XXX/OOO/...": "cannot be reached from the start",
    "verify connect4:4,4": "no database for connect4:width=4,height=4",
    "games go": "no game 'go'; list all games with: retrograde games, or give the path of a rule file",
}

MISUSED = {
    "slove tictactoe": "no command 'slove'; did you mean solve?",
    "nonsense": "no command 'nonsense'; the commands are games,",
    "solve": "missing argument 'VARIANT'",
    "solve tictactoe --jsn": "--json",
    "solve tictactoe --workers 0": "0 is not in the range",
    "solve tictactoe --memory much": "'much' is no size; write one as 800M, 1.5G or 2GiB; see retrograde solve --help",
    "query tictactoe X../.../... O": "unexpected extra argument",
    "play tictactoe --first nobody": "no player 'nobody'; the players are perfect, first, random, greedy, depth:N",
    "query {tictactoe} --database {tictactoe}": "give a FILE or --database, not both",
}


@pytest.mark.parametrize(
    ("line", "complaint", "status"),
    [(line, text, 1) for line, text in WRONG.items()] + [(line, text, 2) for line, text in MISUSED.items()],
)
def test_what_cannot_be_done_is_one_clear_line(tictactoe, line, complaint, status):
    Path("foreign.h5").write_text("something else, longer than a signature")
    Path("empty.h5").touch()
    assert complaint in error_of(*line.format(tictactoe=tictactoe).split(), status=status)
    assert not list(tictactoe.parent.glob("*.journal"))


BROKEN = {  # what is put in the place of what: the error when the game is solved
    ("class Heap(Game)", "class Heap(Game"): "heap.py, line 4: SyntaxError",
    ("class Heap", "raise KeyError(1)\nclass Heap"): ": KeyError: 1",
    ("class Heap(Game)", "class Heap"): "heap.py must define one subclass of Game, and defines none",
    ("heap - taken", "heap - taken / 1"): "which is no int",
    ("heap - taken", "heap - 4"): "positions go from 0 to",
    ("heap - taken", "[][taken]"): "contract: do_move at 10: raises IndexError: list index out of range (heap.py,",
    ("LOSE if", "'lost' if"): "breaks the contract: primitive at 0: gives 'lost'; let it give WIN,",
    ("LOSE if heap == 0 else UNDECIDED", "UNDECIDED"): "generate_moves at 0: yields no move where primitive() says UND",
    ("return self.size", "return -1"): "breaks the contract: start: it gives -1, but positions go from 0",
}


@pytest.mark.parametrize(("change", "complaint"), BROKEN.items(), ids=[new for _, new in BROKEN])
def test_broken_rules_are_one_clear_line(home, change, complaint):
    assert change[0] in HEAP
    Path("heap.py").write_text(HEAP.replace(*change))
    said = error_of("solve", "./heap.py")
    assert complaint in said and said.count("line 4") <= 1
    assert not list(home.glob("*.h5"))


def test_rules_that_fail_to_speak_to_people_are_one_clear_line(home):
    Path("heap.py").write_text(HEAP + "\n    def show(self, heap):\n        return {}[heap]\n")
    retrograde("solve", "./heap.py")
    complaint = error_of("query", "./heap.py")
    assert complaint.startswith("the rules raise KeyError: 10 (")
    assert complaint.endswith(f"heap.py, line {HEAP.count(chr(10)) + 3})")


def test_a_fault_of_ours_is_one_line_unless_all_is_asked_for(tictactoe, monkeypatch):
    from retrograde.solver.verification import verify

    def fail(*args, **options):
        raise RuntimeError("out of order")

    monkeypatch.setattr(verify, "verify", fail)
    complaint = error_of("verify", "tictactoe")
    assert complaint.startswith("RuntimeError: out of order; this is a fault of retrograde")
    assert "--traceback" in complaint
    assert "Traceback (most recent call last)" in retrograde("--traceback", "verify", "tictactoe", status=1).stderr


def test_a_lack_of_memory_is_one_clear_line(home):
    complaint = error_of("solve", "connect4:5,5", "--memory", "1M")
    assert "and the limit is 1 MB; raise it with --memory" in complaint


# Colours, pipes and signals


def test_colours_are_for_terminals_that_want_them(tictactoe, monkeypatch):
    green, red = "\x1b[38;5;231m\x1b[48;5;22mwin", "\x1b[38;5;231m\x1b[48;5;124mlose"
    coloured = retrograde("query", "tictactoe", "XX./OO./...", color=True).stdout
    assert green in coloured
    assert red in coloured
    assert "\x1b" not in retrograde("query", "tictactoe", "XX./OO./...").stdout
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b" not in retrograde("query", "tictactoe", "XX./OO./...", color=True).stdout


@pytest.mark.long
def test_a_process_reports_results_errors_and_statuses(home):
    done = process("solve", "tictactoe", "--json", env=environment(home))
    assert done.returncode == 0
    phases = [json.loads(line)["phase"] for line in done.stderr.splitlines()]
    assert phases[0] == "reading the rules"  # a solve that takes long, as one that compiles does, tells more
    assert json.loads(done.stdout)["values"] == TICTACTOE
    done = process("query", "tictactoe", "nonsense", env=environment(home))
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("retrograde: error: no position 'nonsense'")
    assert process("solve", env=environment(home)).returncode == 2


@pytest.mark.long
@pytest.mark.parametrize(("args", "status"), [(("games", "./heap.py"), 0), (("query", "./heap.py", "x"), 1)])
def test_a_process_that_ends_calls_exit_handlers_and_closes_files(home, tmp_path, args, status):
    end = "import atexit\natexit.register(print, 'goodbye')\nLOG = open('log', 'w')\nLOG.write('all of it')\n"
    (tmp_path / "heap.py").write_text(f"{HEAP}\n\n{end}")
    done = process(*args, cwd=tmp_path, env=environment(home))
    assert done.returncode == status
    assert done.stdout.splitlines()[-1] == "goodbye"
    assert (tmp_path / "log").read_text() == "all of it"


@pytest.mark.long
@pytest.mark.skipif(os.name == "nt", reason="pipes end otherwise there")
def test_a_reader_who_leaves_is_no_error(tictactoe):
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "w") as pipe:
        done = subprocess.run([*COMMAND, "list"], stdout=pipe, stderr=subprocess.PIPE, text=True, check=False)
    assert (done.returncode, done.stderr) == (141, "")


def test_where_the_rules_of_an_interrupted_solve_are_is_told_to_who_goes_on_by_the_name(tmp_path, monkeypatch):
    """As `list` shows it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RETROGRADE_HOME", str(tmp_path / "home"))
    (tmp_path / "mound.py").write_text(HEAP.replace("Heap", "Mound"))

    def interrupted(game, path, **_):
        path.with_name(f"{path.name}.journal").write_bytes(b"begun")
        raise KeyboardInterrupt

    monkeypatch.setattr("retrograde.solver.engine.solve", interrupted)
    retrograde("solve", "./mound.py", status=130)
    said = retrograde("solve", "mound", status=1).stderr
    assert f"for your rules of that name write {tmp_path / 'mound.py'}" in said


@pytest.mark.thorough
@pytest.mark.skipif(os.name == "nt", reason="there is no SIGINT to send there")
@pytest.mark.long
def test_ctrl_c_keeps_what_is_done_and_the_same_command_goes_on(home):
    solve = [*COMMAND, "solve", "connect4:5,4"]
    journal = home / "connect4,width=5,height=4.h5.journal"
    with Child(solve, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
        while running.poll() is None and not journal.exists():
            time.sleep(0.01)
        running.send_signal(signal.SIGINT)
        output, errors = running.communicate()
    assert (running.returncode, output) == (130, "")
    assert errors == "retrograde: interrupted; finished work is kept, and the same command resumes the solve\n"
    assert journal.exists()
    result = result_of(*solve[len(COMMAND) :])
    assert result["values"] == {"win": 1390516, "lose": 1251559, "tie": 1303636, "draw": 0}
    assert not journal.exists()


@pytest.mark.parametrize("what", [["--no-such-option"], ["solve", "--no-such-option"], ["solve"]])
def test_a_wrong_command_line_is_one_line_with_click_before_8_2_as_well(what, monkeypatch):
    monkeypatch.delattr(click.exceptions, "NoArgsIsHelpError", raising=False)
    assert "Commands:" in retrograde(status=2).stderr
    assert error_of(*what, status=2).endswith(" --help")


@pytest.mark.parametrize("encoding", ["cp437", "cp1252", "koi8-r", "latin-1", "ascii", "shift_jis", "utf-16"])
def test_output_for_people_replaces_what_an_encoding_lacks_and_json_is_utf8(encoding):
    help_text, games = retrograde("--help", charset=encoding).stdout, retrograde("games", charset=encoding).stdout
    assert "Usage: retrograde" in help_text and "tictactoe" in games
    if encoding not in ("ascii", "utf-16"):  # click writes UTF-8 for the one; the other lacks nothing
        assert "M?" in games and "Mū" not in games
    told = retrograde("games", "mutorere", "--json", charset=encoding).stdout_bytes
    assert told == retrograde("games", "mutorere", "--json").stdout_bytes
    assert "ū".encode() in told


# Progress, words and completion


@pytest.mark.parametrize(
    ("value", "remoteness", "here", "ending"),
    [
        (WIN, 1, "X wins in 1 ply", "the first player wins in 1 ply"),
        (LOSE, 20, "X loses in 20 plies", "the second player wins in 20 plies"),
        (TIE, 9, "a tie in 9 plies", "a tie in 9 plies"),
        (DRAW, None, "a draw: neither side can force an end", "a draw"),
        (WIN, 0, "X has won: the game is over", "the first player has won: the game is over"),
        (LOSE, 0, "X has lost: the game is over", "the first player has lost: the game is over"),
        (TIE, 0, "a tie: the game is over", "over at the start"),
    ],
)
def test_outcomes_in_words(value, remoteness, here, ending):
    assert click.unstyle(prospect_text(value, remoteness, "X")) == here
    assert click.unstyle(verdict(value, remoteness)) == ending


def test_amounts_and_durations():
    assert [amount(n) for n in (0, 999, 1000, 69_763_700, 999_600)] == ["0", "999", "1.00 k", "69.8 M", "1.00 M"]
    assert [duration(s) for s in (0.04, 1.26, 9.96, 61, 7500)] == ["40 ms", "1.3 s", "10 s", "1 min 1 s", "2 h 5 min"]
    assert table([("a", "1"), ("bcd", "23")], "<>") == "a     1\nbcd  23"


@pytest.mark.parametrize(
    ("words", "completions"),
    [
        ("retrograde que", ["query"]),
        ("retrograde info tictac", ["tictactoe", "tictactoe3", "tictactoe:misere=yes", "tictactoe@score", "tictactwo"]),
        thorough(("retrograde solve mut", ["mutorere"])),
        thorough(("retrograde games conn", ["connect4"])),
        thorough(("retrograde info tictactoe : mi", ["misere=yes"])),
        ("retrograde info tictactoe : misere =", ["yes"]),
        ("retrograde info tictactoe @ s", ["score"]),
        ("retrograde query --js", ["--json"]),
    ],
)
@pytest.mark.long
def test_completion_in_bash(tictactoe, monkeypatch, words, completions):
    for name in ("tictactoe,misere=yes.h5", "tictactoe@score.h5"):
        tictactoe.with_name(name).write_bytes(b"")
    environ = {"COMP_WORDS": words, "COMP_CWORD": str(len(words.split()) - 1), "_RETROGRADE_COMPLETE": "bash_complete"}
    done = process(env=os.environ | environ)
    assert done.stdout.split() == [f"plain,{completion}" for completion in completions]


def test_help_of_every_command_needs_no_large_library():
    """So that it is there at once."""
    program = (
        "import sys\nfrom click.testing import CliRunner\nfrom retrograde.cli import main\n"
        "from retrograde.cli.main import COMMANDS\n"
        "for name in COMMANDS:\n"
        "    assert CliRunner().invoke(main, [name, '--help']).exit_code == 0, name\n"
        "    assert not {'numpy', 'h5py', 'numba', 'uvicorn', 'matplotlib'} & sys.modules.keys(), name\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=LATE)


# Memory


@pytest.mark.skipif(sys.platform != "linux", reason="limits of address space are others there")
@pytest.mark.long
def test_a_limit_of_address_space_is_said_to_be_one(home):
    import resource

    def limited():
        resource.setrlimit(resource.RLIMIT_AS, (450 << 20, resource.RLIM_INFINITY))

    told = process("solve", "connect4:4,4", env=environment(home), preexec_fn=limited).stderr
    wanted = r"retrograde: error: compiling the rules needs 280 MB of address space, .*472 MB that "
    assert re.fullmatch(wanted + r"`ulimit -v` allows .* are left; raise that limit\n", told)


@pytest.mark.parametrize(
    "error",
    [
        MemoryError(),
        OSError(12, "Cannot allocate memory"),
        ImportError("x.so: failed to map segment from shared object"),
        RuntimeError("can't start new thread"),
    ],
)
def test_memory_that_is_not_to_be_had_is_told_by_its_limit(error, monkeypatch):
    try:
        raise OSError("Could not load it") from error
    except OSError as outer:
        failure = outer
    monkeypatch.setattr("retrograde.solver.runtime.memory.address_space", lambda: None)
    assert explain(failure).message.startswith("error: there is not enough memory; ")
    assert "the system starts no more threads" in explain(RuntimeError("can't start new thread")).message
    monkeypatch.setattr("retrograde.solver.runtime.memory.address_space", lambda: (10**9, 0))
    limit = "error: there is not enough address space, of which `ulimit -v` allows 1 GB; raise that limit"
    assert explain(failure).message == limit
    assert "fault of retrograde" in explain(ValueError("x")).message


WITHOUT_EFFECT = {
    "search tictactoe --order best": "--order goes with --tree",
    "search tictactoe --tree --method pn --order best": "--order is for alpha-beta, and not for --method pn",
    "search tictactoe --tree --time 9": "--time has no effect in a --tree",
    "search tictactoe --tree --table 1M": "--table has no effect in a --tree",
    "search tictactoe --tree --workers 2": "--workers has no effect in a --tree",
    "search tictactoe --tree --value-only": "--value-only has no effect in a --tree",
    "search tictactoe --tree --no-tables": "--no-tables has no effect in a --tree",
    "search nim3 --method pn": "--method has no effect in searches of games with chance or several players",
    "search pig:10 --method pn": "--method has no effect in searches of games with chance or several players",
    "search octal 9 --workers 2": "--workers has no effect in searches of nimbers",
    "search othello:4,4 --no-tables": "--no-tables has no effect in searches of scores",
    "verify tictactoe --quick --workers 2": "--workers has no effect with --quick",
    "match tictactoe random random --exact --games 5": "--games goes with games, and not with --exact",
    "match tictactoe random random --exact --pgn games.pgn": "--pgn goes with games, and not with --exact",
    "compare chess:KRK . --all --seed 1": "--seed is for random positions: not with --all",
    "compare chess:KRK . --all --positions 9": "--positions is for random positions: not with --all",
    "play tictactoe --second random --skill 0.5": "--skill goes with a perfect player",
    "play tictactoe --first perfect --hints": "--hints goes with a human player",
    "verify tictactoe --quick --against mine.py:corners": "--against is for a database of a best response: not for",
}


@pytest.mark.parametrize("words", WITHOUT_EFFECT)
def test_an_option_that_would_have_no_effect_is_refused(words):
    said = retrograde(*words.split(), status=2).stderr
    assert f"retrograde: error: {WITHOUT_EFFECT[words]}" in said and said.count("\n") == 1


@pytest.mark.parametrize("seconds", ["inf", "nan", "1e300", "-1", "0"])
@pytest.mark.parametrize("command", ["search", "query", "play", "serve", "prove", "match"])
def test_a_time_limit_is_a_number_that_clocks_can_count(command, seconds):
    players = ["first", "first"] if command == "match" else []
    said = retrograde(command, "tictactoe", *players, "--time", seconds, status=2).stderr
    assert said.startswith("retrograde: error: invalid value for '--time': ")


def test_a_skill_is_a_number():
    assert "'nan' is no finite number" in retrograde("play", "tictactoe", "--skill", "nan", status=2).stderr
