"""Games with a dense numbering: random ones against the slow and obvious solver, one way against another, bad rules."""

import dataclasses
import json
import random
import subprocess
import sys
from collections import Counter
from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given, settings

from retrograde.databases import DamagedDatabase, NotADatabase, SolvedSlots, open_database, write_database
from retrograde.databases.file import DatabaseFile
from retrograde.games import DRAW, LOSE, UNDECIDED, WIN, Game, RetrogradeError, RuleError
from retrograde.games.catalog import load_game
from retrograde.solver.conformance.check import check
from retrograde.solver.engine import solve
from retrograde.solver.methods.numbered.store import NumberedStore
from retrograde.solver.runtime.journal import Log
from retrograde.solver.runtime.memory import MemoryLimit
from retrograde.solver.runtime.sizes import Sizes
from retrograde.solver.values.score import PRIMITIVE, RemotenessOverflow, TooManyChildren, narrow_counters
from retrograde.solver.verification.verify import verify
from tests.helpers import reference, tangle
from tests.helpers.marks import thorough, thorough_but
from tests.helpers.solving import Stop, counts, graphs, in_one_file, outcomes

GAME = tangle.DenseTangle()
LARGEST = tangle.position_of(31, True, 0, 3, 63)


@pytest.fixture(scope="module")
def path(tmp_path_factory, any_file_replaced):
    return tmp_path_factory.mktemp("dense") / "game.h5"


def from_graph(patch, start):
    """Set the graph that the game is about, and return all its nodes."""
    patch.setattr(tangle.DenseTangle, "start", start)
    return [start - (start & 127) + node for node in range(2 * GAME.pairs(start))]


WAYS = {
    "interpreted": (GAME, True, Sizes()),
    "compiled": (GAME, False, Sizes()),
    "without parents": (tangle.DenseTangleWithoutParents(), False, Sizes()),
    "scores in a file": (GAME, False, Sizes(scores_in_scratch=True)),
    "without parents, all in scratch": (
        tangle.DenseTangleWithoutParents(),
        False,
        Sizes(predecessors_in_scratch=True, scores_in_scratch=True),
    ),
    "without parents, predecessors in scratch": (
        tangle.DenseTangleWithoutParents(),
        False,
        Sizes(predecessors_in_scratch=True),
    ),
}


@pytest.mark.usefixtures("solver_alone")
@pytest.mark.parametrize("way", thorough_but(WAYS, "interpreted", "without parents, all in scratch"))
@settings(max_examples=12)
@given(start=graphs)
def test_random_games(way, path, start):
    game, interpreted, sizes = WAYS[way]
    with pytest.MonkeyPatch.context() as patch:
        nodes = from_graph(patch, start)
        solve(game, path, method="interpreted" if interpreted else "compiled", fresh=True, sizes=sizes)
        solution = reference.solve(game, symmetric=True, starts=nodes)
        assert outcomes(path, game) == solution
        assert counts(path) == reference.counts_of_classes(game, solution)
        by_part = Counter()
        for tier in game.tiers:
            (_, half), _ = game.parts(tier)
            for slot in range(game.size(tier)):
                if (position := game.unindex(tier, slot)) >= 0:
                    by_part[tier, int(slot >= half), *solution[position]] += 1
        file = DatabaseFile(path)
        found = {}
        for row in file.contents.counts:
            value, plies = file.legend[row.outcome][:2]
            found[row.tier, row.part, value, None if value == DRAW else plies] = row.stored
        assert found == by_part
        assert file.start_outcome.value == solution[game.canonical(start)][0]
        with open_database(path, game=game) as database:
            assert all(database[node] == solution[game.canonical(node)] for node in nodes)
            values, _ = database.lookup(nodes)
            assert values.tolist() == [solution[game.canonical(node)][0] for node in nodes]
            assert database.get(start ^ 1 << 18) is None  # a node of another graph
            assert verify(database, interpreted=True).ok


def test_random_games_have_everything():
    """The games above are worth testing with: they have all values, long wins, and draws that are ends."""
    found, longest, ends = set(), 0, 0
    for seed in range(60):
        with pytest.MonkeyPatch.context() as patch:
            nodes = from_graph(patch, tangle.position_of(seed, bool(seed & 1), 0, seed & 3, 63))
            solution = reference.solve(GAME, symmetric=True, starts=nodes)
            ends += sum(GAME.primitive(node) == DRAW for node in nodes)
        found |= {value for value, _ in solution.values()}
        longest = max(longest, *(remoteness or 0 for _, remoteness in solution.values()))
    assert len(found) == 4 and longest >= 8 and ends


