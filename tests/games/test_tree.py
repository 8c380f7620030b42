"""Trees that are written down: read, refused, searched and solved, with the values that textbooks give."""

import json

import pytest

from retrograde.games import CHANCE, LOSE, TIE, UNDECIDED, WIN, VariantError
from retrograde.games.catalog import in_short, load_game, named_game, variant
from retrograde.solver.search.trees import textbook
from retrograde.solver.search.trees.tree import TreeTooLarge, trees_of
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
    game = tree("max(A=min(3+-12)left=chance(9x2+0)min(5))")
    assert [game.write(position) for position in range(8)] == [
        *("root", "A", "left", "c", "A.a", "A.b", "left.a", "left.b")
    ]
    assert [game.read(game.write(position)) for position in range(8)] == list(range(8))
    assert [game.turn(position) for position in range(4)] == [0, 1, CHANCE, 1]
    assert [game.primitive(position) for position in range(8)] == [UNDECIDED] * 4 + [WIN, LOSE, WIN, TIE]
    assert [game.payoff(position, 0) for position in (4, 5, 6, 7)] == [3, -12, 2, 0]
    assert [game.odds(2, move) for move in game.generate_moves(2)] == [9, 1]
    unknown = tree("max(A=min(3+-12)left=min(9+0)_)")
    assert (unknown.turn(3), unknown.primitive(3), unknown.write(3)) == (0, UNDECIDED, "c")
    assert [unknown.do_move(3, move) for move in unknown.generate_moves(3)] == [3]
    assert (game.players, tree("max(1+2)").players, tree("p1(p3(1;2;3))").players) == (2, 1, 3)
    assert (tree("max(1+2)").metric, tree("max(chance(1+2))").metric, unknown.metric) == (
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
        ("max(A=min(1000000000+1)B=5)", "from '1000000000.*up to nine digits"),
        ("max(min(-12345678901+1)B=5)", "from '-12345678901.*up to nine digits"),
        ("chance(999999999999999999999x1+1x2)", "from '999999999999.*up to nine digits"),
        ("max(a=1234567890)", "from 'a=1234567890.*up to nine digits"),
        ("p1(p2(p3(1;2;1000000000)))", "cannot be read from ';1000000000"),
        ("max(chance(1+2)_)", "neither chance nor p3"),
        ("p1(p2(p3(1;2;3))_)", "neither chance nor p3"),
    ],
)
def test_texts_that_are_no_trees_are_refused(text, what):
    with pytest.raises(VariantError, match=what):
        tree(text)


def test_numbers_of_nine_digits_are_taken():
    assert tree("max(999999999+-999999999)").payoffs == (0, 999999999, -999999999)


def test_a_comma_in_a_file_is_no_separator_of_options(tmp_path):
    file = tmp_path / "mine.txt"
    file.write_text("max(min(3 8),min(2 4))", "utf-8")
    with pytest.raises(VariantError, match=r"mine\.txt': the tree cannot be read from ',min\(2"):
        tree(file)
    file.write_text("IBBxooIooLDDJAALooJoKEEMFFKooMGGHH,M", "utf-8")
    with pytest.raises(VariantError, match=r"mine\.txt': an option has a comma, which separates options"):
        load_game(f"rushhour:{file}")


def test_messages_name_the_file_of_a_tree_and_commands_can_be_pasted(tmp_path):
    file = tmp_path / "my tree.txt"
    file.write_text(f"max({'min(_ 3) ' * 99})", "utf-8")
    command = f"retrograde play 'tree:{file}'; if it is small, solve it: retrograde solve 'tree:{file}'"
    for options, why in {
        "": "this search is for two players who alternate; "
        "the rules of this game define `turn`, so that a player may move twice",
        "--metric=score": "play goes round in circles, or on for longer than there is room",
    }.items():
        told = retrograde("search", f"tree:{file}", *filter(None, [options]), status=1).stderr
        assert told == f"retrograde: error: {in_short(tree(file))}: {why}; play it: {command}\n"
    told = retrograde("search", "tree:max(min(_+3)2)", status=1).stderr
    assert told.endswith("retrograde solve 'tree:text=max(min(_+3)2)'\n")
    told = retrograde("prove", f"tree:{file}", "--out", tmp_path / "a.proof.h5", status=1).stderr
    assert "define `odds`" in told and f"retrograde play 'tree:{file}'" in told and "min(_" not in told


def alternating(plies):
    """Return a tree in which each move but one ends the game, so many plies deep."""
    text = "2"
    for ply in range(plies):
        text = f"{'max' if (plies - ply) % 2 else 'min'}({1 if (plies - ply) % 2 else 5}+{text})"
    return tree(text)


def test_deep_trees_are_drawn_to_a_hundred_plies():
    game = alternating(100)
    drawn = trees_of(game, game.start, 2000).drawn
    assert [(shown.root.positions, shown.value_of(shown.root)) for shown in drawn[:1]] == [(201, "+2")]
    assert {shown.root.value for shown in drawn} == {2}
    game = alternating(600)
    with pytest.raises(TreeTooLarge, match="100 plies at most"):
        trees_of(game, game.start, 2000)
    assert trees_of(game, game.start, 100).drawn[0].root.positions == 201


def test_each_position_of_a_deep_tree_is_searched_once_to_order_the_moves(monkeypatch):
    searched = []
    search = textbook.minimax
    monkeypatch.setattr(textbook, "minimax", lambda *arguments: searched.append(1) or search(*arguments))
    game = alternating(100)
    rules = textbook.TextbookRules(game, textbook.order_without_symmetry(game), game.estimate, by_points=True)
    order = textbook.order_by_minimax(rules, best_first=True)
    node = rules.make_root(game.start)
    for depth in range(100, 0, -1):
        order(node, depth)
        node = [child for _, child in rules.make_children(node, depth)][-1]
    assert len(searched) <= 201


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
