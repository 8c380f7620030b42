"""Expectations by slot: held against fractions, against the way over lists, and through kills, damage and bad rules."""

import json
import zlib
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest

from retrograde.databases import open_database
from retrograde.databases.bounds.write import SolvedBounds
from retrograde.databases.errors import DamagedDatabase, NotADatabase, OtherRules
from retrograde.databases.legend import Measures
from retrograde.databases.write import write_database
from retrograde.games import RuleError
from retrograde.games.catalog import load_game
from retrograde.games.contract.game import CHANCE, TIE, UNDECIDED, Game, InternalError
from retrograde.solver.conformance.check import check
from retrograde.solver.engine import solve
from retrograde.solver.methods.numbered.numbering import SlotNumbering
from retrograde.solver.metrics.slots import chunks, kernels, replay, scripts
from retrograde.solver.metrics.slots.store import SlotStore
from retrograde.solver.play.solution import Solution
from retrograde.solver.runtime.memory import MemoryLimit
from retrograde.solver.runtime.sizes import Sizes
from retrograde.solver.verification.verify import verify
from tests.helpers import expectimax
from tests.helpers.command_line import retrograde
from tests.helpers.expecting import bounds
from tests.helpers.marks import thorough_but
from tests.helpers.slotted import CYCLES, GRAPHS, NODES, Gambles, first_of

pytestmark = pytest.mark.long

NARROW = Fraction(1, 10**9)


@pytest.fixture(scope="module")
def gambles(tmp_path_factory):
    """A database of all graphs."""
    return solve(Gambles(), tmp_path_factory.mktemp("gambles") / "gambles.h5", method="numbered")


def told(database, position):
    """Return the bounds of a position, as fractions, for player 0."""
    low, high = (Fraction(bound, database.file.details["scale"]) for bound in database.measures(position).values())
    return (-high, -low) if database.game.turn(position) == 1 else (low, high)


@pytest.mark.thorough
def test_the_reader_in_c_tells_the_same_bounds(gambles, reader):
    with open_database(gambles, game=Gambles()) as database:
        contents = database.file.contents
        numbers, begins = (column.tolist() for column in contents.tiers)
        tiers = list(zip(numbers, begins, begins[1:], strict=False))
        asked = [(i, tier, begin + i) for tier, begin, end in tiers for i in range(0, end - begin, 7)]
        lows, highs = (bounds.tolist() for bounds in contents.all_bounds(0, begins[-1]))
        beyond = f"{tiers[-1][2] - tiers[-1][1]}@{tiers[-1][0]}"
    told = reader(gambles, [*(f"{i}@{tier}" for i, tier, _ in asked), beyond, "0@77"])
    assert told == [*(f"low {lows[slot]} high {highs[slot]}" for *_, slot in asked), "none", "none"]
    assert len({*told}) > 20


class Shortened(Game):
    """Chance at 1 leads to ends and to positions in between, each by itself and by way of others with a single move.

    10 and 11 have that one move; at 12 one chooses; 20 and 21 are the ends. From 0 one goes to 1 or gives up.
    """

    title = "Shortened"
    metric = "expectation"
    start = 0
    tiers = (0,)
    children = ((1, 21, 21, -1, -1, -1), (10, 20, 11, 12, 0, 21), (20, *[-1] * 5), (12, *[-1] * 5), (10, 21, *[-1] * 4))

    def size(self, tier):
        return 2

    def index(self, position):
        return position if position < 2 else -1

    def unindex(self, tier, i):
        return i

    def turn(self, position):
        return CHANCE if position == 1 else 0

    def generate_moves(self, position):
        for move in range(6):
            if self.do_move(position, move) >= 0:
                yield move

    def do_move(self, position, move):
        return self.children[position if position < 2 else position - 8][move]

    def odds(self, position, move):
        return move + 1

    def primitive(self, position):
        return TIE if position >= 20 else UNDECIDED

    def payoff(self, position, player):
        return (8 if position == 20 else -8) if player == 0 else 0


