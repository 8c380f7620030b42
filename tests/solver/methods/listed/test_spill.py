"""Lists in scratch: against NumPy, and whole solves against those in memory, with kills and where memory gets short."""

import re
import subprocess
import sys
import textwrap
from concurrent.futures import ProcessPoolExecutor
from itertools import starmap
from multiprocessing import get_context
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from retrograde.databases import open_database
from retrograde.games.catalog import load_game
from retrograde.games.contract.game import RuleError
from retrograde.solver.engine import solve
from retrograde.solver.methods.listed import cycles
from retrograde.solver.methods.listed.explore import explore, waves
from retrograde.solver.methods.listed.explore.space import SpilledStateSpace
from retrograde.solver.methods.listed.method import ListedMethod
from retrograde.solver.methods.listed.predecessors import lists as predecessor_lists
from retrograde.solver.methods.listed.predecessors import sorting
from retrograde.solver.methods.listed.spill import lists, lookup
from retrograde.solver.methods.listed.spill.kernels import indices_of
from retrograde.solver.methods.listed.store import ListedStore
from retrograde.solver.rules.examine import to_list
from retrograde.solver.rules.positions import to_items
from retrograde.solver.runtime.journal import Journal, Log
from retrograde.solver.runtime.log import EntryLog
from retrograde.solver.runtime.memory import MemoryBudget, MemoryLimit
from retrograde.solver.runtime.scratch import Scratch
from retrograde.solver.runtime.sizes import Sizes
from tests.helpers import tangle, turning
from tests.helpers.apart import Apart
from tests.helpers.marks import thorough_but
from tests.helpers.paths import ROOT
from tests.helpers.solving import Stop, graphs
from tests.helpers.wide import TallPawns, WideConnectFour, WideTicTacToe, graph_of

SPILLED = Sizes(lists_in_scratch=True, journal_seconds=0)
PLAIN = "benchmarks/plain_quixo.py:side=3"
GAMES = ["mutorere", "connect4:3,3,3", "tentozero", PLAIN]
WIDE = {
    "wide": WideTicTacToe,
    "tall": TallPawns,
    "fours": lambda: WideConnectFour(4, 3),
    "graph": lambda: graph_of(Apart, 19),
}
"""Games whose positions have several words: one with cycles and two without tiers among them."""


def cut_small(patch):
    """See to it that there are many blocks, runs, tasks and passes."""
    for module, sizes in {
        lists: {"BLOCK": 8, "MERGED": 32, "RUN": 16},
        lookup: {"LEAST": 10, "MOST": 40, "FIRST": 1, "TOGETHER": 2},
        explore: {"TASK": 7, "LEAST_ARRIVALS": 400},
        waves: {"LOGGED": 20},
        cycles: {"BLOCK": 5, "RESULT_BLOCK": 9, "BYTES_A_LISTED": 1 << 32},
        sorting: {"READ_BITS": 2, "BUCKET_BITS": 3},
        predecessor_lists: {"BUFFER": 60},
    }.items():
        for name, value in sizes.items():
            patch.setattr(module, name, value)


@pytest.fixture
def small(monkeypatch):
    cut_small(monkeypatch)
    monkeypatch.setattr("os.fsync", lambda file: None)  # of many small files, which takes long on a busy disk


# The lists

numbers = st.one_of(st.integers(0, 3), st.integers(0, (1 << 62) - 1))
KINDS = {0: numbers, 2: st.tuples(numbers, numbers), 3: st.tuples(numbers, numbers, numbers)}
"""Positions of so many words, 0 for ints."""
positions = st.sampled_from([*KINDS]).flatmap(lambda width: st.tuples(st.just(width), *[st.lists(KINDS[width])] * 2))


def array_of(positions, width):
    """Return the distinct positions in order, as an array."""
    return np.array(sorted(set(positions)), np.int64).reshape(-1, *[width] * (width > 0))


@pytest.mark.as_python
@given(positions, st.integers(1, 64), st.data())
@settings(max_examples=100)
def test_lists_are_read_as_they_were_put(tmp_path_factory, drawn, block, data):
    scratch = Scratch(tmp_path_factory.mktemp("lists"), 0)
    width, some, others = drawn
    own, known = (array_of(each, width) for each in (some, others))
    missing = sorted(set(some) - set(others))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lists, "BLOCK", block)
        patch.setattr(lists, "MERGED", 3 * block)
        first, second = (lists.write_list(scratch, "some", each) for each in (own, known))
        begin, end = sorted(data.draw(st.integers(0, len(own) + 3)) for _ in range(2))
        assert first[begin:end].tolist() == own[begin:end].tolist()
        low, high = sorted(data.draw(KINDS[width]) for _ in range(2))
        ends = to_items(array_of([low, high], width))
        assert to_list(first.between(ends[0], ends[-1])) == [each for each in to_list(own) if low <= each < high]
        assert first.between(None, None).tolist() == own.tolist()
        assert to_list(lists.subtract(own.copy(), second)) == missing
        halves = [lists.write_list(scratch, "half", each) for each in (own[::2], own[1::2], own[::3])]
        tasks = lists.merge_tasks(scratch, "merged", halves, [second])
        merged = lists.concatenate(scratch, [*starmap(lists.merge, tasks)])
        assert to_list(merged[0 : len(merged)]) == missing


