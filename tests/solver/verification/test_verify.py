"""The verifier: it passes what the solver makes, and finds whatever is altered."""

import os
import subprocess
import sys
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
import pytest

from retrograde.databases import (
    DatabaseFile,
    LegendRow,
    Outcome,
    SolvedRecords,
    database_of,
    open_database,
    write_database,
)
from retrograde.games import DRAW, LOSE, TIE, UNDECIDED, WIN, Game, Value
from retrograde.games.catalog import load_game
from retrograde.solver.engine import solve
from retrograde.solver.methods.streamed import segments
from retrograde.solver.rules import ports
from retrograde.solver.runtime.sizes import Sizes
from retrograde.solver.verification.judge import derive, words
from retrograde.solver.verification.records import RecordsVerifier
from retrograde.solver.verification.verifier import MOST_PROBLEMS, TaskResult
from retrograde.solver.verification.verify import verify
from tests.helpers.forge import Forged
from tests.helpers.graph import FixedGraph, graph_of
from tests.helpers.marks import thorough, thorough_but
from tests.helpers.nim import HoledNim, Nim
from tests.helpers.paths import ROOT

VARIANTS = [
    "tictactoe",
    "tictactoe:misere",
    "connect4:4,4",
    "mutorere",
    "dodgem",
    "lgame",
    "hareandhounds",
    "tentozero",
    "tentozero:1000",
]

both_ways = pytest.mark.parametrize("interpreted", [True, False], ids=["interpreted", "compiled"])
compiled_at_least = pytest.mark.parametrize("interpreted", [thorough(True), False], ids=["interpreted", "compiled"])
"""For faults that both ways find by the same comparison."""


@dataclass
class Records:
    """A database to be written anew with something altered: records as (tier, position, outcome)."""

    game: Game
    records: list[tuple[int, int, tuple[Value, int]]]
    legend: dict[tuple[Value, int], list[int]] = field(default_factory=dict)
    """Of each outcome the positions, the records and the example."""

    @classmethod
    def of(cls, database):
        return cls(
            database.game,
            [
                (tier, position, (Value(value), remoteness))
                for tier, positions, values, remotenesses in database.records()
                for position, value, remoteness in zip(
                    positions.tolist(), values.tolist(), remotenesses.tolist(), strict=True
                )
            ],
        )

    def count(self):
        """Make the legend fit the records."""
        for _, position, outcome in self.records:
            row = self.legend.setdefault(outcome, [0, 0, position])
            row[0] += len({position, *self.game.images(position)})
            row[1] += 1
        return self

    def write(self, path):
        tiers, counts = np.unique([tier for tier, _, _ in self.records], return_counts=True)
        rows = {outcome: number for number, outcome in enumerate(sorted(self.legend))}
        legend = [LegendRow(*outcome, *self.legend[outcome]) for outcome in rows]
        positions = np.array([position for _, position, _ in self.records], np.int64)
        outcomes = np.array([rows[outcome] for *_, outcome in self.records], np.uint16)
        return write_database(path, self.game, SolvedRecords(tiers, counts, legend, (positions, outcomes)))


@pytest.fixture
def records(solved):
    with open_database(solved("tictactoe")) as database:
        return Records.of(database)


@pytest.fixture
def verdict(tmp_path):
    """Return a function that writes altered records and verifies them."""

    def verify_altered(records, interpreted=None, **options):
        path = records.write(tmp_path / "altered.h5")
        with open_database(path, game=records.game) as database:
            return verify(database, interpreted=interpreted, **options)

    return verify_altered


def complaints(verification):
    assert not verification.ok
    return [str(problem) for problem in verification.problems]


# What the solver makes


@pytest.mark.parametrize(
    "variant", [thorough(name) if name in ("connect4:4,4", "hareandhounds", "lgame") else name for name in VARIANTS]
)
def test_solved_games_are_right(variant, solved):
    with open_database(solved(variant)) as database:
        verification = verify(database)
        assert (verification.problems, verification.wrong, verification.ok) == ([], 0, True)
        assert verification.positions == len(database)
        assert verification.stored == database.file.stored


@pytest.mark.thorough
@pytest.mark.parametrize("variant", ["tictactoe", "dodgem"])
def test_solved_games_are_right_compiled(variant, solved):
    with open_database(solved(variant)) as database:
        assert verify(database, interpreted=False).problems == []


