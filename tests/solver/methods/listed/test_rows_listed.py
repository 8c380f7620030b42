"""Games whose positions have several words, solved in lists: held against one word, and against interpreted rules."""

from contextlib import suppress
from dataclasses import replace
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from retrograde.databases import open_database
from retrograde.games import CHANCE, LOSE, UNDECIDED, Game, RuleError
from retrograde.games.catalog import load_game
from retrograde.solver.engine import solve
from retrograde.solver.estimation.amounts import Range
from retrograde.solver.estimation.estimate import SampleSizes, add_cycles, estimate, put_counts
from retrograde.solver.estimation.sampling import Sampler
from retrograde.solver.methods.listed.explore.kernels import TierLists, gallop_rows
from retrograde.solver.methods.listed.explore.tasks import merge, merge_sorted
from retrograde.solver.methods.listed.spill.packing import distinct
from retrograde.solver.options import CannotSolve
from retrograde.solver.rules.expansion import Expander
from retrograde.solver.rules.kernels import Matrix
from retrograde.solver.rules.positions import from_items, to_items
from retrograde.solver.runtime.memory import MemoryBudget, MemoryLimit
from retrograde.solver.runtime.sizes import Sizes
from retrograde.solver.verification.verify import verify
from tests.helpers import apart
from tests.helpers.apart import Apart, InOne, WithParents
from tests.helpers.elsewhere import Elsewhere
from tests.helpers.marks import thorough, thorough_but
from tests.helpers.solving import Stop, counts, stop_at
from tests.helpers.wide import OneConnectFour, TallPawns, WideConnectFour, WideTicTacToe, graph_of

words = st.one_of(st.integers(0, 3), st.integers(0, (1 << 62) - 1), st.integers(0, 40).map(lambda shift: 5 << shift))
lists_of_rows = st.integers(2, 3).flatmap(lambda width: st.lists(st.tuples(*[words] * width), min_size=1))
lists_of_three = st.lists(st.tuples(*[words] * 3), min_size=1)


def rows_of(positions):
    return np.array(positions, np.int64)


def positions_of(rows):
    return [*map(tuple, rows.tolist())]


@settings(max_examples=40)
@given(lists_of_three, st.randoms())
def test_rows_are_sorted_merged_and_subtracted_as_tuples_are(positions, random):
    """Compiled, for the machine code has functions of its own for rows."""
    parts = [positions, random.choices(positions, k=5)]
    found = distinct([rows_of(part) for part in parts])
    expected = sorted({*positions})
    assert positions_of(found) == expected
    known = [position for position in expected if random.random() < 0.5]
    new = [position for position in expected if position not in {*known}]
    halves = [half for half in (known[::2], known[1::2]) if half]
    (_, rest), = merge([(3, [rows_of(positions)], [rows_of(half) for half in halves])])  # fmt: skip
    assert positions_of(rest) == new
    some = [rows_of(part) for part in (new, known[::2], known[1::2]) if part]
    assert positions_of(merge_sorted(some)) == expected


def test_words_of_all_bits_are_sorted():
    positions = [(0, 1 << bit) for bit in range(62)] + [((1 << 62) - 1, 1 << bit) for bit in range(62)]
    assert positions_of(distinct([rows_of(positions[::-1])])) == positions


@pytest.mark.thorough
def test_many_rows_are_sorted():
    random = np.random.default_rng(1)
    rows = random.integers(0, [1 << 62, 3, 1 << 12], (60_000, 3))[random.integers(0, 60_000, 100_000)]
    assert positions_of(distinct([rows])) == sorted({*positions_of(rows)})


@given(lists_of_rows)
def test_packed_rows_sort_as_tuples_do(positions):
    items = np.sort(to_items(rows_of(positions)))
    assert positions_of(from_items(items, len(positions[0]))) == sorted(positions)