@given(positions)
@settings(max_examples=100)
def test_places_are_those_of_a_dictionary(drawn):
    width, some, asked = drawn
    own, asked = array_of(some, width), sorted(asked + some[::2])
    asked = np.array(asked, np.int64).reshape(-1, *own.shape[1:])
    places = np.empty(len(asked), np.int64)
    indices_of(asked, own, 7, places)
    wanted = {position: 7 + place for place, position in enumerate(to_list(own))}
    assert places.tolist() == [wanted.get(position, -1) for position in to_list(asked)]


# Solves


@pytest.mark.long
@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("variant", [*GAMES[:-1], pytest.param(PLAIN, marks=pytest.mark.thorough)])
def test_the_bytes_are_those_of_a_solve_in_memory(variant, tmp_path):
    game = load_game(variant)
    whole = solve(game, tmp_path / "memory.h5", method=ListedMethod()).read_bytes()
    assert solve(game, tmp_path / "spilled.h5", method=ListedMethod(), sizes=SPILLED, workers=2).read_bytes() == whole
    assert not list(tmp_path.glob("*.scratch"))


@pytest.mark.as_python
@pytest.mark.long
@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("name", thorough_but([*WIDE], "graph"))
def test_the_bytes_of_positions_of_several_words_are_those_of_a_solve_in_memory(name, tmp_path, monkeypatch):
    game = WIDE[name]()
    whole = solve(game, tmp_path / "memory.h5", method="listed").read_bytes()
    assert solve(game, tmp_path / "spilled.h5", method="listed", sizes=SPILLED, workers=2).read_bytes() == whole
    assert not list(tmp_path.glob("*.scratch"))


RULES = [tangle.Tangle, tangle.TangleWithParents, turning.Turning, turning.TurningWithParents, turning.Alone]


@pytest.mark.long
@pytest.mark.parametrize("rules", thorough_but(RULES, tangle.TangleWithParents))
@given(graphs, st.booleans())
@settings(max_examples=5)
def test_random_games(rules, tmp_path_factory, start, propagate):
    """With ties, tiers, symmetry and moves that do not alternate, against the interpreted rules."""
    folder = tmp_path_factory.mktemp("random")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rules, "start", start)
        cut_small(patch)
        game = rules()
        found = solve(game, folder / "spilled.h5", method=ListedMethod(propagate=propagate), sizes=SPILLED)
        assert found.read_bytes() == solve(game, folder / "plain.h5", method="interpreted").read_bytes()


@pytest.mark.thorough
def test_other_processes_look_and_merge_as_well(tmp_path):
    game = load_game("mutorere")
    whole = solve(game, tmp_path / "memory.h5", method=ListedMethod()).read_bytes()
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as executor:
        found = solve(game, tmp_path / "spilled.h5", method=ListedMethod(), sizes=SPILLED, executor=executor)
    assert found.read_bytes() == whole


# Where memory gets short


@pytest.mark.long
@pytest.mark.usefixtures("small")
@pytest.mark.parametrize(
    "variant", ["mutorere", *(pytest.param(name, marks=pytest.mark.thorough) for name in (PLAIN, "tall"))]
)
@pytest.mark.parametrize("share", thorough_but([0.0, 0.1, 0.5, 0.9], 0.5))
def test_lists_go_to_scratch_once_memory_is_short(variant, share, tmp_path, monkeypatch):
    """After a wave, or where what arrives in one has no room."""
    game = WIDE[variant]() if variant in WIDE else load_game(variant)
    whole = solve(game, tmp_path / "memory.h5", method=ListedMethod())
    with open_database(whole, game=game) as database:
        turning_point = int(share * sum(row.stored for row in database.file.legend))
    for name, short in (
        ("memory_is_short", lambda explorer: not explorer.spilled and explorer.found > turning_point),
        ("must_spill", lambda explorer, came: not explorer.spilled and explorer.found > turning_point),
    ):
        with pytest.MonkeyPatch.context() as patch:
            spaces = []
            patch.setattr(explore.Explorer, name, short)
            patch.setattr("retrograde.solver.methods.listed.method.ListedStore", spy(ListedStore, spaces))
            found = solve(game, tmp_path / f"{name}.h5", method=ListedMethod(), sizes=Sizes(journal_seconds=0))
            assert found.read_bytes() == whole.read_bytes()
            assert [type(space) for space in spaces] == [SpilledStateSpace]


def spy(store, spaces):
    """Return what makes a store, and takes note of its state space."""

    def made(game, space, *rest):
        spaces.append(space)
        return store(game, space, *rest)

    return made


