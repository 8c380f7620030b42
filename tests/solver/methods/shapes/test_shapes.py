"""Tiers solved shape by shape: the same bytes as slot by slot, and steps that are compared with the rules."""

from contextlib import suppress
from random import Random

import numpy as np
import pytest

from retrograde.databases import open_database
from retrograde.games import RuleError
from retrograde.games.baghchal import BaghChal
from retrograde.games.catalog import load_game
from retrograde.games.lasker import Lasker
from retrograde.games.morris import Morris
from retrograde.games.quixo import Quixo
from retrograde.games.teeko import Teeko
from retrograde.solver.conformance.check import check
from retrograde.solver.engine import solve
from retrograde.solver.methods.numbered import by_slots
from retrograde.solver.methods.numbered.numbering import SlotNumbering
from retrograde.solver.methods.shapes import kernels
from retrograde.solver.methods.shapes.fit import NotShaped, is_shaped, sections_after, steps_agree
from retrograde.solver.methods.shapes.layout import (
    board_of,
    masks_of,
    ranks_of_lowers,
    ranks_of_uppers,
    sections_of,
    shapes_of,
)
from retrograde.solver.methods.shapes.tiers import ShapeTier
from retrograde.solver.runtime.sizes import Sizes
from retrograde.solver.verification.verify import verify
from tests.helpers.marks import thorough, thorough_but

pytestmark = pytest.mark.long

SMALL = ["quixo:2", "quixo:3", "teeko:3,2", "teeko:3,3", "morris:3", "morris:3,no", "lasker:3"]
SMALL += ["baghchal:3,2,4,2", "baghchal:3,2,4,2,no"]
MOST_SMALL = [name for name in SMALL if name not in ("quixo:3", "morris:3,no", "baghchal:3,2,4,2")]
"""Those of the plain tests: each kind of game is among them."""
LARGE = ["morris:6", "morris:9", "lasker:4", "lasker:10", "teeko", "quixo:5", "morris:5,no"]
LARGE += ["baghchal", "baghchal:placing=no"]


def arrays_of(game):
    """Yield each section with its steps and its arrays."""
    numbering = SlotNumbering.of(game)
    for tier in game.tiers:
        for section, steps, _, arrays in sections_of(game, tier, lambda k: int(numbering.starts[numbering.row(k)]), 14):
            yield section, steps, arrays


def placed(game, section, shape, mask):
    """Return the position with men on the cells of a shape; those in the mask are of the first kind."""
    men = [cell for cell in range(game.cells) if shape >> cell & 1]
    mine = sum(1 << cell for rank, cell in enumerate(men) if mask >> rank & 1)
    return mine | (shape ^ mine) << game.cells | section.number << 2 * game.cells


@pytest.mark.parametrize("variant", thorough_but(SMALL, *MOST_SMALL))
def test_each_slot_is_a_shape_and_a_colouring(variant):
    game = load_game(variant)
    for section, steps, arrays in arrays_of(game):
        for row, shape in enumerate(arrays.shapes.tolist()):
            for rank, mask in enumerate(arrays.masks.tolist()):
                slot = arrays.start + row * len(arrays.masks) + rank
                mine = mask ^ ((1 << shape.bit_count()) - 1) * steps.kind
                position, there = placed(game, section, shape, mine), game.unindex(section.tier, slot)
                # Equal colourings of a symmetric shape: the least has the slot, and the others are empty.
                assert there == game.canonical(position) if game.index(position) == slot else there < 0


