"""Kernels that get rules by a port: the same results as in Python, and the errors of the rules."""

import ctypes
import threading
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from random import Random

import numpy as np
import pytest
from llvmlite.binding import Linkage
from numba import njit

from retrograde.games import UNDECIDED, WIN, Game
from retrograde.games.catalog import load_game
from retrograde.games.contract.game import MOST_IMAGES, is_none
from retrograde.solver.rules import compiled, kernels, ports
from retrograde.solver.rules.expansion import Expander
from retrograde.solver.rules.port import BUFFER, SLOTS, RulesFailed, failure
from retrograde.solver.rules.ports import RulesPort
from retrograde.solver.rules.positions import put
from retrograde.solver.runtime.kernel import EntryCompiler, kernel
from tests.helpers import tangle, turning
from tests.helpers.apart import NODES, ApartWithParents, InOneWithParents
from tests.helpers.marks import thorough, thorough_but

pytestmark = pytest.mark.long


@pytest.fixture(params=[thorough("calls"), "machine code"])
def port_of(request, monkeypatch):
    """A function that makes a new port of a game, of calls or of machine code."""
    monkeypatch.setattr(ports, "PATIENCE", 1e9 if request.param == "calls" else -1.0)
    if request.param == "calls":
        monkeypatch.setattr(ports, "is_cached_for", lambda *_: False)
    return lambda game: RulesPort(game, compiled.type_of(game, False))


def expanded(rules, positions, tier, rows=300):
    """Return all that `expand` writes for some positions: compiled with a port, or in Python with a game."""
    count = len(positions)
    matrix = kernels.Matrix(
        np.zeros((rows, count), np.int64), np.zeros((rows, count), np.int64), np.zeros(count, np.uint8),
        np.zeros(count, np.uint16), np.zeros(count, np.int32), np.zeros(MOST_IMAGES, np.int64),
    )  # fmt: skip
    trouble = np.zeros(2, np.int64)
    expand = kernels.expand if isinstance(rules, RulesPort) else kernels.expand.py_func
    returned = expand(rules, tier, np.array(positions, np.int64), matrix, trouble)
    return [returned, trouble.tolist(), *(array.tolist() for array in matrix[:5])]


@pytest.mark.parametrize("name", thorough_but(["tictactoe", "dodgem", "mutorere"], "dodgem"))
def test_expand_writes_the_same(name, port_of):
    game = load_game(name)
    compiled.prepare(game)
    port, wave = port_of(game), [game.canonical(game.start)]
    for _ in range(5):
        tier = game.tier(wave[0])
        wave = [position for position in wave if game.tier(position) == tier][:50]
        result = expanded(game, wave, tier)
        assert expanded(port, wave, tier) == result
        wave = sorted({child for row in result[2] for child in row if child > 0})


@pytest.mark.parametrize("port_of", ["calls", thorough("machine code")], indirect=True)
def test_random_games(port_of):
    chance = Random(1)
    for _ in range(8):
        start = tangle.position_of(chance.getrandbits(20), chance.random() < 0.5, 2, 1, 8)
        game = chance.choice([tangle.Tangle, turning.Turning, turning.Alone])()
        compiled.prepare(game)
        positions = [start + node for node in range(16)]
        for position in positions:
            tier = game.tier(position)
            assert expanded(port_of(game), [position], tier) == expanded(game, [position], tier)


class Wide(Game):
    """From position 0 there are as many moves as an option says, each to an end."""

    name = "wide"
    start = 0
    moves: int = 3 * BUFFER

    def generate_moves(self, position):
        yield from range(self.moves)

    def do_move(self, position, move):
        return 1 + move

    def primitive(self, position):
        return UNDECIDED if position == 0 else WIN


@pytest.mark.parametrize(
    "moves", thorough_but([1, BUFFER - 1, BUFFER, BUFFER + 1, 2 * BUFFER, 2 * BUFFER + 1], BUFFER, BUFFER + 1)
)
def test_more_items_than_the_buffer_holds(moves, port_of):
    game = Wide()
    object.__setattr__(game, "moves", moves)
    (columns, needed), _, children, *_ = expanded(port_of(game), [0], 0)
    assert (columns, needed) == (1, moves)
    assert [row[0] for row in children[:moves]] == [*range(1, moves + 1)]


class Raising(Wide):
    """Raises at position 0."""

    name = "raising"

    def primitive(self, position):
        if position == 0:
            raise ValueError("no value")
        return WIN


def test_errors_of_rules_come_out(port_of):
    with pytest.raises((ValueError, RulesFailed)) as caught:
        expanded(port_of(Raising()), [0], 0)
    assert isinstance(failure(caught.value), ValueError)
    assert str(failure(caught.value)) in ("no value", "primitive") or caught.type is ValueError


def test_threads_share_a_port(port_of):
    game = load_game("dodgem")
    port, barrier = port_of(game), threading.Barrier(4)

    def expand(_):
        barrier.wait()
        return expanded(port, [game.start], game.tier(game.start))

    with ThreadPoolExecutor(4) as threads:
        results = [*threads.map(expand, range(4))]
    assert results == [expanded(port, [game.start], game.tier(game.start))] * 4


def test_calls_become_machine_code(monkeypatch):
    monkeypatch.setattr(ports, "PATIENCE", 0.0)
    monkeypatch.setattr(ports, "is_cached_for", lambda *_: False)
    game = load_game("dodgem")
    port = RulesPort(game, compiled.type_of(game, False))
    first = expanded(port, [game.start], game.tier(game.start))
    first_called, call = next(iter(port.calls.items()))
    assert port.impatient and port.table[SLOTS[first_called]] not in (0, ctypes.cast(call, ctypes.c_void_p).value)
    assert expanded(port, [game.start], game.tier(game.start)) == first


