"""Rewards in tiers with cycles by slot: proven bounds, held against a slow solver, the way over lists, and `verify`."""

from fractions import Fraction

import numpy as np
import pytest

from retrograde.databases import open_database
from retrograde.databases.bounds.write import SolvedBounds
from retrograde.databases.legend import Measures
from retrograde.databases.write import write_database
from retrograde.games import CHANCE, UNDECIDED, RuleError
from retrograde.solver.engine import solve
from retrograde.solver.metrics.slots import chunks
from retrograde.solver.metrics.slots.store import SlotStore
from retrograde.solver.runtime.work import MetricNotApplicable
from retrograde.solver.verification.verify import verify
from tests.helpers.expectimax import children_of, paid, rewarded
from tests.helpers.paying import Endless, Payments, Slow
from tests.helpers.slotted import GRAPHS, first_of

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def payments(tmp_path_factory):
    """A database of all graphs."""
    return solve(Payments(), tmp_path_factory.mktemp("payments") / "payments.h5", method="numbered")


def worth_of(game):
    """Return what every position that play reaches is worth to player 0, by looking at all of them again and again."""
    children = children_of(game)
    worth = {position: float(paid(game, position)) if not below else 0.0 for position, below in children.items()}
    change = 1.0
    while change > 1e-13:
        change = 0.0
        for position, below in children.items():
            if below:
                moves = zip(game.generate_moves(position), below, strict=True)
                brings = [(worth[child] + rewarded(game, position, move), weight) for move, (child, weight) in moves]
                if game.turn(position) == CHANCE:
                    now = sum(value * weight for value, weight in brings) / sum(weight for _, weight in brings)
                else:
                    now = (min if game.turn(position) else max)(value for value, _ in brings)
                change = max(change, abs(now - worth[position]) / max(1.0, abs(now)))
                worth[position] = now
    return worth


def told(database, position):
    """Return the bounds of a position for player 0."""
    low, high = (bound / database.file.details["scale"] for bound in database.measures(position).values())
    return (-high, -low) if database.game.turn(position) == 1 else (low, high)


def test_bounds_hold_what_a_slow_solver_finds(payments, monkeypatch):
    looked_at = 0
    with open_database(payments, game=Payments()) as database:
        assert verify(database).ok
        for number in range(GRAPHS):
            monkeypatch.setattr(Payments, "start", first_of(number))
            for position, worth in worth_of(Payments()).items():
                low, high = told(database, position)
                assert low - 1e-9 <= worth <= high + 1e-9, position
                assert high - low < 1e-9
                looked_at += 1
        assert Fraction(database.file.details["error"]) < Fraction(1, 10**9)
    assert looked_at > 3 * GRAPHS


def test_the_way_over_lists_finds_the_same(payments, tmp_path, monkeypatch):
    with open_database(payments, game=Payments()) as database:
        for number in (1, 13, 37, 61, 95):
            monkeypatch.setattr(Payments, "start", first_of(number))
            game = Payments()
            with open_database(solve(game, tmp_path / f"{number}.h5", method="listed"), game=game) as other:
                for _, positions, *_ in other.records():
                    for position in positions.tolist():
                        low, high = told(database, position)
                        other_low, other_high = told(other, position)
                        assert max(low, other_low) <= min(high, other_high)


@pytest.mark.parametrize("workers", [1, 3])
def test_the_number_of_workers_changes_no_byte(payments, tmp_path, workers):
    path = solve(Payments(), tmp_path / "other.h5", method="numbered", workers=workers)
    assert path.read_bytes() == payments.read_bytes()


def test_rules_instead_of_scripts_change_no_byte(payments, tmp_path, monkeypatch):
    monkeypatch.setattr(SlotStore, "shares_memory", False)
    assert solve(Payments(), tmp_path / "plain.h5", method="numbered").read_bytes() == payments.read_bytes()


@pytest.mark.thorough
def test_scripts_that_are_not_kept_change_no_byte(payments, tmp_path, monkeypatch):
    monkeypatch.setattr(chunks, "MOST_WORDS", 0)
    assert solve(Payments(), tmp_path / "again.h5", method="numbered").read_bytes() == payments.read_bytes()


@pytest.mark.thorough
@pytest.mark.parametrize(("kind", "amounts"), [(Payments, 1), (Payments, 10_000_000), (Slow, 1), (Slow, 20_000)])
def test_small_and_great_amounts_are_proven_as_well(kind, amounts, tmp_path, monkeypatch):
    monkeypatch.setattr(kind, "start", first_of(37))
    game = kind(amounts)
    with open_database(solve(game, tmp_path / "amounts.h5", method="numbered"), game=game) as database:
        assert verify(database).ok
        for position, worth in worth_of(game).items():
            low, high = told(database, position)
            slack = 1e-6 * max(1.0, abs(worth))
            assert low - slack <= worth <= high + slack
            assert high - low <= slack


@pytest.mark.thorough
def test_what_adds_up_to_too_much_is_refused(tmp_path):
    with pytest.raises(MetricNotApplicable, match="adds up to 2"):
        solve(Slow(10_000_000), tmp_path / "much.h5", method="numbered")
    assert not (tmp_path / "much.h5").exists()


def test_bounds_that_are_not_proven_are_found(payments, tmp_path):
    with open_database(payments, game=Payments()) as database:
        contents, file = database.file.contents, database.file
        low, high = contents.all_bounds(0, contents.length)
        numbers, begins = contents.tiers
        first, end = int(begins[-2]), int(begins[-1])
        game = Payments()
        there = [
            slot for slot in range(first, end)
            if (position := game.unindex(int(numbers[-1]), slot - first)) >= 0 and game.primitive(position) == UNDECIDED
        ]  # fmt: skip
        for slot in there[:: len(there) // 4]:
            wrong = low.copy()
            wrong[slot] += 1 << 20
            measures = Measures("expectation", file.measures, file.details)
            start = tuple(file.start_outcome.measures)
            solved = SolvedBounds(*contents.tiers, file.legend, [(wrong, np.maximum(wrong, high))], measures, start)
            path = write_database(tmp_path / "wrong.h5", game, solved)
            with open_database(path, game=game) as other:
                found = verify(other)
            assert game.unindex(int(numbers[-1]), slot - first) in [problem.position for problem in found.problems]


@pytest.mark.thorough
@pytest.mark.parametrize("way", ["numbered", None])
def test_where_players_may_go_on_for_ever_that_is_refused(way, tmp_path):
    with pytest.raises(RuleError, match="moves pay a reward, and from here players may go on for ever"):
        solve(Endless(), tmp_path / "endless.h5", method=way)
    assert not (tmp_path / "endless.h5").exists()