@pytest.mark.thorough
def test_what_a_slot_meets_again_behind_a_single_move_is_what_it_was(tmp_path):
    """Of 21 throws 1 + 2 + 3 + 4 come to an end that pays 8, 6 to one that takes 8, 5 go back."""
    expected = Fraction(8 * 10 - 8 * 6, 21 - 5)
    with open_database(solve(Shortened(), tmp_path / "s.h5", method="numbered"), game=Shortened()) as database:
        for position in (0, 1):
            low, high = told(database, position)
            assert low <= expected <= high < low + NARROW
        assert [told(database, position)[0] for position in (10, 11, 12)] == [8, 8, 8]
        assert verify(database).ok
        listed = Solution(database).where()
        assert len(listed) == sum(len(chunk.positions) for chunk in listed) > 0
        assert "positions by plies" in database._repr_html_()


@pytest.mark.parametrize(
    ("endless", "low", "high", "settled"),
    [(1, 5, 9, (4, 9)), (1, -9, -5, (-9, -4)), (1, 0, 0, (0, 0)), (0, 5, 9, (5, 9)), (0, -9, -5, (-9, -5))],
)
def test_bounds_move_a_grain_towards_0_where_play_can_be_endless(endless, low, high, settled):
    chunk = SimpleNamespace(
        begin=0, mode=replay.RISE, endless=np.array([endless]), chunk_low=np.array([-99]), chunk_high=np.array([99])
    )
    replay.update_bounds.py_func(chunk, 0, low, high)
    assert (chunk.chunk_low[0], chunk.chunk_high[0]) == settled


@pytest.mark.thorough
def test_bounds_of_random_games_hold_the_exact_expectation(gambles, monkeypatch):
    endless = between = 0
    with open_database(gambles, game=Gambles()) as database:
        for number in range(GRAPHS):
            monkeypatch.setattr(Gambles, "start", first_of(number))
            game = Gambles()
            if number % 2 and expectimax.plans(game) > 200:
                continue
            exact = expectimax.cyclic(game) if number % 2 else expectimax.acyclic(game)
            for position, worth in exact.items():
                low, high = told(database, position)
                assert low <= worth <= high < low + NARROW, (position, float(low), float(worth), float(high))
                between += game.index(position) < 0 and game.primitive(position) == 0
            endless += number % 2 and any(worth == 0 for worth in exact.values())
    assert endless > 5
    assert between > 40


