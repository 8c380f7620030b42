"""Dōbutsu shōgi, against what has been published and against a solver that is slow and obvious."""

import pytest

from retrograde.databases import open_database
from retrograde.games import UNDECIDED
from retrograde.games.catalog import load_game
from tests.helpers import reference

WAVES = (1, 4, 17, 82, 447, 1960, 7714)
"""Classes of positions by plies from the start, mirror images once. They come from a program in C++ that shares nothing
with this one and finds 246,803,167 in all, of which the game goes on in 99,485,568, as T. Tanaka has it (2009)."""


def test_positions_are_as_many_as_another_program_finds():
    game = load_game("dobutsu")
    wave, known, counts = {game.canonical(game.start)}, set(), []
    for _ in WAVES:
        counts.append(len(wave))
        known |= wave
        open_ones = [position for position in wave if game.primitive(position) == UNDECIDED]
        children = (game.do_move(one, move) for one in open_ones for move in game.generate_moves(one))
        wave = {game.canonical(child) for child in children} - known
    assert tuple(counts) == WAVES


@pytest.mark.thorough
def test_with_chicks_alone_it_is_what_a_slow_solver_makes_of_it(solved):
    game = load_game("dobutsu:C")
    wanted = reference.solve(game, symmetric=True)
    with open_database(solved("dobutsu:C"), game=game) as database:
        assert database.file.stored == len(wanted)
        for position, outcome in wanted.items():
            assert database[position] == outcome


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("c...../g.l/.e./.L./E.G/C...../l", "b2-c3 b2-a3 c1-c2 c1-b1 a1-a2 a1-b1 C*b4 C*c3 C*a3 C*c2 C*a2 C*b1"),
        ("c...../g.l/.e./.L./E.G/C...../L", "b3-a2 b3-b2 b3-c2 b3-a3 b3-c3 b3-b4 c4-c3 c4-b4"
         " C*b1 C*a2 C*c2 C*a3 C*c3 C*b4"),
    ],
)  # fmt: skip
def test_texts_and_names_of_moves(text, names):
    game = load_game("dobutsu")
    position = game.read(text)
    assert game.write(position) == text
    assert " ".join(game.move_name(position, move) for move in game.generate_moves(position)) == names


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("c...../g.l/.e./.L./E.G/....../L", "there must be two C, of both players and in hand together; not 1"),
        ("c...../g../.e./.L./E.G/C...../L", "there must be one lion of each player"),
        ("C...../g.l/.e./.L./E.G/c...../L", "only chicks, elephants and giraffes of one's own are in hand"),
    ],
)
def test_what_is_no_position_is_one_line(text, complaint):
    with pytest.raises(ValueError, match=complaint):
        load_game("dobutsu").read(text)


def test_men_that_there_are_not_are_one_line():
    with pytest.raises(ValueError, match="men must be some of CEG, in this order"):
        load_game("dobutsu:GE")