@pytest.mark.as_python
@pytest.mark.parametrize("in_order", [False, True])
def test_children_are_where_dictionaries_say(in_order):
    random = Random(2)
    tiers = [3, 5, 8]
    own = {
        tier: sorted({(random.randrange(5), random.randrange(40)) for _ in range(count)})
        for tier, count in zip(tiers, (150, 1, 30), strict=True)
    }
    starts = np.cumsum([0, *map(len, own.values())])
    where = {(tier, p): int(starts[k]) + i for k, tier in enumerate(tiers) for i, p in enumerate(own[tier])}
    asked = [(random.randrange(2, 10), (random.randrange(5), random.randrange(42))) for _ in range(560)]
    asked += [(3, (-1, -1)) for _ in range(40)]
    random.shuffle(asked)
    table = [asked[begin : begin + 30] for begin in range(0, 600, 30)]
    table = [sorted(row) for row in table] if in_order else table
    nothing = np.empty(0, np.int64)
    children = rows_of([[child for _, child in row] for row in table])
    child_tiers = rows_of([[tier for tier, _ in row] for row in table])
    matrix = Matrix(children, child_tiers, nothing, nothing, nothing, nothing)
    lists = TierLists(np.array(tiers), starts, rows_of([p for some in own.values() for p in some]))
    places = np.zeros(child_tiers.shape, np.int64)
    missing = gallop_rows(30, matrix, lists, places, False)
    assert places.tolist() == [[where.get(pair, -1) for pair in row] for row in table]
    assert missing == sum(pair[1][0] >= 0 and pair not in where for row in table for pair in row)
    # From an index that is near, or that says that a child is nowhere.
    near = np.array(
        [[place + random.randint(-9, 9) if place >= 9 else place for place in row] for row in places.tolist()]
    )
    assert gallop_rows(30, matrix, lists, near, True) == missing
    assert near.tolist() == places.tolist()


def graph_with_parents(which):
    """Return a random game in three words whose rules give parents."""
    members = {**vars(type(graph_of(Apart, which))), "parents": WithParents.parents, "__module__": apart.__name__}
    return type("ApartListedWithParents", (Game,), members)()


LISTED_WAYS = {
    "in memory": {},
    "predecessor lists in scratch files": {"sizes": Sizes(predecessors_in_scratch=True, journal_seconds=0)},
    "forward passes": {"sizes": Sizes(predecessors_at_most=0)},
    "lists in scratch files": {"sizes": Sizes(lists_in_scratch=True)},
    "in ranges": {"sizes": Sizes(ranged_slots=1, range_bits=2), "executor": Elsewhere()},
}


@pytest.mark.as_python
@pytest.mark.long
@pytest.mark.parametrize("way", thorough_but(LISTED_WAYS, "in memory", "in ranges"))
def test_random_graphs_have_the_same_bytes_as_interpreted(way, tmp_path, monkeypatch, any_file_replaced):
    for which in range(3):
        for game in (graph_of(Apart, which), graph_with_parents(which)):
            monkeypatch.setattr(apart, type(game).__name__, type(game), raising=False)  # to be sent to other processes
            listed = solve(game, tmp_path / "listed.h5", method="listed", **LISTED_WAYS[way]).read_bytes()
            assert listed == solve(game, tmp_path / "interpreted.h5", method="interpreted").read_bytes()


@pytest.mark.thorough
@pytest.mark.parametrize("game", [thorough(WideTicTacToe()), TallPawns()], ids=lambda game: game.name)
def test_games_have_the_same_bytes_as_interpreted(game, tmp_path):
    listed = solve(game, tmp_path / "listed.h5", method="listed")
    assert listed.read_bytes() == solve(game, tmp_path / "interpreted.h5", method="interpreted").read_bytes()
    with open_database(listed, game=game) as database:
        assert verify(database).ok


@pytest.fixture(scope="module")
def fours(tmp_path_factory):
    return solve(WideConnectFour(4, 3), tmp_path_factory.mktemp("fours") / "fours.h5", method="compiled")