@pytest.mark.parametrize("variant", thorough_but(LARGE, "morris:6", "lasker:4", "teeko"))
def test_shapes_of_large_boards_are_numbered_as_positions_are(variant):
    game, random = load_game(variant), Random(3)
    board, declared = board_of(game), game.placements
    for section in random.sample(declared.sections, min(20, len(declared.sections))):
        men = sum(section.men)
        shapes, masks = shapes_of(game, men), masks_of(men, section.men[0])
        starts = [part.start for part in declared.subsections if part.section == section]
        cells = random.sample(range(game.cells), men)
        position = sum(1 << cell + (at >= section.men[0]) * game.cells for at, cell in enumerate(cells))
        row, which = kernels.row_of(board, sum(1 << cell for cell in cells))
        first, last = board.set_begins[which : which + 2]
        assert {kernels.image_of(board, sum(1 << cell for cell in cells), one) for one in board.sets[first:last]} == {
            shapes[row]
        }
        slot = game.index(position | section.number << 2 * game.cells)
        assert divmod(slot - starts[0], len(masks))[0] == row


@pytest.mark.parametrize("men", [0, 1, 2, 7, 12, 13])
def test_ranks_of_colourings_are_sums_of_two_halves(men):
    half = (men + 1) // 2
    for own in range(men + 1):
        masks = masks_of(men, own)
        ranks = ranks_of_lowers()[masks & (1 << half) - 1] + ranks_of_uppers(men)[own, masks >> half]
        assert (ranks == np.arange(len(masks))).all()


@pytest.mark.parametrize("variant", thorough_but(SMALL, *MOST_SMALL))
def test_steps_are_the_moves_of_all_positions(variant):
    game = load_game(variant)
    for section, steps, arrays in arrays_of(game):
        for slot in range(arrays.start, arrays.start + len(arrays.shapes) * len(arrays.masks)):
            position = game.unindex(section.tier, slot)
            assert position < 0 or steps_agree(game, position, steps)


@pytest.mark.parametrize("variant", LARGE)
def test_steps_are_the_moves_of_positions_of_large_boards(variant):
    game, random = load_game(variant), Random(5)
    for section in random.choices(game.placements.sections, k=15):
        steps = game.section_steps(section.men, section.number)
        sections_after(game, section, steps)
        for _ in range(5):
            cells = random.sample(range(game.cells), sum(section.men))
            position = sum(1 << cell + (at >= section.men[0]) * game.cells for at, cell in enumerate(cells))
            assert steps_agree(game, position | section.number << 2 * game.cells, steps)


@pytest.mark.parametrize(
    "variant",
    thorough_but([*SMALL, "morris:4", "morris:4,no", "teeko:4,3", "lasker:4"], "quixo:2", "teeko:3,3"),
)
@pytest.mark.parametrize("in_scratch", [False, True])
def test_same_bytes_as_slot_by_slot(variant, in_scratch, tmp_path, monkeypatch):
    sizes = Sizes(scores_in_scratch=in_scratch)
    game = load_game(variant)
    by_slot = solve(game, tmp_path / "slots.h5", method="numbered", fresh=True, sizes=sizes)
    monkeypatch.setattr("retrograde.solver.methods.shapes.tiers.BLOCK", 64)
    monkeypatch.setattr(by_slots, "solve_by_slots", lambda *_: pytest.fail("it is solved slot by slot"))
    by_shape = solve(game, tmp_path / "shapes.h5", method="setwise", workers=2, fresh=True, sizes=sizes)
    assert by_shape.read_bytes() == by_slot.read_bytes()


@pytest.mark.slow
@pytest.mark.parametrize("variant", ["morris:6", "morris:5,no", "teeko", "quixo:4", "teeko:4", "baghchal:placing=no"])
def test_the_same_bytes_of_larger_games(variant, tmp_path):
    game = load_game(variant)
    by_slot = solve(game, tmp_path / "slots.h5", method="numbered", fresh=True)
    by_shape = solve(game, tmp_path / "shapes.h5", method="setwise", fresh=True)
    assert by_shape.read_bytes() == by_slot.read_bytes()
    with open_database(by_shape, game=game) as database:
        assert verify(database).ok


