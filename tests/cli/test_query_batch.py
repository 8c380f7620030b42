"""Many positions from a file or standard input, and databases of chess that are found by the men on the board."""

import json
from pathlib import Path

import pytest

from retrograde.databases import open_database
from retrograde.games.catalog import load_game
from retrograde.solver.engine import solve
from tests.helpers.command_line import HEAP, process, retrograde
from tests.helpers.solving import in_one_file

pytestmark = pytest.mark.long


@pytest.fixture
def home(solved, monkeypatch):
    """The folder with databases of tic-tac-toe, Connect Four and rook against king."""
    for variant in ("tictactoe", "connect4:4,4", "chess:KRK"):
        path = solved(variant)
    monkeypatch.setenv("RETROGRADE_HOME", str(path.parent))
    return path.parent


def rows(result) -> list[list[str]]:
    return [line.split("\t") for line in result.stdout.splitlines()]


def test_each_line_is_answered_on_a_line(home):
    result = retrograde("query", "connect4:4,4", "--batch", "-", input="2231\n\n# a remark\n  112233\n2122\n")
    assert rows(result) == [["1", "2231", "tie", "12"], ["4", "112233", "win", "1"], ["5", "2122", "lose", "12"]]


def test_values_are_those_of_the_database(home, tmp_path):
    with open_database("connect4:4,4") as db:
        positions = [position for _, some, _, _ in db.records() for position in some.tolist()][::9]
        expected = [db[position] for position in positions]
        texts = [db.game.write(position) for position in positions]
    assert len(texts) > 5000  # enough to be compiled
    file = tmp_path / "positions.txt"
    file.write_text("\n".join(texts), encoding="utf-8")
    found = rows(retrograde("query", "connect4:4,4", "--batch", file))
    assert [row[1] for row in found] == texts
    assert [(row[2], int(row[3])) for row in found] == [(value.name.lower(), plies) for value, plies in expected]


def test_a_bad_line_is_answered_as_such_and_the_rest_go_on(home):
    lines = b"X../.../...\nnonsense\nXXX/OOO/...\n.../.../...\n" + b"\xff\x1b[31m\n"
    result = retrograde("query", "tictactoe", "--batch", "-", input=lines, status=1)
    answers = rows(result)
    assert [row[2] for row in answers] == ["tie", "error", "error", "tie", "error"]
    assert answers[1][3].startswith("no position 'nonsense' of tictactoe: ")
    assert answers[2][3] == "position 'XXX/OOO/...' of tictactoe cannot be reached from the start"
    assert "\x1b" not in result.stdout
    assert result.stderr == "retrograde: error: 3 of 5 lines had no answer; they say why\n"
    said = [
        json.loads(line)
        for line in retrograde(
            "query", "tictactoe", "--batch", "-", "--json", input=lines, status=1
        ).stdout.splitlines()
    ]
    assert [one["line"] for one in said] == [1, 2, 3, 4, 5]
    assert [one.get("error", "")[:4] for one in said] == ["", "no p", "posi", "", "no p"]
    assert said[0] == {
        "line": 1, "variant": "tictactoe", "input": "X../.../...", "value": "tie", "remoteness": 8
    }  # fmt: skip


def test_lines_of_many_variants(home):
    lines = [
        "tictactoe X../.../...",
        "connect4:4,4\t2122",
        "chess 8/8/8/8/8/2k5/1R6/K7 b",
        'chess:KRK\t8/8/8/8/8/2k5/1R6/K7 b - - id "rook"; acd 3;',
        "chess 8/8/8/8/8/2K5/1r6/k7_w_-_-",
        "nosuch 2",
        "connect4 2",
        "alone",
        "chess 8/8/8/8/8/8/1R6/K7 b",
        "8/8/8/8/8/2k5/1R6/K7 b - - 0 1",
        "chess 8/8/8/8/8/2k5/1Q6/K6 b",
    ]
    answers = rows(retrograde("query", "--batch", "-", input="\n".join(lines), status=1))
    lost = [row[-2:] for row in answers if row[-2] != "error"]
    assert lost == [["tie", "8"], ["lose", "12"], *[["lose", "32"]] * 4]
    errors = [row[-1] for row in answers if row[-2] == "error"]
    assert errors[0].startswith("no game 'nosuch'")
    assert errors[1] == "no database for connect4; make it with: retrograde solve connect4"
    assert errors[2] == "a line is a VARIANT and a position, not 'alone'"
    assert errors[3] == "no legal position: Black has no king; put one"
    assert errors[4].startswith("no board '8/8/8/8/8/2k5/1Q6/K6'; it takes eight rows of eight squares")
    given = rows(retrograde("query", "tictactoe", "--batch", "-", input="X../.../...\nconnect4:4,4\t2122\n"))
    assert [row[-2:] for row in given] == lost[:2]


