"""Many positions looked up at once: the same answers as one by one, whatever is asked, in all kinds of databases."""

import random
import subprocess
import sys

import numpy as np
import pytest

from retrograde.databases import DamagedDatabase, database, open_database
from retrograde.databases.records.read import RecordsReader
from retrograde.databases.slots.read import SlotsReader
from retrograde.databases.steps.read import StepsReader
from retrograde.games.catalog import load_game
from retrograde.solver.engine import solve
from retrograde.solver.play import bulk
from retrograde.solver.play.solution import open_solution
from retrograde.solver.runtime.sizes import Sizes
from tests.helpers import reference
from tests.helpers.marks import thorough_but

RECORDS = thorough_but(
    ["tictactoe", "connect4:4,4", "dodgem", "hareandhounds", "lgame", "mutorere"], "tictactoe", "hareandhounds"
)
SLOTS = ["chess:KPK", pytest.param("chess:KRK", marks=pytest.mark.slow)]
STEPS = ["connect4:4,4", pytest.param("tictactoe", marks=pytest.mark.slow)]

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def streamed(tmp_path_factory):
    """Return a function from a variant to the path of a database of steps."""
    paths = {}

    def path_of(text):
        if text not in paths:
            path = tmp_path_factory.mktemp("streamed") / "steps.h5"
            paths[text] = solve(load_game(text), path, method="streamed", sizes=Sizes(in_memory=1))
        return paths[text]

    return path_of


@pytest.fixture
def compiled(monkeypatch):
    """Let rules be compiled however few positions are asked for, and passes and parts be small."""
    monkeypatch.setattr(database, "BULK", 1)
    monkeypatch.setattr(bulk, "PASS", 7000)
    monkeypatch.setattr(bulk, "SLICE", 1000)


def one_by_one(db, positions):
    """Return what a database says of positions, each asked for by itself, as a lookup does."""
    found = []
    for position in positions:
        try:
            outcome = db.get(position)
        except (ArithmeticError, LookupError, ValueError):  # rules need not cope with what is no position
            outcome = None
        value, remoteness = outcome or (0, None)
        found.append((int(value), -1 if remoteness is None else remoteness))
    return found


def at_once(db, positions, **options):
    """Return what a lookup says."""
    values, remotenesses = db.lookup(np.array(positions, np.int64), **options)
    assert (values.dtype, remotenesses.dtype) == (np.uint8, np.int32)
    return list(zip(values.tolist(), remotenesses.tolist(), strict=True))


def reached(game, count, chance):
    """Return positions that random play reaches, canonical or not, some of them several times."""
    found = []
    while len(found) < count:
        position = game.start
        while game.primitive(position) == 0 and chance.random() < 0.95:
            position = game.do_move(position, chance.choice(list(game.generate_moves(position))))
            found.append(position)
        found += game.images(position)
    chance.shuffle(found)
    return found[:count]


def nonsense(positions, chance):
    """Return numbers of which most are no positions: a bit wrong, many bits wrong, and out of all bounds."""
    damaged = [position ^ 1 << chance.randrange(62) for position in positions[:1500]]
    shifted = [position + chance.randrange(-9, 9) for position in positions[:500]]
    wild = [chance.getrandbits(chance.randrange(1, 64)) - 5 for _ in range(1500)]
    return [*damaged, *shifted, *wild, -1, 0, -(2**63), 2**63 - 1, 2**62, 2**62 - 1]


@pytest.mark.parametrize("variant", RECORDS)
def test_records_are_found_as_one_by_one(variant, solved, compiled):
    chance = random.Random(1)
    with open_database(solved(variant)) as db:
        assert isinstance(db.file.contents, RecordsReader)
        positions = reached(db.game, 2000, chance)
        positions += nonsense(positions, chance)
        assert at_once(db, positions) == one_by_one(db, positions)


@pytest.mark.parametrize("variant", ["tictactoe", "dodgem", "mutorere"])
def test_all_positions_there_are_have_the_value_of_the_reference(variant, solved, compiled):
    with open_database(solved(variant)) as db:
        outcomes = reference.solve(db.game)
        expected = [(value, -1 if remoteness is None else remoteness) for value, remoteness in outcomes.values()]
        assert at_once(db, list(outcomes)) == expected


@pytest.mark.thorough
@pytest.mark.parametrize("variant", STEPS)
def test_steps_are_found_as_one_by_one(variant, streamed, compiled):
    chance = random.Random(2)
    with open_database(streamed(variant)) as db:
        assert isinstance(db.file.contents, StepsReader)
        positions = reached(db.game, 8000, chance)
        positions += nonsense(positions, chance)
        assert at_once(db, positions) == one_by_one(db, positions)


def test_steps_say_what_records_say(streamed, solved, compiled):
    with open_database(streamed("connect4:4,3")) as steps, open_database(solved("connect4:4,3")) as records:
        positions = np.concatenate([piece for _, piece, _, _ in records.records()])
        for found, expected in zip(steps.lookup(positions), records.lookup(positions), strict=True):
            assert np.array_equal(found, expected)