@pytest.mark.parametrize(
    "variant", thorough_but(["teeko:3,2", "morris:3", "morris:4", "teeko:4,3", "quixo:3"], "morris:3")
)
def test_a_tier_resumes_from_any_remoteness(variant):
    """Later tiers decide some positions long after the checkpoint, and some before it whose moves go on."""
    game = load_game(variant)
    numbering = SlotNumbering.of(game)
    every = np.zeros(numbering.slots, np.uint16)

    class Stop(Exception):
        """The solve is stopped."""

    class Last:
        """A checkpoint at one remoteness, after which the solve stops."""

        progress, is_due = None, False

        def __init__(self, stop=None):
            self.stop, self.is_due = stop, stop is not None

        def save(self, progress, arrays):
            if progress.remoteness >= self.stop:
                self.progress, self.arrays = progress, [array.copy() for array in arrays]
                raise Stop

        def load(self, *arrays):
            for array, content in zip(arrays, self.arrays, strict=True):
                array[:] = content

    resumed = 0
    for row in reversed(range(len(game.tiers))):
        where, tier = numbering.slice_of(row), game.tiers[row]

        def solve_from(checkpoint, tier=tier, where=where):
            scores = np.zeros(where.stop - where.start, np.uint16)
            begin_of = lambda other: int(numbering.starts[numbering.row(other)])  # noqa: E731
            counts = ShapeTier(game, tier, begin_of, every, scores, 14).solve(map, lambda *_: None, checkpoint)
            return scores, counts

        scores, counts = solve_from(Last())
        for stop in range(1, 20, 3):
            checkpoint = Last(stop)
            with suppress(Stop):
                solve_from(checkpoint)
                break
            checkpoint.is_due = False
            again = solve_from(checkpoint)
            assert (again[0] == scores).all()
            assert (again[1] == counts).all()
            resumed += 1
        every[where] = scores
    assert resumed


class Poor(Morris):
    """Men's morris with steps that have no mills."""

    name = "morris"
    men: int = 3

    def section_steps(self, men, number):
        return super().section_steps(men, number)._replace(mills=())


class Jumpy(Teeko):
    """Teeko with steps by which men jump."""

    name = "teeko"
    side: int = 3
    men: int = 2

    def section_steps(self, men, number):
        steps = super().section_steps(men, number)
        return steps._replace(slides=(511,) * 9) if steps.slides else steps


@pytest.mark.parametrize("game", [thorough(Poor()), Jumpy()], ids=["mills", "slides"])
def test_steps_that_differ_from_the_rules_are_refused(game, tmp_path):
    with pytest.raises(RuleError, match=r"section_steps.* differs from the other rules; correct it or leave it out"):
        solve(game, tmp_path / "wrong.h5", method="setwise")
    assert "section_steps" in str(check(game, limit=300, compiled=False).findings)


def test_steps_are_not_inherited():
    class Own(Lasker):
        def free_to_take(self, men):
            return men

    assert is_shaped(load_game("lasker"))
    assert not is_shaped(Own())
    assert all(map(is_shaped, (Morris(), Teeko(), Quixo(), BaghChal())))


def test_steps_that_lead_nowhere_do_not_fit():
    game = load_game("teeko:3,2")
    last = game.placements.sections[-1]
    steps = game.section_steps(last.men, last.number)
    sections_after(game, last, steps)
    for wrong in (steps._replace(slid=0), steps._replace(drops=1, put=1), steps._replace(slid=3)):
        with pytest.raises(NotShaped):
            sections_after(game, last, wrong)


def test_steps_of_hunts_that_lead_to_wrong_sections_do_not_fit():
    game = load_game("baghchal:3,2,4,2,no")
    tigers = next(one for one in game.placements.sections if (one.men, one.number) == ((2, 4), 1))
    steps = game.section_steps(tigers.men, tigers.number)
    sections_after(game, tigers, steps)
    for wrong in (
        steps._replace(slid=1),  # it would be the tigers' turn again
        steps._replace(leapt=2),  # there is no such section
        steps._replace(clears=True, leapt=1),
        steps._replace(kind=1),
    ):
        with pytest.raises(NotShaped):
            sections_after(game, tigers, wrong)