def test_no_line_leads_to_code(home, tmp_path):
    rule_file = tmp_path / "heap.py"
    rule_file.write_text(f"open({str(tmp_path / 'run')!r}, 'w')\n{HEAP}", encoding="utf-8")
    lines = f"{rule_file} 3\n{rule_file}\t3\nheap.py:size=3 3\n{home / 'tictactoe.h5'}\t.../.../...\n"
    answers = rows(retrograde("query", "--batch", "-", input=lines, status=1))
    assert len(answers) == 4
    assert all("a line names a game, not a file, as '" in row[-1] for row in answers)
    assert not (tmp_path / "run").exists()


def test_lines_of_a_variant_without_a_database_are_searched(tmp_path, monkeypatch):
    """As well as the time for each allows; that a value is not known is an answer."""
    monkeypatch.setenv("RETROGRADE_HOME", str(tmp_path))
    lines = "2231\nnonsense\n112233\n2122\n"
    result = retrograde("query", "connect4:4,4", "--batch", "-", "--time", 20, input=lines, status=1)
    answers = rows(result)
    assert [answers[0], *answers[2:]] == [
        ["1", "2231", "tie", "12"], ["3", "112233", "win", "1"], ["4", "2122", "lose", "12"]
    ]  # fmt: skip
    assert answers[1][2:] == ["error", answers[1][3]] and answers[1][3].startswith("no position 'nonsense'")
    assert result.stderr.splitlines()[0].startswith("no database for connect4:width=4,height=4: searching, up to 20 s")
    said = json.loads(
        retrograde("query", "connect4:4,4", "--batch", "-", "--time", 20, "--json", input="2122\n").stdout
    )
    assert said["line"] == 1 and said["input"] == "2122" and said["variant"] == "connect4:width=4,height=4"
    assert (said["value"], said["remoteness"], said["proved"], said["source"]) == ("lose", 12, True, "search")
    unknown = rows(retrograde("query", "connect4", "--batch", "-", "--time", 0.05, input="44\n4\n"))
    assert [row[2:] for row in unknown] == [["not known", ""]] * 2
    row, *_ = rows(retrograde("query", "connect4:4,4", "--batch", "-", "--time", 20, "--moves", input="2231\n"))
    assert row[:4] == ["1", "2231", "tie", "12"]
    assert sorted(row[4].split()) == ["1:lose:12", "2:lose:12", "3:lose:12", "4:tie:12"]


def test_what_a_line_names_is_not_searched(tmp_path, monkeypatch):
    """A line may be anybody's word, and rules take their time to be compiled."""
    monkeypatch.setenv("RETROGRADE_HOME", str(tmp_path))
    (row,) = rows(retrograde("query", "--batch", "-", "--time", 1, input="connect4:4,4\t2231\n", status=1))
    assert row[-1] == "no database for connect4:width=4,height=4; make it with: retrograde solve connect4:4,4"


def test_moves_are_told_on_request(home):
    (row,) = rows(retrograde("query", "connect4:4,4", "--batch", "-", "--moves", input="2231\n"))
    assert row == ["1", "2231", "tie", "12", "4:tie:12 1:lose:12 2:lose:12 3:lose:12"]
    said = json.loads(retrograde("query", "connect4:4,4", "--batch", "-", "--moves", "--json", input="2231\n").stdout)
    alone = json.loads(retrograde("query", "connect4:4,4", "2231", "--json").stdout)
    assert said == {"line": 1, "input": "2231", "best_line": alone.pop("line"), **alone}
    assert "--moves goes with --batch" in retrograde("query", "tictactoe", "--moves", status=2).stderr
    assert "not both" in retrograde("query", "tictactoe", "X../.../...", "--batch", "-", status=2).stderr
    assert "missing argument 'VARIANT|FILE'" in retrograde("query", status=2).stderr
    assert "No such file" in retrograde("query", "tictactoe", "--batch", "nowhere.txt", status=1).stderr


def test_lines_in_full_go_on_after_a_bad_one(home):
    result = retrograde("query", "tictactoe", "-", "--json", input="nonsense\n.../.../...\n", status=1)
    first, second = map(json.loads, result.stdout.splitlines())
    assert (first["line"], first["input"], second["position"]) == (1, "nonsense", ".../.../...")
    assert first["error"].startswith("line 1: no position 'nonsense'")
    text = retrograde("query", "tictactoe", "-", input="nonsense\n.../.../...\n", status=1).stdout
    assert "\nline 1: no position" in f"\n{text}"
    assert "a tie in 9 plies" in text