WALK, _, NODES = graph_of(
    {
        **{"start": "tied1 tied2 lost won1 won2", "tied1": "near far slow1", "tied2": "far slow2 near"},
        **{"near": "=end", "far": "near2", "near2": "=end2", "=end": "", "=end2": ""},
        **{"lost": "slow1 quick slow2", "won1": "over late", "won2": "late over"},
        **{"quick": "over", "slow1": "late", "slow2": "late", "late": "quick", "over": ""},
    }
)
"""A game with ties, wins and losses of several lengths after one position, and its nodes."""


class Walk(FixedGraph):
    """The same game with its graph in the rules, not in options."""

    children = WALK.children
    ties = WALK.ties


@both_ways
def test_of_children_of_several_lengths_the_right_one_counts(interpreted, tmp_path):
    """The nearest LOSE, the nearest TIE, and the latest WIN; each comes first once, and last once."""
    game = Walk()
    with open_database(solve(game, tmp_path / "walk.h5"), game=game) as database:
        found = {name: database[number] for number, name in enumerate(NODES)}
        assert found["tied1"] == found["tied2"] == (TIE, 2)
        assert found["lost"] == (LOSE, 4) and found["won1"] == found["won2"] == (WIN, 1)
        assert verify(database, interpreted=interpreted).problems == []


@pytest.mark.parametrize("workers", thorough_but([1, 2, 3], 2))
def test_any_number_of_workers_will_do(workers, solved):
    with open_database(solved("dodgem")) as database:
        assert verify(database, workers, interpreted=False).ok


@both_ways
def test_progress_is_told_to_the_end(interpreted, solved):
    events = []
    with open_database(solved("dodgem")) as database:
        assert verify(database, listener=events.append, interpreted=interpreted).ok
    assert {event.phase for event in events if event.number} == {"verifying"}
    assert [event.phase for event in events if not event.number] == (
        [] if interpreted else ["compiling the rules", "looking at a sample"]
    )
    assert (events[-1].done, events[-1].total) == (1963, 1963)


# What is altered


def test_records_written_anew_are_right(records, verdict):
    assert verdict(records.count()).ok


@pytest.mark.thorough
@both_ways
@pytest.mark.parametrize("index", [0, 5, 400, 700, 764])
def test_an_altered_outcome_is_found(index, interpreted, records, verdict):
    tier, position, outcome = records.records[index]
    altered = (WIN, 3) if outcome != (WIN, 3) else (LOSE, 4)
    records.records[index] = tier, position, altered
    told = complaints(verdict(records.count(), interpreted))
    derived = words(Outcome(*outcome))
    text = records.game.write(position)
    assert any(
        complaint.startswith(f"{text} is stored as {words(Outcome(*altered))}, and") and complaint.endswith(derived)
        for complaint in told
    )


@both_ways
def test_a_remoteness_too_large_by_two_is_found_though_it_is_consistent_with_the_parents(interpreted, records, verdict):
    index = next(i for i, (*_, outcome) in enumerate(records.records) if outcome == (WIN, 1))
    tier, position, _ = records.records[index]
    records.records[index] = tier, position, (WIN, 3)
    told = complaints(verdict(records.count(), interpreted))
    assert f"{records.game.write(position)} is stored as WIN in 3, and its children make it WIN in 1" in told


@both_ways
def test_a_missing_record_is_found_at_its_parents(interpreted, records, verdict):
    _, position, _ = records.records.pop(300)
    told = complaints(verdict(records.count(), interpreted))
    text = records.game.write(position)
    assert any(f"has a move to {text}, which is not stored" in complaint for complaint in told)


@compiled_at_least
def test_a_missing_start_is_found(interpreted, records, verdict):
    records.records.pop(0)
    assert complaints(verdict(records.count(), interpreted)) == [".../.../... is the start, and is not stored"]


@compiled_at_least
def test_a_record_that_play_never_reaches_is_found(interpreted, records, verdict):
    position = records.game.canonical(records.game.read("XXX/OOO/X.."))
    records.records.append((7, position, (LOSE, 0)))
    records.records.sort()
    text = records.game.write(position)
    assert complaints(verdict(records.count(), interpreted)) == [f"{text} is stored, and play never reaches it"]


@compiled_at_least
def test_a_record_that_is_not_canonical_is_found(interpreted, records, verdict):
    position = records.game.read(".../.../..X")
    records.records.append((1, position, (TIE, 8)))
    records.records.sort()
    told = complaints(verdict(records.count(), interpreted))
    assert told == [".../.../..X is stored, and equals X../.../... by symmetry"]