@pytest.mark.thorough
def test_they_are_verified_and_what_is_not_proven_is_found(gambles, tmp_path):
    with open_database(gambles, game=Gambles()) as database:
        assert verify(database).ok
        contents, file = database.file.contents, database.file
        low, high = contents.all_bounds(0, contents.length)
        positions = {
            number: Gambles().unindex(int(contents.tiers.numbers[k]), int(number - contents.tiers.bounds[k]))
            for number in range(0, contents.length, 7)
            for k in [int(contents.tiers.bounds.searchsorted(number, "right")) - 1]
        }
        there = [number for number, position in positions.items() if position >= 0]
        for number in there[:: len(there) // 6]:
            wrong = low.copy()
            wrong[number] += 1 << 20
            measures = Measures("expectation", file.measures, file.details)
            start = tuple(file.start_outcome.measures)
            solved = SolvedBounds(*contents.tiers, file.legend, [(wrong, np.maximum(wrong, high))], measures, start)
            path = write_database(tmp_path / "wrong.h5", Gambles(), solved)
            with open_database(path, game=Gambles()) as other:
                found = verify(other)
            assert positions[number] in [problem.position for problem in found.problems]


@pytest.mark.thorough
def test_the_number_of_workers_changes_no_byte(gambles, tmp_path):
    for workers in (1, 3):
        path = solve(Gambles(), tmp_path / f"{workers}.h5", method="numbered", workers=workers)
        assert path.read_bytes() == gambles.read_bytes()


@pytest.mark.thorough
def test_rules_instead_of_scripts_change_no_byte(gambles, tmp_path, monkeypatch):
    monkeypatch.setattr(SlotStore, "shares_memory", False)
    assert solve(Gambles(), tmp_path / "plain.h5", method="numbered").read_bytes() == gambles.read_bytes()


class Killed(Exception):
    pass


@pytest.mark.parametrize("tiers", [1, 5])
@pytest.mark.parametrize("damaged", [False, True])
def test_a_killed_solve_goes_on_by_tier_and_a_damaged_tier_is_solved_again(
    gambles, tmp_path, monkeypatch, tiers, damaged
):
    path, sizes, solved = tmp_path / "killed.h5", Sizes(journal_seconds=0), []
    ordinary = SlotStore.solve

    def solve_some(self, k, phase):
        if len(solved) == tiers:
            raise Killed
        solved.append(k)
        yield from ordinary(self, k, phase)

    with monkeypatch.context() as patch:
        patch.setattr(SlotStore, "solve", solve_some)
        with pytest.raises(Killed):
            solve(Gambles(), path, method="numbered", sizes=sizes)
    low = tmp_path / "killed.h5.scratch" / "bounds46" / "low"
    content = bytearray(low.read_bytes())
    before = zlib.crc32(content)
    if damaged:
        content[8 * GRAPHS * NODES] ^= 1
        assert zlib.crc32(content) != before
        low.write_bytes(content)
    assert solve(Gambles(), path, method="numbered", sizes=sizes).read_bytes() == gambles.read_bytes()
    assert not low.exists()


@pytest.mark.thorough
def test_too_little_memory_is_refused_before_any_work(tmp_path):
    with pytest.raises(MemoryLimit, match="solving 137,870,097 slots"):
        solve(load_game("ur:7"), tmp_path / "large.h5", memory=700_000_000)
    assert not list(tmp_path.iterdir())


class Astray(Gambles):
    """A slot whose number is another's."""

    def index(self, position):
        slot = super_index(self, position)
        return slot - 1 if slot == 24 else slot


def super_index(game, position):
    number, node = position >> 17, position & 31
    if game.over(position) or (node & 1 and game.is_between(position)):
        return -1
    return number * NODES + node if position >> 10 & 1 else number


class Circling(Gambles):
    """Odd nodes are in between, though play may go round there."""

    def is_between(self, position):
        return True


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("kind", "words"), [(Astray, "do not undo one another"), (Circling, "among positions without a slot")]
)
def test_numberings_that_are_none_are_refused(tmp_path, kind, words, solver_alone):
    with pytest.raises(RuleError, match=words):
        solve(kind(), tmp_path / "refused.h5", method="numbered")


class Backward(Game):
    """At 10 one goes to 21, which has no slot. With the players exchanged that is 1, and in an earlier tier."""

    metric = "expectation"
    start = 0
    tiers = (0, 1)
    edges = (0, 1), (0, 10), (1, 30), (10, 21), (21, 31)

    def tier(self, position):
        return int(position >= 10)

    def size(self, tier):
        return 2 - tier

    def index(self, position):
        return position % 10 if position < 20 else -1

    def unindex(self, tier, i):
        return 10 if tier else i

    def turn(self, position):
        return CHANCE if position == 0 else int(position in (21, 31))

    def generate_moves(self, position):
        for number in range(5):
            if self.edges[number][0] == position:
                yield number

    def do_move(self, position, move):
        return self.edges[move][1]

    def odds(self, position, move):
        return 1

    def primitive(self, position):
        return TIE if position >= 30 else UNDECIDED

    def payoff(self, position, player):
        return 8 if player == position - 30 else 0

    def swapped(self, position):
        return (22 if position < 30 else 61) - position if position in (1, 21, 30, 31) else -1