def test_it_is_said_at_once_that_not_even_the_scores_have_room(tmp_path, monkeypatch):
    monkeypatch.setattr(MemoryBudget, "free_bytes", lambda budget: 2000)
    with pytest.raises(MemoryLimit, match=r"going on from [\d,]+ positions, with lists in scratch files and scores"):
        solve(load_game(PLAIN), tmp_path / "game.h5", method=ListedMethod(), memory=1 << 40)


LARGE = {
    "from retrograde.games.catalog import load_game; game = load_game('benchmarks/plain_quixo.py:side=4')": 450,
    "from tests.helpers.wide import WideConnectFour; game = WideConnectFour(5, 4)": 350,
}
"""Larger games, and limits in MB. With enough memory, Quixo takes 1.1 GB, and Connect Four in two words 420 MB."""


@pytest.mark.slow
@pytest.mark.parametrize("game", LARGE)
def test_memory_is_kept_to(game, tmp_path):
    """Here by a child that may use less."""
    code = f"""
        import sys
        from retrograde.solver.engine import solve
        from retrograde.solver.runtime.memory import peak_memory
        {game}
        solve(game, sys.argv[1], memory=int(sys.argv[2]))
        print(peak_memory())
    """
    command, limit = [sys.executable, "-c", textwrap.dedent(code)], LARGE[game] * 1_000_000
    peaks = []
    for name, memory in (("much.h5", 4_000_000_000), ("little.h5", limit)):
        arguments = [*command, tmp_path / name, str(memory)]
        peaks.append(int(subprocess.run(arguments, check=True, capture_output=True, text=True, cwd=ROOT).stdout))
    assert (tmp_path / "little.h5").read_bytes() == (tmp_path / "much.h5").read_bytes()
    assert peaks[1] < limit < peaks[0]


# Kills


@pytest.mark.thorough
@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("variant", ["mutorere", "wide", "graph"])
def test_a_solve_that_is_stopped_goes_on_with_more_memory_or_less(variant, tmp_path, monkeypatch):
    """Stopped again and again at any moment, with lists now in memory and now in scratch."""
    game = WIDE[variant]() if variant in WIDE else load_game(variant)
    whole = solve(game, tmp_path / "whole.h5", method=ListedMethod()).read_bytes()
    dice = Random(5)
    for where, name in ((EntryLog, "add"), (Log, "flush")):
        monkeypatch.setattr(where, name, stopping(getattr(where, name), dice))
    done = stops = 0
    while done < 2 or stops < 5:
        sizes = Sizes(
            lists_in_scratch=dice.random() < 0.7, predecessors_in_scratch=dice.random() < 0.5, journal_seconds=0
        )
        try:
            found = solve(game, tmp_path / "game.h5", method=ListedMethod(), sizes=sizes)
        except Stop:
            stops += 1
            continue
        assert found.read_bytes() == whole
        found.unlink()
        done += 1


@pytest.mark.long
@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("pieces", thorough_but([2, 4, 9], 4))
def test_pieces_of_a_wave_are_forgotten_where_it_is_found_whole(pieces, tmp_path, monkeypatch):
    """Stopped within a wave in scratch, then after that wave in memory."""
    game = load_game("mutorere")
    whole = solve(game, tmp_path / "whole.h5", method=ListedMethod()).read_bytes()
    for sizes, count in ((SPILLED, pieces), (Sizes(journal_seconds=0), 1)):
        with monkeypatch.context() as patch:
            patch.setattr(Journal, "append", stopping_at(Journal.append, "waves", count))
            with pytest.raises(Stop):
                solve(game, tmp_path / "game.h5", method=ListedMethod(), sizes=sizes)
    found = solve(game, tmp_path / "game.h5", method=ListedMethod(), sizes=Sizes(journal_seconds=0))
    assert found.read_bytes() == whole


def stopping_at(append, name, count):
    """Return what appends to a journal, and stops the solve after so many entries of a name."""
    left = [count]

    def appended(journal, what, *arrays):
        append(journal, what, *arrays)
        left[0] -= what == name
        if not left[0]:
            raise Stop

    return appended


def stopping(add, dice):
    """Return what notes something in the journal, and sometimes stops the solve then."""

    def added(*args):
        add(*args)
        if dice.random() < 0.01:
            raise Stop

    return added


# Rules that are not to be trusted


@pytest.mark.usefixtures("solver_alone")
def test_moves_that_were_not_there_before_are_told(tmp_path, monkeypatch):
    nowhere = lambda *task: [np.full(len(asked), -1, task[-1]) for asked in task[-2]]  # noqa: E731
    monkeypatch.setattr(lookup, "find_children", nowhere)
    message = "the rules give moves that they did not give before; they must depend on the position alone"
    with pytest.raises(RuleError, match=re.escape(message)):
        solve(load_game("mutorere"), tmp_path / "game.h5", method=ListedMethod(), sizes=SPILLED)
