"""The program in C that reads databases by FORMAT.md alone answers as we do, for each kind of storage that it reads."""

import random
from collections.abc import Sequence

import h5py
import pytest

from retrograde.databases import open_database
from retrograde.games import DRAW, UNDECIDED
from retrograde.games.catalog import load_game
from retrograde.games.chess import Chess, men
from retrograde.games.chess.board import COLOURS
from retrograde.solver.engine import solve
from retrograde.solver.runtime.sizes import Sizes
from tests.helpers import c_reader
from tests.helpers.wide import WideTicTacToe

pytestmark = pytest.mark.long


def told(outcome) -> str:
    """Return what the program says of an outcome."""
    if outcome is None:
        return "none"
    return "draw" if outcome.value == DRAW else f"{outcome.value.name.lower()} {outcome.remoteness}"


def walked(game, seed: int, count: int = 400) -> list[int]:
    """Return positions of random play, and images of theirs."""
    chance, found = random.Random(seed), []
    while len(found) < count:
        position = game.start
        while True:
            found += [position, chance.choice([position, *game.images(position)])]
            if game.primitive(position) != UNDECIDED or len(found) >= count:
                break
            position = game.do_move(position, chance.choice(list(game.generate_moves(position))))
    return found


RECORDS = ["tictactoe", "tictactoe:misere=true", "connect4:4,4", "connect4:4,3,3", "dodgem", "mutorere", "lgame",
           "hareandhounds:hare=6", "tentozero:target=40,steps=1+3+4"]  # fmt: skip


@pytest.mark.parametrize("text", RECORDS)
def test_records(reader, solved, text):
    game = load_game(text)
    chance = random.Random(2)
    walk = walked(game, 1)
    strangers = [position ^ 1 << chance.randrange(9) for position in walk[:100]]  # mostly what play cannot reach
    if text in ("mutorere", "lgame", "hareandhounds:hare=6"):
        strangers = []  # their rules need not cope with what is no position
    with open_database(solved(text)) as database:
        wanted = [told(database.get(position)) for position in [*walk, *strangers]]
    assert len(set(wanted)) > 1 and "none" not in wanted[: len(walk)]
    assert not strangers or "none" in wanted
    assert reader(solved(text), [*walk, *strangers]) == wanted


@pytest.mark.thorough
@pytest.mark.parametrize("text", ["connect4:4,4", "connect4:5,3,3", "tictactoe", "tictactoe:misere=true"])
def test_steps(reader, tmp_path, text):
    game = load_game(text)
    path = solve(game, tmp_path / "game.h5", method="streamed", sizes=Sizes(in_memory=1))
    walk = walked(game, 3, 1000)
    with open_database(path) as database:
        assert type(database).__name__ == "StepsDatabase"
        wanted = [told(database.get(position)) for position in walk]
    assert reader(path, walk) == wanted


def test_another_metric(reader, tmp_path):
    path = solve(load_game("tictactoe"), tmp_path / "game.h5", metric="score")
    walk = walked(load_game("tictactoe"), 7)
    with open_database(path) as database:
        wanted = [f"{told(database[position])} score {database.measures(position)['score']}" for position in walk]
    assert len(set(wanted)) > 5
    assert reader(path, walk) == wanted


def test_positions_of_several_words(reader, solved, tmp_path):
    game = WideTicTacToe()
    path = solve(game, tmp_path / "wide.h5", method="interpreted")
    with h5py.File(path) as file:
        assert len(file["blocks"]) == 2 and len(file["tiers"]) == 10
    positions = walked(game, 8) + [(crosses, 511 ^ crosses) for crosses in range(512)] + [(7,) * 2, (1 << 61, 0)]
    asked = [f"{crosses},{noughts}@{game.tier((crosses, noughts))}" for crosses, noughts in positions]
    with open_database(solved("tictactoe")) as database:  # the same game, whose positions are ints
        wanted = [told(database.get(crosses | noughts << 9)) for crosses, noughts in positions[:-2]] + ["none"] * 2
    assert wanted.count("none") > 300 and len(set(wanted)) > 8
    assert reader(path, [*asked, "0,0@10"]) == [*wanted, "none"]
    for wrong in ("0,0", "0@0", "0,0,0@0", "0,@0", "0,0,0,0,0,0,0,0,0@0"):
        with pytest.raises(AssertionError, match="ask for the 2 words"):
            reader(path, [wrong])