def test_a_swapped_position_of_an_earlier_tier_is_refused(tmp_path, solver_alone):
    """When the tier of the other one is solved, it is not solved yet."""
    with pytest.raises(RuleError, match=r"position 21: swapped\(\) gives 1, of an earlier tier"):
        solve(Backward(), tmp_path / "refused.h5", method="numbered")
    (finding,) = check(Backward(), compiled=False).findings
    assert finding.rule == "swapped" and "gives 1, of an earlier tier" in finding.complaint


def test_another_numbering_is_not_read(gambles):
    with pytest.raises(OtherRules, match="another numbering"):
        open_database(gambles, game=Renumbered())


class Renumbered(Gambles):
    """The same rules, and the same name to files."""

    name = "slotted"

    def size(self, tier):
        return GRAPHS * NODES if tier == CYCLES else GRAPHS + 0


# Games of ours


@pytest.mark.slow  # of random games it is seen above
@pytest.mark.parametrize("text", ["ur", "yahtzee:9+12"])
def test_small_variants_come_to_the_same_by_slots_and_by_lists(tmp_path, text):
    game = load_game(text)
    listed = bounds(game)
    with open_database(solve(game, tmp_path / "slots.h5", method="numbered"), game=game) as database:
        assert verify(database).ok
        for position, (low, high) in listed.items():
            own_low, own_high = (Fraction(bound, 1 << 46) for bound in database.measures(position).values())
            assert max(low, own_low) <= min(high, own_high)
            assert own_high - own_low < NARROW


@pytest.fixture
def many_chunks(monkeypatch):
    """Tiers of more than 16 slots are cut into chunks."""
    monkeypatch.setattr(chunks, "SMALLEST", 16)


@pytest.mark.thorough
def test_a_guess_is_the_same_by_any_number_of_workers_and_however_scripts_are_kept(many_chunks, tmp_path, monkeypatch):
    game = load_game("ur")
    expected = solve(game, tmp_path / "one.h5", method="numbered", workers=1).read_bytes()
    assert solve(game, tmp_path / "three.h5", method="numbered", workers=3).read_bytes() == expected
    monkeypatch.setattr(chunks, "look", partial(packed, chunks.look))
    assert solve(game, tmp_path / "packed.h5", method="numbered").read_bytes() == expected
    monkeypatch.undo()
    monkeypatch.setattr(chunks, "SMALLEST", 16)
    monkeypatch.setattr(SlotStore, "shares_memory", False)
    assert solve(game, tmp_path / "rules.h5", method="numbered").read_bytes() == expected


def packed(look, task):
    return look((*task[:-1], True))


@pytest.mark.parametrize(
    ("module", "name", "number"),
    thorough_but(
        [(chunks, "MOST_WORDS", 0), (scripts, "ENOUGH", 1), (replay, "TERMS", 1)],
        *[(chunks, "MOST_WORDS", 0), (replay, "TERMS", 1)],
    ),
)
def test_scripts_that_are_not_kept_short_ones_and_full_plans_change_no_byte(
    module, name, number, gambles, tmp_path, monkeypatch
):
    """Scripts of many words a slot are recorded in each sweep; a script ends after ENOUGH words, a plan may be full."""
    monkeypatch.setattr(module, name, number)
    assert solve(Gambles(), tmp_path / "other.h5", method="numbered").read_bytes() == gambles.read_bytes()


@dataclass(frozen=True)
class Chain(Game):
    """A walk of *length* moves from the only slot to an end that pays 1, without a slot in between."""

    title = "Chain"
    metric = "expectation"
    start = 0
    tiers = (0,)
    players = 1
    length: int = 10

    def size(self, tier):
        return 1

    def index(self, position):
        return 0 if position == 0 else -1

    def unindex(self, tier, i):
        return 0

    def generate_moves(self, position):
        yield 0
        yield 1

    def do_move(self, position, move):
        return position + 1

    def primitive(self, position):
        return TIE if position == self.length else UNDECIDED

    def payoff(self, position, player):
        return 1