def test_same_bytes_however_it_is_solved(tmp_path, monkeypatch):
    from_graph(monkeypatch, LARGEST)
    files = [
        solve(GAME, tmp_path / "interpreted.h5", method="interpreted"),
        solve(GAME, tmp_path / "one.h5", method="compiled", workers=1, fresh=True),
        solve(GAME, tmp_path / "three.h5", method="compiled", workers=3, sizes=Sizes(journal_seconds=0), fresh=True),
        solve(GAME, tmp_path / "taken.h5", method="compiled"),  # all from the others
    ]
    assert len({file.read_bytes() for file in files}) == 1
    wide = Sizes(plies_bits=(4, 30))
    assert (
        solve(GAME, tmp_path / "wide.h5", method="numbered", fresh=True, sizes=wide).read_bytes()
        == files[0].read_bytes()
    )
    assert not list(tmp_path.glob("*.journal"))


@pytest.mark.thorough
@pytest.mark.usefixtures("solver_alone")
@pytest.mark.parametrize("listed", [0, 3, 30])
@settings(max_examples=20)
@given(start=graphs)
def test_where_memory_is_short_positions_are_looked_for_and_the_bytes_are_the_same(path, listed, start):
    """With parents given or found, sums of 8 bits, and several stretches to a tier."""
    with pytest.MonkeyPatch.context() as patch:
        from_graph(patch, start)
        for game in (GAME, tangle.DenseTangleWithoutParents()):
            whole = solve(game, path, method="compiled", fresh=True).read_bytes()
            with pytest.MonkeyPatch.context() as short:
                short.setattr("retrograde.solver.methods.numbered.by_slots.least_listed", lambda *_: listed)
                short.setattr("retrograde.solver.methods.numbered.by_slots.BYTES_A_LISTED", 1 << 60)
                short.setattr("retrograde.solver.methods.numbered.by_slots.checksum_type", lambda *_: np.uint8)
                short.setattr("retrograde.solver.values.propagation.BLOCK", 16)
                sizes = Sizes(scores_in_scratch=True, predecessors_in_scratch=bool(listed & 1))
                assert solve(game, path, method="compiled", fresh=True, sizes=sizes).read_bytes() == whole


def test_too_many_children_for_a_byte_are_counted_in_more():
    """What is left is told from what is decided; where it cannot be, scores with more bits go with wider counts."""
    left = np.array([0, 1, 253, PRIMITIVE], np.uint16)
    assert narrow_counters(left, 14).tolist() == [0, 1, 253, 255]
    for count in (254, 255, 256):
        with pytest.raises(RemotenessOverflow):
            narrow_counters(np.array([count], np.uint16), 14)
        assert narrow_counters(np.array([count, PRIMITIVE], np.uint16), 30).tolist() == [count, PRIMITIVE]
    with pytest.raises(TooManyChildren, match="65,534 children or more in its tier"):
        narrow_counters(np.array([PRIMITIVE - 1], np.uint16), 30)


@pytest.mark.thorough
def test_goes_on_from_any_prefix_of_the_journal(tmp_path, monkeypatch):
    from_graph(monkeypatch, LARGEST)
    whole = solve(GAME, tmp_path / "whole.h5", method="compiled", fresh=True).read_bytes()
    (tmp_path / "whole.h5").unlink()  # or its tiers would be taken
    journal = tmp_path / "killed.h5.journal"

    def stop_when_writing(progress):
        if progress.phase == "writing":
            raise Stop

    with pytest.raises(Stop):
        solve(
            GAME, tmp_path / "killed.h5", method="compiled", sizes=Sizes(journal_seconds=0), listener=stop_when_writing
        )
    entries = journal.read_bytes()
    dice, resumed = random.Random(4), 0
    for _ in range(12):
        end = dice.randrange(len(entries) + 1)
        journal.write_bytes(entries[:end] + dice.randbytes(dice.choice([0, 1, 7, 1000])))
        events = []
        solve(GAME, tmp_path / "killed.h5", method="compiled", listener=events.append)
        assert (tmp_path / "killed.h5").read_bytes() == whole
        (tmp_path / "killed.h5").unlink()
        resumed += any(event.resumed for event in events)
    assert resumed >= 6