@pytest.mark.parametrize("variant", SLOTS)
def test_slots_are_found_as_one_by_one(variant, solved, compiled):
    chance = random.Random(3)
    with open_database(solved(variant)) as db:
        assert isinstance(db.file.contents, SlotsReader)
        game, positions = db.game, []
        for tier, size in ((tier, game.size(tier)) for tier in db.file.contents.tiers.numbers.tolist()):
            slots = [*(chance.randrange(size) for _ in range(900)), *range(size - 300, size)]
            positions += [game.unindex(tier, slot) for slot in slots]
        for position in [position for position in positions if position >= 0][::7]:
            positions += game.images(position)
        chance.shuffle(positions)
        positions += nonsense([position for position in positions if position >= 0], chance)
        answers = at_once(db, positions)
        assert answers == one_by_one(db, positions)
        assert len({*answers}) > 20


@pytest.mark.parametrize("variant", ["tictactoe", "chess:KRK"])
def test_arrays_of_any_shape_and_type(variant, solved, compiled):
    with open_solution(solved(variant)) as solution:
        some = [row.example for row in solution.database.file.legend] + [-1, 511, 3]
        expected = one_by_one(solution.database, some)

        def said(positions, shape):
            values, remotenesses = solution.lookup(positions)
            assert values.shape == remotenesses.shape == shape
            return list(zip(values.ravel().tolist(), remotenesses.ravel().tolist(), strict=True))

        wide = np.array(some, np.int64)
        assert said(some, (len(some),)) == expected
        assert said(wide.astype(object).tolist(), (len(some),)) == expected
        assert said(np.stack([wide, wide]), (2, len(some))) == expected * 2
        assert said(np.stack([wide, wide], 1)[:, 1], (len(some),)) == expected  # not contiguous
        assert said(wide.astype(">i8"), (len(some),)) == expected
        assert said(wide[::-1], (len(some),)) == expected[::-1]
        readonly = wide.copy()
        readonly.flags.writeable = False
        assert said(readonly, (len(some),)) == expected
        assert said(np.array(some[0]), ()) == expected[:1]
        assert said(np.array([2**63, 2**64 - 1], np.uint64), (2,)) == [(0, -1)] * 2
        assert said([], (0,)) == []
        assert said(np.empty((0, 3), np.int32), (0, 3)) == []
        small = np.array([0, 3, 100], np.uint8)
        assert said(small, (3,)) == one_by_one(solution.database, small.tolist())
        for wrong in (wide.astype(float), ["x"], wide.astype(complex), wide > 0, [2**64]):
            with pytest.raises(TypeError, match="positions are whole numbers, not"):
                solution.lookup(wrong)


@pytest.mark.thorough
def test_few_positions_are_not_worth_compiling(solved):
    """Nor is numba imported for them."""
    code = (
        "import sys, retrograde; solution = retrograde.open(sys.argv[1]); solution.lookup([0, 1, 3] * 1000); "
        "print('numba' in sys.modules); solution.lookup([0, 1, 3] * 2000); print('numba' in sys.modules)"
    )
    command = [sys.executable, "-c", code, str(solved("tictactoe"))]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout.split() == ["False", "True"]


PLAIN = '''from fractions import Fraction

from retrograde.games import LOSE, UNDECIDED, Game


class Plain(Game):
    """Rules that numba cannot compile."""

    start = 40

    def tier(self, heap):
        return int(Fraction(heap < 20))

    def generate_moves(self, heap):
        yield from range(1, min(2, heap) + 1)

    def do_move(self, heap, taken):
        return heap - taken

    def primitive(self, heap):
        return LOSE if heap == 0 else UNDECIDED
'''


@pytest.mark.filterwarnings("ignore:the rules of .* do not compile")
def test_rules_that_cannot_be_compiled_are_asked_as_they_stand(tmp_path, compiled):
    (tmp_path / "plain.py").write_text(PLAIN, encoding="utf-8")
    game = load_game(str(tmp_path / "plain.py"))
    with open_database(solve(game, tmp_path / "plain.h5"), game=game) as db:
        asked = [*range(-3, 45), 2**62]
        assert at_once(db, asked) == one_by_one(db, asked)
        assert (db._bulk.rows(np.array(asked, np.int64))[3:44] >= 0).all()


def test_blocks_are_read_once_in_a_pass(solved, compiled, monkeypatch):
    read = []
    monkeypatch.setattr(bulk, "PASS", 1 << 20)
    with open_database(solved("connect4:4,4")) as db:
        db._bulk.block.cache_clear()
        own = db.file.contents.read_block
        monkeypatch.setattr(db.file.contents, "read_block", lambda number: read.append(number) or own(number))
        positions = np.concatenate([piece for _, piece, _, _ in db.records()])
        np.random.default_rng(1).shuffle(positions)
        db.lookup(np.concatenate([positions, positions]))
        assert sorted(read) == list(range(db.file.contents.block_count))
        assert len(read) > 10


def test_damage_is_told(solved, compiled, monkeypatch):
    with open_database(solved("tictactoe")) as db:
        own = db.file.contents.read_block

        def damaged(number):
            block = own(number)
            return block._replace(outcomes=(np.asarray(block.outcomes).astype(np.uint32) + 200).data)

        monkeypatch.setattr(db.file.contents, "read_block", damaged)
        with pytest.raises(DamagedDatabase, match="an outcome is not in the legend"):
            db.lookup([0, 1, 3])