def test_calls_stay_calls_where_rules_are_only_called(monkeypatch):
    monkeypatch.setattr(ports, "PATIENCE", 0.0)
    monkeypatch.setattr(ports, "is_cached_for", lambda *_: False)
    game = load_game("dodgem")
    port = RulesPort(game, compiled.type_of(game, False))
    with ports.keep_rules_interpreted():
        expanded(port, [game.start], game.tier(game.start))
        assert port.seconds > 0.0 and not port.impatient
        for name, call in port.calls.items():
            assert port.table[SLOTS[name]] == ctypes.cast(call, ctypes.c_void_p).value
    assert port.impatient


@kernel
def ask_all(game, position, moves, children, images, parents, numbers):
    """Write what the rules say of a position; return how many moves, images and parents there are."""
    counts = np.zeros(3, np.int64)
    for move in game.generate_moves(position):
        moves[counts[0]] = move
        put(children, counts[0], game.do_move(position, move))
        counts[0] += 1
    for image in game.images(position):
        put(images, counts[1], image)
        counts[1] += 1
    for parent in game.parents(position):
        put(parents, counts[2], parent)
        counts[2] += 1
    least, tier = game.least_image(position)
    put(images, counts[1], least)
    put(images, counts[1] + 1, game.unindex(tier, game.index(least)))
    numbers[0], numbers[1], numbers[2] = game.primitive(position), tier, game.has_images
    return counts


@pytest.mark.thorough
def test_positions_of_three_words(port_of):
    game = ApartWithParents()
    port = port_of(game)
    every = (game.at(graph, node) for graph in range(12) for node in range(NODES))
    for position in (one for one in every if game.primitive(one) == UNDECIDED):
        moves, numbers = np.zeros(8, np.int64), np.zeros(3, np.int64)
        children, images, parents = (np.zeros((20, 3), np.int64) for _ in range(3))
        counts = ask_all(port, position, moves, children, images, parents, numbers)
        expected = [*game.generate_moves(position)], [*game.images(position)], [*game.parents(position)]
        assert counts.tolist() == [*map(len, expected)]
        assert moves[: counts[0]].tolist() == expected[0]
        assert [*map(tuple, children[: counts[0]].tolist())] == [game.do_move(position, move) for move in expected[0]]
        least, tier = game.canonical(position), game.tier(position)
        found = [*map(tuple, images[: counts[1] + 2].tolist())]
        assert found == [*expected[1], least, game.unindex(tier, game.index(least))]
        assert [*map(tuple, parents[: counts[2]].tolist())] == expected[2]
        assert numbers.tolist() == [game.primitive(position), tier, 1]


def nodes_in(game, lists):
    """Return the graph and node of each position; of a node and its image the same."""
    return [[(game.graph(one), game.node(one) | game.symmetric(one)) for one in positions] for positions in lists]


@pytest.mark.as_python
def test_expand_writes_the_same_for_one_word_and_for_three():
    one, three = Expander(InOneWithParents()), Expander(ApartWithParents())
    spots = 0
    for graph, node in product(range(30), range(NODES)):
        number, words = one.game.at(graph, node), three.game.at(graph, node)
        tier = one.game.tier(number)
        if is_none(three.game.unindex(tier, three.game.index(words))):
            continue
        for method in ("expand", "expand_parents"):
            narrow = getattr(one, method)(tier, np.array([number]))
            wide = getattr(three, method)(tier, np.array([words]))
            assert nodes_in(one.game, narrow.lists_by_position()[1]) == nodes_in(
                three.game, wide.lists_by_position()[1]
            )
            assert method == "expand_parents" or narrow.primitives.tolist() == wide.primitives.tolist()
        if three.game.canonical(words) == words:
            three.spot_check(tier, np.array([words]))
            spots += 1
    assert spots > 100


class TooFewWords(ApartWithParents):
    """Gives tuples of another length than the start's."""

    def do_move(self, position, move):
        return position[:2]


def test_tuples_of_another_length_are_refused(port_of):
    game = TooFewWords()
    buffers = [np.zeros((20, 3), np.int64) for _ in range(3)]
    position = next(one for one in (game.at(5, node) for node in range(NODES)) if game.primitive(one) == UNDECIDED)
    with pytest.raises(RulesFailed) as caught:
        ask_all(port_of(game), position, np.zeros(8, np.int64), *buffers, np.zeros(3, np.int64))
    assert "do_move" in str(failure(caught.value))


def test_an_entry_shares_no_function_with_other_machine_code():
    @njit("int64(int64)")
    def fibonacci(number):  # recursion is not inlined
        return number if number < 2 else fibonacci(number - 1) + fibonacci(number - 2)

    def shared(**options):
        entry = njit(no_cfunc_wrapper=True, **options)(lambda number: fibonacci(number) + 1)
        assert entry(10) == 56
        (code,) = entry.overloads.values()
        functions = [one for one in code.library._final_module.functions if not one.is_declaration]
        copies = [one for one in functions if "fibonacci" in one.name]
        assert copies
        names.append({one.name for one in copies})
        return [one.name for one in copies if one.linkage != Linkage.internal]

    names: list[set[str]] = []
    assert shared()
    assert shared(pipeline_class=EntryCompiler) == []
    # The loader looks up internal functions by their names as well: a copy must not have the name of the original.
    assert not names[0] & names[1]