@compiled_at_least
def test_a_record_in_another_tier_is_found(interpreted, records, verdict):
    tier, position, outcome = records.records[-1]
    records.records[-1] = tier + 1, position, outcome
    told = complaints(verdict(records.count(), interpreted))
    assert f"{records.game.write(position)} is stored in tier 10 and belongs in tier 9" in told


@compiled_at_least
def test_wrong_counts_in_the_legend_are_found(interpreted, records, verdict):
    records.count()
    records.legend[LOSE, 0][0] += 1
    records.legend[LOSE, 4][1] += 1  # the reader adds records up
    stored = records.legend[WIN, 1][1]
    records.legend[WIN, 1][1] -= 1
    assert complaints(verdict(records, interpreted)) == [
        "the legend counts 943 positions of LOSE in 0, and not 942",
        f"the legend counts {records.legend[LOSE, 4][1]} records of LOSE in 4, and not "
        f"{records.legend[LOSE, 4][1] - 1}",
        f"the legend counts {stored - 1} records of WIN in 1, and not {stored}",
    ]


@compiled_at_least
def test_a_wrong_example_in_the_legend_is_found(interpreted, records, verdict):
    first = records.game.write(records.count().legend[LOSE, 0][2])
    records.legend[LOSE, 0][2] = 0
    assert complaints(verdict(records, interpreted)) == [
        f"the legend's example of LOSE in 0 is .../.../..., and the first is {first}"
    ]


def test_no_more_problems_are_told_in_full_than_anyone_reads(records, verdict):
    records.records = [(tier, position, (DRAW, -1)) for tier, position, _ in records.records]
    for interpreted in (True, False):
        verification = verdict(records.count(), interpreted)
        assert len(verification.problems) == MOST_PROBLEMS
        assert verification.wrong > 100
        records.legend.clear()


# Cycles


class Ring(Game):
    """Go round and round for ever, or leave when you are on a certain place; unless nobody can leave."""

    size: int = 6
    exit: int = 3

    start = 0

    def generate_moves(self, position):
        yield 0
        if position % self.size == self.exit:
            yield 1

    def do_move(self, position, move):
        place, mover = position % self.size, position // self.size
        return 2 * self.size if move else (place + 1) % self.size + self.size * (1 - mover)

    def primitive(self, position):
        return LOSE if position == 2 * self.size else UNDECIDED


