"""Small games solved in plain Python: how long that is tried, and that machine code at hand is found."""

import time

import pytest

from retrograde.games.catalog import load_game
from retrograde.solver.engine import solve
from retrograde.solver.interpreted import Patience
from retrograde.solver.rules import ports
from retrograde.solver.selection import is_compiled
from tests.helpers.marks import thorough

FIRST, LONGEST = 0.2, 1.75


def patience(compiler_seconds: float = LONGEST) -> Patience:
    return Patience(FIRST, LONGEST, lambda: compiler_seconds)


@pytest.mark.parametrize(
    ("passed", "looked_at", "found", "all_found", "ends"),
    [
        (0.04, 1, 10_000, True, False),  # too early to tell
        (0.06, 1_000, 1_500, False, False),
        (0.06, 1_000, 2_500, False, True),
        (0.06, 1_000, 20_000, True, False),
        (0.06, 1_000, 40_000, True, True),
        (0.3, 10_000, 9_000, False, False),
        (0.3, 10_000, 14_000, False, True),
        (0.9, 10_000, 8_000, False, True),  # as long again, and more
        (0.9, 10_000, 8_000, True, False),
        (1.7, 140_000, 16_000, False, False),  # soon done
        (1.7, 140_000, 70_000, False, True),
    ],
)
def test_how_long_is_tried(passed, looked_at, found, all_found, ends):
    assert patience().ends(passed, looked_at, found, all_found) == ends


def test_what_is_compiled_is_asked_once_and_late():
    asked = []
    unsure = Patience(FIRST, LONGEST, lambda: asked.append("once") or LONGEST)
    assert not unsure.ends(0.1, 1_000, 1_000, False) and not asked
    assert not unsure.ends(0.3, 3_000, 1_000, False)
    assert not unsure.ends(0.4, 4_000, 1_000, False) and asked == ["once"]
    assert patience(0.0).ends(0.3, 3_000, 1_000, False)
    assert not patience(1.0).ends(0.3, 3_000, 1_000, False)
    assert patience(1.0).ends(0.7, 7_000, 7_000, False)


COUNTDOWN = """
from retrograde.games import LOSE, UNDECIDED, Game

class Countdown(Game):
    start = {start}

    def generate_moves(self, left):
        yield 1
        if left > 1:
            yield 2

    def do_move(self, left, taken):
        return left - taken

    def primitive(self, left):
        return LOSE if left == 0 else UNDECIDED
"""

NUMBERED = """
    tiers = (0,)

    def size(self, tier):
        return {start} + 1

    def tier(self, left):
        return 0

    def index(self, left):
        return left

    def unindex(self, tier, slot):
        return slot
"""


@pytest.mark.long
@pytest.mark.parametrize("more", ["", thorough(NUMBERED)])
def test_machine_code_is_found(more, tmp_path, monkeypatch):
    monkeypatch.setattr(ports, "PATIENCE", 0.0)
    source = (COUNTDOWN + more).format(start=9) + f"\n    never_compiled = {time.time_ns()}\n"
    file = tmp_path / "countdown.py"
    file.write_text(source, encoding="utf-8")
    game = load_game(str(file))
    assert not is_compiled(game)
    solve(game, tmp_path / "game.h5", method="compiled")
    assert is_compiled(game)
