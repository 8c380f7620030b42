"""Numberings of games with chance that leave positions out, each with one thing wrong, and what `check` says of it."""

import re

import pytest

from retrograde.games.catalog import load_game
from retrograde.games.ur import Ur
from retrograde.solver.conformance.check import check


class NoTier(Ur):
    @property
    def tiers(self):
        return super().tiers[1:]


class FarIndex(Ur):
    def index(self, position):
        slot = super().index(position)
        return slot + 10_000 if slot > 50 else slot


class NextSlot(Ur):
    def unindex(self, tier, i):
        return super().unindex(tier, i + 1 if i == 77 else i)


class FractionIndex(Ur):
    def index(self, position):
        return super().index(position) / 1


class AllLeftOut(Ur):
    """Pieces are taken and set in anew, so that play goes round."""

    def index(self, position):
        return -1


class SameTurn(Ur):
    def swapped(self, position):
        return position


class OtherBoard(Ur):
    """The turn is exchanged, and the board is not."""

    def swapped(self, position):
        return position ^ self.turn_bit


BROKEN = {
    NoTier: ("tiers", r"do not have its tier, \d+; list all tiers with slots"),
    FarIndex: ("index", r"gives 1\d{4}, and size\(\d+\) is \d+"),
    NextSlot: ("unindex", r"gives -?\d+ for its slot, 77 of tier \d+; it must give the canonical position"),
    FractionIndex: ("index", r"gives -?\d+\.0; it must give an int"),
    AllLeftOut: ("index", "play goes round among positions without a slot; give some of them one"),
    SameTurn: ("swapped", "where the turn is that of [01]"),
    OtherBoard: ("swapped", "the game is over in one of the two only|not lead to the same positions|which pays"),
}


@pytest.mark.thorough
@pytest.mark.parametrize("kind", BROKEN, ids=lambda kind: kind.__name__)
def test_each_breach_is_found_and_no_other(kind):
    rule, said = BROKEN[kind]
    report = check(kind(pieces=2 if kind is NoTier else 1), limit=3000, seconds=60, compiled=False)
    (finding,) = report.findings
    assert finding.rule == rule
    assert re.search(said, finding.complaint), finding


@pytest.mark.thorough
@pytest.mark.parametrize("variant", ["ur:1", "yahtzee:categories=1"])
def test_ours_keep_it(variant):
    report = check(load_game(variant), limit=400, seconds=60, compiled=False)
    assert report.findings == []
    assert report.checks["index"] >= 400 and report.checks["unindex"] > 3