@pytest.mark.thorough
def test_connect_four_in_two_words_is_connect_four(fours, tmp_path):
    assert counts(fours) == counts(solve(load_game("connect4:4,3"), tmp_path / "connect4.h5", method="listed"))
    one_word = solve(OneConnectFour(4, 3), tmp_path / "one.h5", method="listed")
    with (
        open_database(fours, game=WideConnectFour(4, 3)) as wide,
        open_database(one_word, game=OneConnectFour(4, 3)) as one,
    ):
        pairs = zip(
            (np.concatenate(arrays) for arrays in list(zip(*wide.records(), strict=True))[1:]),
            (np.concatenate(arrays) for arrays in list(zip(*one.records(), strict=True))[1:]), strict=True,
        )  # fmt: skip
        (positions, numbers), *outcomes = pairs
        assert (positions[:, 0] << 30 | positions[:, 1] == numbers).all()
        assert all((left == right).all() for left, right in outcomes)


@pytest.mark.thorough
def test_a_stopped_solve_goes_on(fours, tmp_path):
    path, sizes = tmp_path / "fours.h5", Sizes(journal_seconds=0)
    for step in (8, 12, 16):
        with pytest.raises(Stop) if step == 8 else suppress(Stop):
            solve(WideConnectFour(4, 3), path, method="listed", sizes=sizes, listener=stop_at(step))
    assert solve(WideConnectFour(4, 3), path, method="listed", sizes=sizes).read_bytes() == fours.read_bytes()


@pytest.mark.thorough
def test_too_little_memory_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr(MemoryBudget, "free_bytes", lambda self: 10_000)
    with pytest.raises(MemoryLimit, match=r"needs about .* of memory, and the limit is .*; raise it with --memory"):
        solve(WideTicTacToe(), tmp_path / "wide.h5", method="listed")


@pytest.mark.parametrize("method", ["setwise", "numbered"])
def test_other_methods_refuse_such_games(method, tmp_path):
    with pytest.raises(CannotSolve, match="does not number its positions, and they are tuples; leave out the method"):
        solve(WideTicTacToe(), tmp_path / "wide.h5", method=method)


@pytest.mark.thorough
@pytest.mark.parametrize("sizes", [(1000, 300), (30_000, 10_000)])
def test_estimates_are_those_of_one_word(sizes):
    wide, one = (
        replace(Sampler(game, *sizes, 60.0).run(), expansion=0)
        for game in (WideConnectFour(4, 3), OneConnectFour(4, 3))
    )
    assert wide == one


@pytest.mark.as_python
def test_small_games_are_counted():
    found = estimate(WideTicTacToe(), sizes=SampleSizes(10_000, 1000))
    assert (found.records, found.positions, found.complete) == (5478, 5478, True)


@pytest.mark.as_python
@pytest.mark.parametrize("kind", [Apart, InOne])
def test_games_with_cycles_are_estimated_with_lists_in_scratch_files(kind):
    # Small games are solved interpreted, and need no scratch files.
    counts = Sampler(graph_of(kind, 1), 10_000, 1000, 60.0).run()
    found = replace(put_counts(counts), least_memory=1)
    add_cycles(found, counts, Range(1e6, 2e6, 3e6), Range(0, 0, 0))
    assert any("lists of positions and predecessors lie in scratch files" in why for why in found.rests_on)


class ChanceInWords(Game):
    """It is chance's turn at position (1, 0), in rules that do not say so by their metric."""

    start = (3, 0)
    metric = "remoteness"

    def turn(self, position):
        return CHANCE if position == (1, 0) else position[0] % 2

    def generate_moves(self, position):
        yield 1

    def do_move(self, position, move):
        return position[0] - 1, 0

    def primitive(self, position):
        return LOSE if position[0] == 0 else UNDECIDED


@pytest.mark.as_python
def test_a_turn_of_chance_is_told_with_the_words_of_its_position():
    expander = Expander(ChanceInWords())
    positions = np.array([(2, 0)])
    block = expander.expand(0, positions)
    block.indices[:] = 0
    with pytest.raises(RuleError, match=r"position \(1, 0\): it is chance's turn"):
        expander.mark_moves_again(positions, block, block.origins)