def test_a_walk_of_many_moves_between_slots_is_followed_and_one_of_too_many_is_refused(tmp_path):
    with open_database(solve(Chain(200), tmp_path / "c.h5", method="numbered"), game=Chain(200)) as database:
        assert told(database, 0) == (1, 1)
    with pytest.raises(RuleError, match="among positions without a slot"):
        solve(Chain(kernels.DEEPEST + 1), tmp_path / "d.h5", method="numbered")


class Rich(Chain):
    """The end pays more than a contract allows."""

    def payoff(self, position, player):
        return 1 << 31


class Endless(Chain):
    """There is no end, and never the same position."""

    def primitive(self, position):
        return UNDECIDED


@pytest.mark.parametrize(("kind", "words"), [(Rich, "payoff"), (Endless, "among positions without a slot")])
def test_recording_refuses_what_breaks_the_contract(kind, words):
    game = kind()
    with pytest.raises(RuleError, match=words):
        list(scripts.Recording(game, SlotNumbering.of(game), 0, 0, 1, 46).scripts())


@pytest.mark.slow
@pytest.mark.parametrize(("text", "published"), [("yahtzee", "254.587729"), ("yahtzee:forced=0", "254.589609")])
def test_yahtzee_is_worth_what_others_have_found(text, published, tmp_path):
    """T. Verhoeff, 1999, where a joker may go anywhere; jdh8's yahtzee-engine by the rules on the box, to 254.5877."""
    game = load_game(text)
    with open_database(solve(game, tmp_path / "yahtzee.h5"), game=game) as database:
        low, high = told(database, game.start)
    assert low <= high < low + NARROW
    assert f"{float(low):.6f}" == f"{float(high):.6f}" == published


def test_a_joker_is_worth_its_points_only_where_its_own_category_is_used(tmp_path):
    forced, free = load_game("yahtzee"), load_game("yahtzee:forced=0")
    sixes = [(f"{used} u0 r0 66666", used) for used in ("12", "6+12")]
    names = {
        (game, used): {
            game.move_name(position, move): game.reward(position, move, 0) for move in game.generate_moves(position)
        }
        for game in (forced, free)
        for text, used in sixes
        for position in [game.read(text)]
    }
    assert names[forced, "12"] == {"sixes": 30}
    assert (names[free, "12"]["large-straight"], names[free, "12"]["sixes"]) == (0, 30)
    assert names[forced, "6+12"]["large-straight"] == names[free, "6+12"]["large-straight"] == 40
    assert "ones" not in names[forced, "6+12"]
    assert names[free, "6+12"]["ones"] == 0


def test_a_yahtzee_alone_is_worth_what_the_markov_chain_says(tmp_path):
    game = load_game("yahtzee:12")
    with open_database(solve(game, tmp_path / "one.h5", method="numbered"), game=game) as database:
        low, high = told(database, game.start)
    assert low <= Fraction(50 * 347_897, 7_558_272) <= high < low + NARROW


def test_all_turns_of_yahtzee_are_as_many_as_published():
    """536,448 with the 128 ends: J. Glenn, An Optimal Strategy for Yahtzee, 2006."""
    game = load_game("yahtzee")
    assert sum(game.size(tier) for tier in game.tiers) + 64 * 2 == 536_448


