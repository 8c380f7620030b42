"""What is printed and served about positions, under each metric and without a database, byte by byte.

`python -m tests.solver.play.test_answer` writes the file of answers again.
"""

import json
import os
import re
import tempfile
from pathlib import Path

import pytest

pytest.importorskip("fastapi")

from tests.helpers.command_line import retrograde
from tests.helpers.paths import ROOT
from tests.helpers.serving import client_of
from tests.helpers.solving import copy_whole

pytestmark = pytest.mark.long

PINNED = ROOT / "tests" / "data" / "answers.json"

SOLVED = [
    ["tictactoe"], ["tictactoe", "--metric", "score"], ["tictactoe", "--against", "random"], ["mutorere"],
    ["mutorere", "--metric", "drawlevel"], ["hanoi:disks=3"], ["dotsandboxes:1,2"], ["nim:heaps=1+2"], ["nim3"],
    ["pig:target=5"], ["chess:KRK"], ["chess:KRK", "--metric", "dtz"],
]  # fmt: skip
"""What is solved, one variant for each metric at least."""
KRK = "8/8/8/8/8/2k5/1R6/K7 b"
POSITIONS = [
    ("tictactoe", ""), ("tictactoe", "X.O/.X./..."), ("tictactoe", "XXX/OO./..."), ("tictactoe@score", "X.O/.X./..."),
    ("mutorere", ""), ("mutorere@drawlevel", ""), ("hanoi:disks=3", ""), ("dotsandboxes:1,2", ""),
    ("nim:heaps=1+2", ""), ("nim3", "2,2"), ("pig:target=5", ""), ("chess:KRK", f"{KRK} - - 0 1"),
    ("chess:KRK", "8/8/8/8/8/2k5/8/KR6 w - - 95 80"), ("chess:KRK@dtz", f"{KRK} - - 0 1"),
]  # fmt: skip
SEARCHED = [("connect4:3,3,3", ""), ("dotsandboxes:1,3", "")]
"""Positions of variants that no database has."""
UNSTEADY = re.compile(
    r'"(?:nodes|seconds)": [^,}]*|"how": "[^"]*"|proved by search: [^"\n]*|\d[^ ]* s at a time|/\S+/answers[^/\s]*'
)
"""What differs from run to run: times and counts of a search, and paths."""


def answers() -> dict[str, str]:
    """Return what is printed and served about each position, by the question."""
    found = {}
    for words in SOLVED:
        retrograde("solve", *words)
    against = next(Path(os.environ["RETROGRADE_HOME"]).glob("*random*"))
    found["against"] = retrograde("query", against, "X.O/.X./...").stdout
    found["against, JSON"] = retrograde("query", against, "X.O/.X./...", "--json").stdout
    for variant, text in POSITIONS + SEARCHED:
        limit = ["--time", "60"] if (variant, text) in SEARCHED else []
        for more in ([], ["--json"]):
            words = ["query", variant, *([text] if text else []), *limit, *more]
            found[" ".join(words)] = retrograde(*words).stdout
        for more in ([], ["--moves"], ["--json"], ["--moves", "--json"]):
            words = ["query", variant, "--batch", "-", *limit, *more]
            if text:
                found[f"{text} | {' '.join(words)}"] = retrograde(*words, input=f"{text}\n").stdout
    found["play"] = retrograde("play", "tictactoe", "--hints", input="b2\nhelp\nline\n?\nundo\nquit\n").stdout
    with client_of((), None, True, 60.0) as client:
        for variant, text in POSITIONS + SEARCHED:
            where = {"variant": variant} | ({"position": text} if text else {})
            reply = client.get("/api/position", params=where | {"line": True, "search": True}).json()
            del reply["svg"], reply["summary"]
            found[f"/api/position {variant} {text}"] = json.dumps(reply)
        for path in ("tictactoe/regular/positions/?p=X.O/.X./...", "tictactoe/regular/positions/?p=X.O/.X./...;1",
                     "dotsandboxes/width-1/positions/?p=.../....,1", "hanoi/disks-3/positions/?p=111",
                     "mutorere/regular/", f"standard?fen={KRK} - - 0 1",
                     f"standard/mainline?fen={KRK} - - 90 60"):  # fmt: skip
            found[path] = json.dumps(client.get(f"/{path}").json())
        moves = {"variant": "tictactoe", "position": ".../.../...", "moves": "b2,a1,b1"}
        found["scorecard"] = json.dumps(client.get("/api/scorecard", params=moves).json())
        found["game"] = json.dumps([*map(str, client.get("/api/game", params=moves).json()["steps"])])
    return {question: UNSTEADY.sub("…", answer) for question, answer in found.items()}


def test_answers_are_those_of_before(solved, tmp_path_factory, monkeypatch):
    home = tmp_path_factory.mktemp("answers")
    monkeypatch.setenv("RETROGRADE_HOME", str(home))
    for variant, metric in (("tictactoe", ""), ("mutorere", ""), ("chess:KRK", ""), ("chess:KRK", "dtz")):
        copy_whole(solved(variant, metric), home)
    found = answers()
    pinned = json.loads(PINNED.read_text(encoding="utf-8"))
    assert found.keys() == pinned.keys()
    for question, answer in found.items():
        assert answer == pinned[question], question


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="answers") as home:
        os.environ["RETROGRADE_HOME"] = home
        PINNED.write_text(json.dumps(answers(), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