def boards(count: int, names: Sequence[str] = men.TIERS) -> list[int]:
    """Return legal positions of endings, with and without rights to capture en passant."""
    chance, game = random.Random(4), Chess("KK")
    found: list[int] = []
    rights = 0
    while len(found) < count or rights < count // 4:
        tier = men.tier_of(chance.choice(names))
        plain, size = game.plain_size(tier), game.size(tier)
        behind = size > plain and chance.random() < 0.5
        position = game.unindex(tier, chance.randrange(plain, size) if behind else chance.randrange(plain))
        if position >= 0 and (not behind or position & 15) and (len(found) < count or position & 15):
            found.append(chance.choice(list(game.images(position))))
            rights += position & 15 > 0
            rights += count * ("P" not in "".join(names))
    return found


def test_slots_of_all_endings(reader, solved):
    game = Chess("KK")
    positions = boards(300)
    wanted = [f"slot {game.index(position)}" for position in positions]
    assert {position >> COLOURS & 1 for position in positions} == {0, 1}
    assert [line[line.index("slot") :] for line in reader(solved("chess:KRK"), positions)] == wanted
    fens = [game.write(position) for position in positions]
    assert [line[line.index("slot") :] for line in reader(solved("chess:KRK"), fens)] == wanted


def test_values_of_slots(reader, solved):
    chance = random.Random(5)
    positions = boards(500, ["KRK"])
    positions += [position ^ 1 << chance.randrange(4, 40) for position in positions[:300]]  # many are no positions
    with open_database(solved("chess:KRK")) as database:
        wanted = [told(database.get(position)) for position in positions]
    assert "none" in wanted and len(set(wanted)) > 20
    assert [line.split(" slot")[0] for line in reader(solved("chess:KRK"), positions)] == wanted


@pytest.mark.slow
@pytest.mark.parametrize("text", ["connect4:5,4", "connect4:5,5", "chess:KPKP"])
def test_large_databases(reader, solved, text):
    game = load_game(text)
    positions = boards(4000, ["KPKP"]) if text == "chess:KPKP" else walked(game, 6, 4000)
    with open_database(solved(text)) as database:
        wanted = [told(database.get(position)) for position in positions]
    assert [line.split(" slot")[0] for line in reader(solved(text), positions)] == wanted


def test_it_says_what_format_md_says(reader, solved):
    page = (c_reader.ROOT / "databases" / "FORMAT.md").read_text(encoding="utf-8")
    assert "`8/8/8/8/8/2k5/1R6/K7 b` is slot 30,345" in page
    assert reader(solved("chess:KRK"), ["8/8/8/8/8/2k5/1R6/K7 b"]) == ["lose 32 slot 30345"]
    assert "](../docs/reader.c)" in page


def test_damage_is_noticed(reader, solved, tmp_path):
    content = bytearray(solved("tictactoe").read_bytes())
    frames = [i for i in range(len(content)) if content[i : i + 4] == b"\x28\xb5\x2f\xfd"]
    assert len(frames) == 1  # tables are not compressed
    with h5py.File(solved("tictactoe")) as file:
        tables = [file[name].id.get_chunk_info(0).byte_offset for name in ("legend", "tiers", "blocks")]
    path = tmp_path / "tictactoe.h5"
    for frame in (*frames, *tables):
        path.write_bytes(content[: frame + 12] + bytes([content[frame + 12] ^ 255]) + content[frame + 13 :])
        with pytest.raises(AssertionError, match=r"chunk 0 of \w+ is (damaged|not where)"):
            reader(path, [0])