@pytest.mark.parametrize("changes", [50, thorough(400)])
def test_damage_is_noticed_or_does_no_harm(changes, tmp_path, monkeypatch):
    nodes = from_graph(monkeypatch, LARGEST)
    good = solve(GAME, tmp_path / "game.h5", method="compiled", fresh=True).read_bytes()
    with open_database(tmp_path / "game.h5", game=GAME) as database:
        right = [database[node] for node in nodes]
    dice, noticed = random.Random(5), 0
    for _ in range(changes):
        bad = bytearray(good)
        bad[dice.randrange(len(bad))] ^= 1 << dice.randrange(8)
        (tmp_path / "bad.h5").write_bytes(bad)
        try:
            with open_database(tmp_path / "bad.h5", game=GAME) as database:
                assert [database[node] for node in nodes] == right
        except (DamagedDatabase, NotADatabase, RetrogradeError):
            noticed += 1
    assert noticed > changes // 2


# Tiers taken from other databases


def test_tiers_are_taken_from_other_databases(tmp_path, monkeypatch):
    """Rook against bare king out of the database of pawn against bare king, not solved again; the same bytes. (Of chess
    that was so before each ending had a database of its own.)"""
    monkeypatch.setenv("RETROGRADE_HOME", str(tmp_path / "home"))
    solved = []
    solve_tier = NumberedStore.solve

    def noted(self, k, phase):
        for done in solve_tier(self, k, phase):
            solved.append(k)
            yield done

    with in_one_file():
        solve(load_game("chess:KPK"), tmp_path / "pawn.h5", method="compiled")
        monkeypatch.setattr(NumberedStore, "solve", noted)
        taken = solve(load_game("chess:KRK"), tmp_path / "rook.h5", method="compiled").read_bytes()
        assert not solved
        assert solve(load_game("chess:KRK"), tmp_path / "rook.h5", fresh=True).read_bytes() == taken
        assert len(solved) == 2
        damaged = bytearray((tmp_path / "pawn.h5").read_bytes())
        for i in range(len(damaged) // 4, len(damaged) // 2):
            damaged[i] ^= 0x55
        (tmp_path / "pawn.h5").write_bytes(damaged)
        (tmp_path / "rook.h5").unlink()
        assert solve(load_game("chess:KRK"), tmp_path / "rook.h5").read_bytes() == taken


# Limits and bad rules


def test_too_little_memory_is_said_before_it_runs_out(path):
    with pytest.raises(MemoryLimit, match=r"slots of positions needs about .* raise it with --memory"):
        solve(load_game("chess:KQPKQ"), path, memory=300_000_000)


class Ring(Game):
    """Walk around a ring one or two steps; who comes to 0 has lost. One thing may be wrong."""

    fault: int = 0

    tiers = (0,)

    def size(self, tier):
        return 90 if self.fault == 1 else 100

    def index(self, position):
        return (position + 1) % 100 if self.fault == 2 else position

    def unindex(self, tier, i):
        return i

    def generate_moves(self, position):
        yield 1
        yield 2

    def do_move(self, position, move):
        return (position + move) % 100

    def primitive(self, position):
        return LOSE if position == 0 else UNDECIDED

    def tier(self, position):
        return 1 if self.fault == 3 and position == 0 else 0

    def parents(self, position):
        yield (position - 1) % 100
        if self.fault != 4:
            yield (position - 2) % 100

    def parts(self, tier):
        return [("all", 99 if self.fault == 5 else self.size(tier))]


class OddNames(Ring):
    """A family in which positions mean something else."""

    @property
    def family(self):
        return Chain()


class NoParents(Ring):
    """A numbering without parents."""

    parents = Game.parents


@pytest.mark.parametrize("interpreted", [True, False])
def test_the_ring_without_fault(path, interpreted):
    game = Ring()
    solve(game, path, method="interpreted" if interpreted else "compiled")
    assert outcomes(path, game) == reference.solve(game, starts=range(100))


FAULTS = {
    1: r"index\(\) gives 9\d, and size\(0\) is 90",
    2: r"position \d+: unindex\(0, \d+\) gives it, and its slot is \d+ of tier 0",
    3: "is in tier 1, which is not among the tiers",
    5: r"parts\(0\) have 99 slots, and size\(0\) is 100",
}


@pytest.mark.thorough
@pytest.mark.usefixtures("solver_alone")
@pytest.mark.parametrize("fault", FAULTS)
def test_numberings_that_are_wrong(path, fault):
    with pytest.raises(RuleError, match=FAULTS[fault]):
        solve(Ring(fault), path, method="compiled")


@pytest.mark.thorough
@pytest.mark.parametrize("in_scratch", thorough_but([False, True], True))
def test_without_parents_links_are_found_from_the_front(path, in_scratch):
    solve(NoParents(), path, method="compiled", fresh=True, sizes=Sizes(predecessors_in_scratch=in_scratch))
    assert outcomes(path, NoParents()) == reference.solve(Ring(), starts=range(100))
    assert not check(NoParents()).findings


@pytest.mark.thorough
def test_scores_in_a_file_that_a_kill_has_left_half_written_are_made_anew(path, tmp_path, monkeypatch):
    """A solve is stopped behind each tier, and what it has left in the file is damaged now and then."""
    monkeypatch.setattr(tangle.DenseTangle, "start", LARGEST)
    whole = solve(GAME, path, method="compiled", fresh=True).read_bytes()
    dice, kept, write = random.Random(1), [], Log.write
    keep = NumberedStore.keep
    monkeypatch.setattr(NumberedStore, "keep", lambda self, done: kept.append(keep(self, done)) or kept[-1])

    def write_and_stop(log):
        write(log)
        raise Stop

    path = tmp_path / "game.h5"
    sizes = Sizes(scores_in_scratch=True, journal_seconds=0)
    for turn in range(12):
        with monkeypatch.context() as patch:
            if turn < 11:
                patch.setattr(Log, "write", write_and_stop)
            with suppress(Stop):
                solve(GAME, path, method="compiled", sizes=sizes)
        for file in (tmp_path / "game.h5.scratch").glob("*.kept"):
            if turn % 3 == 2:
                scores = bytearray(file.read_bytes())
                scores[dice.randrange(len(scores))] ^= 64
                file.write_bytes(scores)
    assert path.read_bytes() == whole
    assert sum(one.tier is None for one in kept) > 0  # damaged, and found so
    assert sum(one.records > 0 for one in kept) > len(GAME.tiers)


class Chain(Ring):
    """A long way to the end: remoteness beyond what fits 14 bits."""

    def size(self, tier):
        return 20_000

    def generate_moves(self, position):
        yield 1

    def do_move(self, position, move):
        return position - 1

    def parents(self, position):
        if position < 19_999:
            yield position + 1


@pytest.mark.thorough
def test_remoteness_beyond_14_bits(path):
    game = Chain()
    solve(game, path, method="compiled")
    with open_database(path, game=game) as database:
        assert database[19_999] == (WIN, 19_999) and database[16_384] == (LOSE, 16_384)


CHECKED = {
    1: ("index", "and size(0) is 90"),
    2: ("unindex", "it must give the canonical position"),
    3: ("tiers", "do not have its tier, 1; list all tiers"),
    4: ("parents", "does not yield"),
    5: ("parts", "have 99 slots, and size(0) is 100"),
}


@pytest.mark.parametrize("fault", CHECKED)
def test_check_finds_what_is_wrong(fault):
    rule, complaint = CHECKED[fault]
    finding = check(Ring(fault)).findings[0]
    assert complaint in str(finding)
    assert finding.rule == rule


@pytest.mark.thorough
def test_check_of_other_numberings():
    assert check(Ring()).ok
    assert check(GAME, limit=500).ok
    assert check(OddNames()).findings[0].rule == "family"


# Verification


def altered(game, path, outcomes=None, **changes):
    """Write a database again with other contents, and return what verification says of it, both ways."""
    with DatabaseFile(path) as file:
        numbers, bounds = file.contents.tiers
        start = file.legend.index(file.start_outcome) if file.start_outcome else None
        rows = file.contents.all_slots() if outcomes is None else outcomes
        solved = SolvedSlots(numbers, bounds, file.legend, file.contents.counts, rows, start)
    write_database(path.with_name("altered.h5"), game, dataclasses.replace(solved, **changes))
    with open_database(path.with_name("altered.h5"), game=game) as database:
        return [verify(database, interpreted=interpreted) for interpreted in (True, False)]


@pytest.mark.thorough
def test_verify_finds_each_wrong_slot(tmp_path, monkeypatch):
    from_graph(monkeypatch, LARGEST)
    path = solve(GAME, tmp_path / "game.h5", method="compiled")
    assert all(report.ok for report in altered(GAME, path))
    file = DatabaseFile(path)
    dice = random.Random(3)
    places = [place for place in range(file.contents.length) if place % 2 == 0 or dice.random() < 0.2]
    numbers, bounds = (column.tolist() for column in file.contents.tiers)
    for place in dice.sample(places, 25):
        outcomes = file.contents.all_slots()
        outcomes[place] = (outcomes[place] + 1) % len(file.legend)
        k = next(k for k in range(len(numbers)) if bounds[k] <= place < bounds[k + 1])
        position = GAME.unindex(numbers[k], place - bounds[k])
        for report in altered(GAME, path, outcomes):
            assert report.ok == (position < 0)
            assert position < 0 or any(problem.position == position for problem in report.problems)


@pytest.mark.thorough
def test_verify_finds_wrong_counts(tmp_path, monkeypatch):
    from_graph(monkeypatch, LARGEST)
    path = solve(GAME, tmp_path / "game.h5", method="compiled")
    counts = DatabaseFile(path).contents.counts
    same = next(k for k in range(1, len(counts)) if counts[k].outcome == counts[0].outcome)
    for change in ({"example": counts[0].example ^ 2}, {"positions": 3}, {"stored": 0}):
        wrong = list(counts)
        wrong[0] = wrong[0]._replace(**change)
        if "stored" in change:  # they still add up
            wrong[same] = wrong[same]._replace(stored=wrong[same].stored + counts[0].stored)
        assert not any(report.ok for report in altered(GAME, path, counts=wrong))


@pytest.mark.thorough
def test_verify_chess(solved):
    game = load_game("chess:KRK")
    path = solved("chess:KRK")
    with open_database(path, game=game) as database:
        assert verify(database, interpreted=False).ok
        outcomes = database.file.contents.all_slots()
    slot = game.index(game.read("8/8/8/3k4/8/8/8/K6R w"))
    outcomes[slot] += 1
    solved_again = path.with_name("altered.h5")
    try:
        with DatabaseFile(path) as file:
            again = SolvedSlots(*file.contents.tiers, file.legend, file.contents.counts, outcomes)
        write_database(solved_again, game, again)
        with open_database(solved_again, game=game) as database:
            report = verify(database, interpreted=False)
    finally:
        solved_again.unlink()
    complaint = "w - - 0 1 is stored as WIN in 31, and its children make it WIN in 29"
    assert any(complaint in str(problem) for problem in report.problems)


INDEPENDENT_READER = """
import json, sys
import h5py, hdf5plugin  # which adds the filter to this process alone

with h5py.File(sys.argv[1]) as file:
    tiers, legend, slots = file["tiers"][:], file["legend"][:], file["slots"][:]
    first = {int(row["tier"]): int(row["slot"]) for row in tiers}
    rows = [int(slots[first[tier] + slot]) for tier, slot in json.load(sys.stdin)]
    stored = [int(row) for row in file["counts"]["stored"]]
    print(json.dumps([[[int(legend[row]["value"]), int(legend[row]["remoteness"])] for row in rows], sum(stored)]))
"""


def test_other_readers_need_only_hdf5_and_the_usual_plugin(tmp_path, monkeypatch):
    nodes = from_graph(monkeypatch, LARGEST)
    path = solve(GAME, tmp_path / "game.h5", method="compiled", fresh=True)
    asked = json.dumps([(GAME.tier(node), GAME.index(node)) for node in nodes])
    command = [sys.executable, "-c", INDEPENDENT_READER, path]
    answer = subprocess.run(command, input=asked, check=True, capture_output=True, text=True).stdout
    outcomes, stored = json.loads(answer)
    with open_database(path, game=GAME) as database:
        expected = [[int(value), -1 if plies is None else plies] for value, plies in map(database.get, nodes)]
        assert (outcomes, stored) == (expected, database.file.stored)