def test_a_database_of_chess_is_found_by_the_men(solved, tmp_path, monkeypatch):
    monkeypatch.setenv("RETROGRADE_HOME", str(tmp_path))
    (tmp_path / "chess,KRK.h5").symlink_to(solved("chess:KRK"))
    fen = "8/8/8/8/8/2k5/1R6/K7 b"
    exact = json.loads(retrograde("query", "chess:KRK", fen, "--json").stdout)
    assert json.loads(retrograde("query", "chess", fen, "--json").stdout) == exact
    swapped = json.loads(retrograde("query", "chess", "8/8/8/8/8/2K5/1r6/k7 w", "--json").stdout)
    assert (swapped["variant"], swapped["remoteness"]) == ("chess:KRK", exact["remoteness"])
    said = retrograde("query", "chess", "8/8/8/8/8/2k5/1Q6/K7 b", "--time", "0.1").stderr
    assert said.startswith("no database here has the ending KQK: searching, up to 100 ms a question; ")
    assert said.splitlines()[0].endswith("; to solve it: retrograde solve chess:KQK")
    assert "mated in 16" in retrograde("query", "chess", "-", input=f"{fen}\n").stdout


@pytest.mark.parametrize(
    "fen",
    [
        "6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - 0 1",  # ten men; the mate is Ra8
        "6k1/5ppp/8/8/8/8/8/R5K1 w - - 0 1",  # six with pawns
        "3k4/Q7/8/8/8/8/8/4K2R w K - 0 1",  # a right to castle; the mate is Rh8
    ],
)
def test_chess_that_no_database_can_have_is_searched(tmp_path, monkeypatch, fen):
    """A position alone, in a line of standard input, and in a batch; but not for a batch that names no game."""
    monkeypatch.setenv("RETROGRADE_HOME", str(tmp_path))
    no_database = "no database has castling, more than 6 men, or pawns among more than 5"
    alone = retrograde("query", "chess", fen, "--json", "--time", 0.5)
    assert alone.stderr == f"{no_database}: searching, up to 500 ms a question\n"
    assert json.loads(alone.stdout)["variant"] == "chess"
    line = retrograde("query", "chess", "-", "--json", "--time", 0.5, input=f"{fen}\n").stdout
    assert json.loads(line)["position"] == json.loads(alone.stdout)["position"]
    assert rows(retrograde("query", "chess", "--batch", "-", "--time", 60, input=f"{fen}\n")) == [
        ["1", fen, "win", "1"]
    ]
    (row,) = rows(retrograde("query", "--batch", "-", input=f"{fen}\n", status=1))
    assert row[2:] == ["error", f"{no_database}; search it with: retrograde query chess POSITION"]


@pytest.mark.parametrize(
    ("fen", "words"),
    [
        ("1rk3r1/1p4p1/8/8/8/8/1P4P1/1RK3R1 w GBgb - 0 1", "castling rights 'GBgb' are those of Chess960; put"),
        ("8/pp6/8/8/8/k7/PP6/1K6 w - - 0 1", "the side that is not to move is in check"),
    ],
)
def test_chess_that_cannot_be_searched_either_is_refused_in_one_line(tmp_path, monkeypatch, fen, words):
    monkeypatch.setenv("RETROGRADE_HOME", str(tmp_path))
    said = retrograde("query", "chess", fen, status=1).output
    assert words in said and said.count("\n") == 1
    (row,) = rows(retrograde("query", "chess", "--batch", "-", input=f"{fen}\n", status=1))
    assert row[2] == "error" and words in row[3]


def test_a_smaller_ending_is_found_in_a_larger_one(tmp_path, monkeypatch):
    """A queen against a king, where only pawn against king is solved, with all that may follow in one file, as once."""
    monkeypatch.setenv("RETROGRADE_HOME", str(tmp_path))
    with in_one_file():
        solve(load_game("chess:KPK"))
    (tmp_path / "chess,nonsense.h5").write_bytes(b"")
    found = json.loads(retrograde("query", "chess", "8/8/8/8/8/2k5/1Q6/K7 b", "--json").stdout)
    assert (found["variant"], found["value"]) == ("chess:KPK", "lose")


@pytest.mark.slow
def test_many_lines_are_answered_in_no_time(home, tmp_path):
    """Ten thousand a second, of CPU time, once the program runs."""
    resource = pytest.importorskip("resource")  # not on Windows

    with open_database("connect4:4,4") as db:
        positions = [position for _, some, _, _ in db.records() for position in some.tolist()]
        texts = [db.game.write(position) for position in positions][:60_000]
    file = Path(tmp_path / "positions.txt")
    file.write_text("\n".join(texts), encoding="utf-8")
    taken = []
    for name in (tmp_path / "one.txt", file, file):  # the first to make machine code, or to load it
        if name != file:
            name.write_text("\n".join(texts[:5000]), encoding="utf-8")
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = process("query", "connect4:4,4", "--batch", name)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        assert done.returncode == 0
        assert done.stdout.count("\n") == len(name.read_text(encoding="utf-8").splitlines())
        taken.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    assert min(taken[1:]) < len(texts) / 10_000