@pytest.mark.parametrize(
    "text",
    thorough_but(
        ["ur", "ur:2", "ur:7", "ur:4,3,4,1,3", "yahtzee", "yahtzee:1+2+3+12,joker=0"],
        *("ur:2", "ur:4,3,4,1,3", "yahtzee:1+2+3+12,joker=0"),
    ),
)
def test_slots_and_positions_undo_one_another(text):
    game = load_game(text)
    for tier in game.tiers:
        size = game.size(tier)
        for slot in {*range(0, size, max(1, size // 97)), size - 1}:
            position = game.unindex(tier, slot)
            assert (game.tier(position), game.index(position)) == (tier, slot)
            if (other := game.swapped(position)) >= 0:
                assert game.swapped(other) == position
                assert game.index(other) == -1


@pytest.mark.thorough
def test_commands_read_what_is_stored_by_slot(tmp_path, monkeypatch):
    monkeypatch.setenv("RETROGRADE_HOME", str(tmp_path))
    solve(load_game("ur"), method="numbered")
    start = load_game("ur").write(load_game("ur").start)
    facts = json.loads(retrograde("query", "ur", start, "--json").stdout)
    assert facts["low"] <= 2 * 0.530049839525 - 1 + 1e-11
    assert facts["high"] >= 2 * 0.530049839525 - 1 - 1e-11
    assert len(facts["moves"]) == 5
    told = json.loads(retrograde("info", "ur", "--json").stdout)
    assert (told["positions"], told["metric"], told["error"] < 1e-9) == (217, "expectation", True)
    assert "Expectation: 0.0600996790" in retrograde("info", "ur").stdout
    assert retrograde("verify", "ur").exit_code == 0
    assert retrograde("verify", "ur", "--quick").exit_code == 0
    output = tmp_path / "ur.csv"
    assert retrograde("export", "ur", "-o", str(output)).exit_code == 0
    assert len(output.read_text().splitlines()) == 218
    assert "expectation" in retrograde("list", "--json").stdout


def test_a_flipped_byte_never_makes_another_bound(gambles, tmp_path):
    content = bytearray(gambles.read_bytes())
    with open_database(gambles, game=Gambles()) as database:
        sound = database.file.contents.all_bounds(0, database.file.contents.length)
    copy, noticed = tmp_path / "flipped.h5", 0
    for place in range(1900, len(content), len(content) // 60):
        content[place] ^= 4
        copy.write_bytes(content)
        content[place] ^= 4
        try:
            with open_database(copy, game=Gambles()) as database:
                database.file.check()
                found = database.file.contents.all_bounds(0, database.file.contents.length)
        except (DamagedDatabase, OtherRules, NotADatabase):
            noticed += 1
        else:  # HDF5 leaves some room between objects
            assert all(np.array_equal(*pair) for pair in zip(sound, found, strict=True))
    assert noticed > 20


# A sample before a file gets its name


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("text", "metric"),
    [("nim", "nimber"), ("dotsandboxes:1,2", "score"), ("nim3", "utilities"), ("piglet:2", "expectation")],
)
def test_a_sample_of_any_metric_is_looked_at_before_the_file_gets_its_name(tmp_path, monkeypatch, text, metric):
    from retrograde.databases.legend import LegendTable

    game, path = load_game(text), tmp_path / "sampled.h5"
    with open_database(solve(game, path, metric=metric), game=game) as database:
        assert len(database.file.legend) > 1
    monkeypatch.setattr(LegendTable, "__getitem__", shifted(LegendTable.__getitem__))
    with pytest.raises(InternalError, match="is not worth what follows from its children"):
        solve(game, path, metric=metric, fresh=True)


def shifted(ordinary):
    """Return how rows are read where the last measure of each is one too many."""

    def read(legend, row):
        found = ordinary(legend, row)
        return found if isinstance(found, list) else found._replace(measures=tuple(one + 7 for one in found.measures))

    return read


def test_an_estimate_tells_slots_scratch_and_memory_without_looking_at_all_of_them():
    from retrograde.solver.estimation.estimate import estimate

    expected = estimate(load_game("ur:7"))
    assert expected.positions == 137_870_097
    assert expected.scratch == 16 * expected.positions
    low, high = expected.ranges["memory"]
    assert 17 * 29_598_456 < low < high < 8_000_000_000
    assert expected.ranges["seconds"][1] is None