class Stub(Ring):
    """A ring that is left where it is entered, so that the other places are never reached, though from one another."""

    def do_move(self, position, move):
        return 12 if position == 0 else (position % 6 % 5 + 1) + 6 * (1 - position // 6)

    def generate_moves(self, position):
        yield 0


@pytest.fixture(scope="module")
def ring(tmp_path_factory):
    path = solve(Ring(), tmp_path_factory.mktemp("ring") / "ring.h5")
    with open_database(path, game=Ring()) as database:
        return Records.of(database)


@both_ways
def test_outcomes_that_fit_one_another_round_the_ring_are_found_where_they_begin(interpreted, ring, verdict):
    late = {position: (value, plies + 6) for _, position, (value, plies) in ring.records if plies > 1}
    assert late
    records = Records(Ring(), [(tier, p, late.get(p, outcome)) for tier, p, outcome in ring.records])
    told = complaints(verdict(records.count(), interpreted))
    assert any("its children make it" in complaint for complaint in told)


@both_ways
def test_a_draw_in_place_of_all_that_is_not_decided_at_once_is_found(interpreted, ring, verdict):
    records = Records(Ring(), [(tier, p, o if o[1] in (0, 1) else (DRAW, -1)) for tier, p, o in ring.records])
    told = complaints(verdict(records.count(), interpreted))
    assert any("stored as DRAW" in complaint for complaint in told)


@pytest.mark.thorough
@both_ways
def test_a_circle_that_play_never_reaches_is_found(interpreted, tmp_path):
    game = Stub()
    records = Records(game, [(0, 0, (WIN, 1)), (0, 12, (LOSE, 0))]).count()
    with open_database(records.write(tmp_path / "plain.h5"), game=game) as database:
        assert verify(database, interpreted=interpreted).ok
    circle = [(0, place + 6 * mover, (DRAW, -1)) for mover in (0, 1) for place in range(1, 6)]
    records = Records(game, sorted([(0, 0, (WIN, 1)), (0, 12, (LOSE, 0)), *circle])).count()
    with open_database(records.write(tmp_path / "circle.h5"), game=game) as database:
        verification = verify(database, interpreted=interpreted)
    assert verification.wrong == 10
    assert complaints(verification)[0] == "1 is stored, and play never reaches it"


# All kinds of databases alike


@pytest.fixture(scope="module")
def kinds(solved, tmp_path_factory):
    """One small database of each kind: records, slots and steps."""
    folder = tmp_path_factory.mktemp("kinds")
    found = {
        "records": solved("tictactoe"),
        "slots": solve(Nim(), folder / "slots.h5"),
    }
    found["steps"] = solve(
        load_game("connect4:4,3,3"), folder / "steps.h5", method="streamed", sizes=Sizes(in_memory=1)
    )
    for kind, path in found.items():
        with DatabaseFile(path) as file:
            assert kind == file.contents.DATASET
    return found


def opened(kinds, kind, **options):
    return open_database(kinds[kind], **({"game": Nim()} if kind == "slots" else {}), **options)


@pytest.mark.thorough
@both_ways
@pytest.mark.parametrize("kind", ["records", "slots", "steps"])
def test_each_kind_is_right(kind, interpreted, kinds):
    with opened(kinds, kind) as database:
        assert verify(database, interpreted=interpreted).problems == []


@pytest.mark.thorough
@both_ways
@pytest.mark.parametrize("kind", ["records", "slots", "steps"])
def test_one_outcome_read_wrong_is_found_in_each_kind(kind, interpreted, kinds, monkeypatch):
    """Of an end in records and slots, and in all steps of a block."""

    def wrong(rows):
        rows = np.array(rows)
        rows[-1] = (rows[-1] + 1) % 3
        return rows

    with opened(kinds, kind) as database:
        contents = database.file.contents
        if kind == "records":
            *others, (tier, positions, rows) = contents.all_records()
            monkeypatch.setattr(contents, "all_records", lambda: [*others, (tier, positions, wrong(rows))])
        elif kind == "slots":
            slots = contents.all_slots()
            monkeypatch.setattr(contents, "all_slots", lambda *_: wrong(slots))
        else:
            read = contents.read_block
            monkeypatch.setattr(contents, "read_block", lambda number: (read(number)[0], wrong(read(number)[1]).data))
        database = database_of(database.file, database.game)
        told = complaints(verify(database, interpreted=interpreted))
        assert any(" make it " in complaint for complaint in told)


@pytest.mark.thorough
@both_ways
def test_a_child_without_a_slot_is_found(interpreted, kinds):
    """As if these rules had made the database."""
    with DatabaseFile(kinds["slots"]) as file:
        database = database_of(file, HoledNim())
        told = complaints(verify(database, interpreted=interpreted))
    assert [complaint for complaint in told if "has no slot" in complaint] == [
        f"{heap} has a move to 7, which has no slot (move {heap - 7})" for heap in (8, 9, 10)
    ]


class HalvedNim(Nim):
    """The same in two parts, into which the heaps of 21 to 23 fall, all won in 11 plies."""

    def parts(self, tier):
        return [("low", 22), ("high", 18)]


@both_ways
def test_counts_that_add_up_are_still_wrong_if_a_part_has_others(interpreted, tmp_path):
    path = solve(HalvedNim(), tmp_path / "nim.h5", method="numbered")
    forged = Forged.read(path)
    counts, legend = (forged.parts[name].rows() for name in ("counts", "legend"))
    (won,) = np.flatnonzero(legend["remoteness"] == 11)
    low, high = np.flatnonzero(counts["outcome"] == won)
    assert counts["stored"][[low, high]].tolist() == [1, 2]
    for column in ("stored", "positions"):
        counts[column][[low, high]] = [2, 1]
    forged.parts["counts"].put(counts)
    for written, problems in ((path, 0), (forged.write(tmp_path / "forged.h5"), 2)):
        with open_database(written, game=HalvedNim()) as database:
            found = verify(database, interpreted=interpreted)
        assert [str(problem).split(" there")[0] for problem in found.problems] == [
            f"of WIN in 11 the file counts others in tier 0, part {part} than the {count}"
            for part, count in ((0, 1), (1, 2))[:problems]
        ]


@pytest.mark.parametrize("number", thorough_but([0, 11, -2], 11))
def test_a_list_with_one_position_put_in_the_place_of_another_is_found(number, kinds, monkeypatch):
    """The one is missing at its parents, and the other is not reached."""
    load, altered = segments.load, []

    def load_wrong(scratch, segment):
        positions = load(scratch, segment)
        gaps = np.flatnonzero(np.diff(positions) > 1)
        if segment.length > 20 and (not altered or altered[0] == segment.first):
            altered[:] = [segment.first]
            positions[gaps[number]] += 1
        return positions

    monkeypatch.setattr(segments, "load", load_wrong)
    with opened(kinds, "steps") as database:
        result = verify(database, interpreted=False)
    assert altered and result.wrong >= 2
    assert any("not found where its parents lead" in str(problem) for problem in result.problems)


KEPT = """
import sys
from retrograde.databases import open_database
from retrograde.solver.verification import kernels
from retrograde.solver.verification.verify import verify
from tests.helpers.nim import Nim
for path in sys.argv[1:]:
    with open_database(path, **({"game": Nim()} if "slots" in path else {})) as database:
        assert verify(database, interpreted=False).ok
stats = kernels.verify_items.stats
print(sum(stats.cache_hits.values()), sum(stats.cache_misses.values()))
"""


@pytest.mark.thorough
def test_machine_code_is_kept_for_each_kind(kinds):
    told = [
        subprocess.run(
            [sys.executable, "-c", KEPT, *map(str, kinds.values())], env=os.environ | {"PYTHONPATH": ""},
            cwd=ROOT, capture_output=True, text=True, check=True,
        ).stdout
        for _ in range(2)
    ]  # fmt: skip
    assert told[1] == "3 0\n"


# The definition


@pytest.mark.parametrize(
    ("children", "outcome"),
    [
        ([(WIN, 1), (WIN, 5)], (LOSE, 6)),
        ([(WIN, 1), (LOSE, 4), (LOSE, 2), (TIE, 0)], (WIN, 3)),
        ([(TIE, 7), (TIE, 3), (DRAW, None), (WIN, 1)], (TIE, 4)),
        ([(DRAW, None), (WIN, 1)], (DRAW, None)),
    ],
)
def test_outcomes_follow_from_children_by_definition(children, outcome):
    assert derive(UNDECIDED, [Outcome(*child) for child in children]) == outcome


def test_what_the_rules_decide_needs_no_children():
    assert derive(TIE, []) == (TIE, 0)


# Rules that do not compile


class Uncompilable(Ring):
    """A ring whose rules numba does not know."""

    def primitive(self, position):
        return super().primitive(int(Fraction(position)))


def test_kernels_call_rules_that_do_not_compile(tmp_path, monkeypatch):
    monkeypatch.setattr(ports, "PATIENCE", -1.0)
    path = solve(Uncompilable(), tmp_path / "ring.h5", method="interpreted")
    with open_database(path, game=Uncompilable()) as database:
        with pytest.warns(UserWarning, match="do not compile"):
            result = verify(database, interpreted=False)
        assert result.ok and "compiled" not in result.rests_on


def test_an_item_at_which_the_rules_raise_is_wrong(kinds):
    def run(items):
        if {3, 8} & set(items.tolist()):
            raise ZeroDivisionError
        return TaskResult(np.empty(0, np.int64), len(items))

    with opened(kinds, "records") as database:
        result = RecordsVerifier(database).verify_block(run, np.arange(10))
    assert (result.wrong.tolist(), result.done) == ([3, 8], 10)


# What it says


class Row(Game):
    """Put a stone on a free cell of three in a row, where the first one is taken; who fills the row wins."""

    start = 0b001

    def generate_moves(self, row):
        for cell in range(3):
            if not row >> cell & 1:
                yield cell

    def do_move(self, row, cell):
        return row | 1 << cell

    def primitive(self, row):
        return LOSE if row == 0b111 else UNDECIDED


class MirroredRow(Row):
    def images(self, row):
        yield row >> 2 | row & 0b010 | row << 2 & 0b100


@pytest.mark.parametrize(
    ("cls", "positions", "words"),
    [
        (Row, {0b001, 0b011, 0b101, 0b111}, "those that play reaches, no more"),
        (MirroredRow, {0b001, 0b100, 0b011, 0b110, 0b101, 0b111}, "and those equal to them by symmetry, no more"),
    ],
)
def test_the_positions_are_those_that_it_says(cls, positions, words, tmp_path):
    """No play leads from 001 to 100, which is counted all the same where it is symmetric."""
    with open_database(solve(cls(), tmp_path / "row.h5", method="interpreted"), game=cls()) as database:
        result = verify(database)
    assert result.ok
    assert result.positions == len(positions)
    assert words in result.proven
