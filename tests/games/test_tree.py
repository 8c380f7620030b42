"""Trees that are written down: read, refused, searched and solved, with the values that textbooks give."""

import json

import pytest

from retrograde.games import CHANCE, LOSE, TIE, UNDECIDED, WIN, VariantError
from retrograde.games.catalog import load_game, named_game, variant
from retrograde.solver.search.trees.tree import trees_of
from tests.helpers.command_line import retrograde
from tests.helpers.paths import ROOT

TREES = ROOT / "docs" / "trees"


def tree(text):
    return load_game(f"tree:text={text}")


@pytest.mark.parametrize(
    ("file", "values"),
    [
        ("minimax", ["+3", "+3", "+3"]),
        ("dice", ["+2.1", "+2.1"]),
        ("stretched", ["+40.9", "+40.9"]),
        ("three", ["(1, 2, 6)", "+1", "+1"]),
    ],
)
def test_examples_of_textbooks_have_their_values(file, values):
    game = load_game(f"tree:{TREES / file}.txt")
    assert [drawn.value_of(drawn.root) for drawn in trees_of(game, game.start).drawn] == values


def test_alpha_beta_in_the_order_of_the_file_cuts_what_the_textbook_cuts():
    game = load_game(f"tree:{TREES / 'minimax.txt'}")
    _, drawn = trees_of(game, game.start, order="as given").drawn
    cut = [[game.move_name(child.position, move) for move in child.cut] for child in drawn.root.children]
    assert cut == [[], ["b", "c"], []]
    assert (drawn.name, drawn.root.leaves) == ("alpha-beta, as given", 7)


def test_the_text_says_who_moves_and_what_ends_pay():
    game = tree("max(A=min(3+-12)left=chance(9x2+0)_)")
    assert [game.write(position) for position in range(8)] == [
        *("root", "A", "left", "c", "A.a", "A.b", "left.a", "left.b")
    ]
    assert [game.read(game.write(position)) for position in range(8)] == list(range(8))
    assert [game.turn(position) for position in range(4)] == [0, 1, CHANCE, 0]
    assert [game.primitive(position) for position in range(8)] == [UNDECIDED] * 4 + [WIN, LOSE, WIN, TIE]
    assert [game.payoff(position, 0) for position in (4, 5, 6, 7)] == [3, -12, 2, 0]
    assert [game.odds(2, move) for move in game.generate_moves(2)] == [9, 1]
    assert [game.do_move(3, move) for move in game.generate_moves(3)] == [3]
    assert (game.players, tree("max(1+2)").players, tree("p1(p3(1;2;3))").players) == (2, 1, 3)
    assert (tree("max(1+2)").metric, tree("max(chance(1+2))").metric, game.metric) == (
        "score",
        "expectation",
        "remoteness",
    )


def test_a_file_may_have_comments_spaces_and_lines(tmp_path):
    file = tmp_path / "mine.txt"
    file.write_text("# A tree.\nmax( A=min( 3 12 )  # two ends\n  min(2\n 4) )\n", "utf-8")
    game = tree(file)
    assert variant(game) == "tree:text=max(A=min(3+12)min(2+4))"
    assert game == tree("max(A=min(3+12)min(2+4))") == load_game(f"tree:{file}")
    with pytest.raises(VariantError, match=r"cannot read '.*none.txt': No such file"):
        tree(tmp_path / "none.txt")
    with pytest.raises(VariantError):
        named_game(f"tree:{file}")  # only a user's own command reads files, not a request or a database


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("max(3+12", "one root, as many"),
        ("max(3+12))", "cannot be read from '\\)'"),
        ("max(3+12)min(2)", "one root"),
        ("max()", "no moves before"),
        ("mix(3+12)", "cannot be read from 'mix"),
        ("max(p2(1))", "max and min, or p1"),
        ("max(min(1;2))", "pays one number"),
        ("p1(p2(p3(1;2)))", "pays 3 numbers, as in 1;1;1"),
        ("max(a=1+a=2)", "same name"),
        ("3", "needs a first position"),
        ("", "one root"),
    ],
)
def test_texts_that_are_no_trees_are_refused(text, what):
    with pytest.raises(VariantError, match=what):
        tree(text)


@pytest.mark.long
@pytest.mark.parametrize(
    ("file", "facts"),
    [
        ("minimax", {"value": "win", "score": 3}),
        ("dice", {"expectation": pytest.approx(2.1)}),
        ("three", {"utilities": [1, 2, 6]}),
        ("proof", {"value": "draw"}),
    ],
)
def test_trees_are_solved_to_the_values_of_the_search(file, facts, tmp_path):
    database = tmp_path / "tree.h5"
    retrograde("solve", f"tree:{TREES / file}.txt", "--database", database)
    assert "right" in retrograde("verify", database).stdout
    known = json.loads(retrograde("query", database, "--json").stdout)
    assert {name: known[name] for name in facts} == facts
