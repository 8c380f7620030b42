"""Positions of several words that the game does not number: held against the same games coded as ints."""

import random

import numpy as np
import pytest

from retrograde.databases import DamagedDatabase, NotInDatabase, open_database
from retrograde.databases.rows import read, write
from retrograde.games import TIE, UNDECIDED
from retrograde.games.catalog import load_game
from retrograde.games.contract.game import MOST_WORDS
from retrograde.solver.conformance.check import check
from retrograde.solver.engine import solve
from retrograde.solver.verification.verify import verify
from tests.helpers.apart import Apart, InOne
from tests.helpers.forge import Forged
from tests.helpers.marks import thorough
from tests.helpers.wide import WideTicTacToe, graph_of


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return solve(WideTicTacToe(), tmp_path_factory.mktemp("wide") / "wide.h5")


@pytest.mark.thorough
def test_tic_tac_toe_in_two_words_is_worth_the_same(path):
    with open_database(path, game=WideTicTacToe()) as wide:
        assert check(WideTicTacToe()).ok
        assert (wide.file.positions, wide.file.stored, wide.file.header.storage) == (5478, 5478, "rows")
        assert wide[0, 0] == (TIE, 9)
        positions = [position for _, some, *_ in wide.records() for position in map(tuple, some.tolist())]
        assert len(positions) == len({*positions}) == 5478
        values, plies = wide.lookup(np.array(positions))
        for position, value, remoteness in zip(positions, values.tolist(), plies.tolist(), strict=True):
            assert wide[position] == (value, remoteness)
        by_value = {row.value.name: 0 for row in wide.file.legend}
        for row in wide.file.legend:
            by_value[row.value.name] += row.positions
            assert wide[row.example] == (row.value, row.plies)
        assert by_value == {"WIN": 2836, "LOSE": 1574, "TIE": 1068}  # as of `tictactoe`
        with pytest.raises(NotInDatabase):
            wide[7, 56]
        with pytest.raises(TypeError):
            wide[7]
        wide.file.check()


def outcomes(game, path):
    """Return the outcome of each stored position, by graph and node."""
    with open_database(solve(game, path, method="interpreted"), game=game) as database:
        database.file.check()
        return {
            (game.graph(position), game.node(position)): (tier, value, plies)
            for tier, positions, values, remotenesses in database.records()
            for position, value, plies in zip(
                [tuple(one) if isinstance(one, list) else one for one in positions.tolist()],
                values.tolist(), remotenesses.tolist(), strict=True,
            )
        }  # fmt: skip


@pytest.mark.thorough
def test_random_graphs_are_worth_the_same_in_three_words(tmp_path):
    sizes = []
    for which in range(12):
        wide = outcomes(graph_of(Apart, which), tmp_path / f"wide{which}.h5")
        assert wide == outcomes(graph_of(InOne, which), tmp_path / f"one{which}.h5")
        sizes.append(len(wide))
    assert max(sizes) >= 10


@pytest.mark.thorough
def test_blocks_and_tiers_cross(tmp_path, monkeypatch):
    for module in (read, write):
        monkeypatch.setattr(module, "BLOCK", 7)
    monkeypatch.setattr(read.RowsReader, "ITEMS", 7)
    game = WideTicTacToe()
    chance = random.Random(3)
    with open_database(solve(game, tmp_path / "wide.h5"), game=game) as wide:
        assert wide.file.contents.block_count == -(-5478 // 7)
        for tier, positions, values, _ in wide.records():
            for k in chance.sample(range(len(positions)), min(3, len(positions))):
                position = tuple(positions[k].tolist())
                assert (game.tier(position), wide[position].value) == (tier, values[k])


@pytest.mark.parametrize("damage", ["order", "word", "words", "outcome", "row"])
def test_forged_rows_are_noticed(path, tmp_path, damage):
    forged = Forged.read(path)
    part = forged.parts["rows"]
    planes = np.frombuffer(part.contents[0], np.uint8).reshape(part.dtype.itemsize, -1).copy()
    rows = np.ascontiguousarray(planes.T).view(part.dtype).reshape(-1).copy()
    if damage == "order":
        rows[[5, 6]] = rows[[6, 5]]
    elif damage == "word":
        rows["word1"][5] = -1
    elif damage == "words":
        forged.attributes["words"] = MOST_WORDS + 1
    elif damage == "outcome":
        rows["outcome"][5] = 200
    else:
        table = forged.parts["legend"].rows()
        table["example"][0] = 1 << 40
        forged.parts["legend"].put(table)
    part.contents[0] = np.ascontiguousarray(rows.view(np.uint8).reshape(len(rows), -1).T).tobytes()
    with (
        pytest.raises(DamagedDatabase),
        open_database(forged.write(tmp_path / "forged.h5"), game=WideTicTacToe()) as database,
    ):
        database.file.check()


@pytest.mark.long
@pytest.mark.parametrize("interpreted", [True, thorough(False)])
def test_verify_finds_each_change(path, tmp_path, interpreted):
    with open_database(path, game=WideTicTacToe()) as database:
        assert verify(database, interpreted=interpreted).ok
        legend = [(row.value, row.remoteness) for row in database.file.legend]
    chance = random.Random(4)
    for number in chance.sample(range(5478), 1):
        forged = Forged.read(path)
        block, i = divmod(number, 4096)
        part = forged.parts["rows"]
        content = bytearray(part.contents[block])
        before = content[i]  # the first plane holds the outcomes
        content[i] = chance.choice([row for row in range(len(legend)) if row != before])
        part.contents[block] = bytes(content)
        with open_database(forged.write(tmp_path / "forged.h5"), game=WideTicTacToe()) as database:
            report = verify(database, interpreted=interpreted)
            assert not report.ok and report.wrong >= 1


def test_tic_tac_toe_agrees_position_by_position(path, solved):
    with open_database(path, game=WideTicTacToe()) as wide, open_database(solved("tictactoe")) as one:
        game, positions = load_game("tictactoe"), {(0, 0): load_game("tictactoe").start}
        waiting = [(0, 0)]
        while waiting:
            position = waiting.pop()
            assert wide[position] == one[positions[position]]
            if WideTicTacToe().primitive(position) == UNDECIDED:
                for move in game.generate_moves(positions[position]):
                    child = WideTicTacToe().do_move(position, move)
                    if child not in positions:
                        positions[child] = game.do_move(positions[position], move)
                        waiting.append(child)
        assert len(positions) == 5478
