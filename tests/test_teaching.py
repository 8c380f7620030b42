"""What searches do, shown and measured: trees as textbooks draw them, and how often a search to a depth errs."""

import json
import re
import xml.etree.ElementTree as ElementTree

import pytest

from retrograde.games.catalog import load_game
from retrograde.solver.teaching.picture import trees_svg
from retrograde.solver.teaching.text import MOST_LINES, trees_text
from retrograde.solver.teaching.tree import MOST_POSITIONS, TooLarge, trees_of

from .command_line import retrograde

SVG = "{http://www.w3.org/2000/svg}"

# Trees

NILSSON = """\
minimax     alpha-beta, worst first   alpha-beta, best first
Max +1      Max +1 (−∞ +∞)            Max +1 (−∞ +∞)
├ a1 −1     ├ b1 −2 (−∞ +∞)           ├ b2 +1 (−∞ +∞)
│ ├ b1 +1   │ ├ a2 0                  │ ├ a1 +1
│ ├ c1 0    │ ├ b3 0                  │ └ b1 +2
│ ├ b2 −1   │ ├ a1 −1                 ├ a1 ≤−1 (+1 +∞)
│ ├ c2 +1   │ ├ a3 −1                 │ ├ b2 −1
│ └ c3 0    │ └ b2 −2                 │ └╳ c1 … c2: 4
├ b1 −2     ├ a1 −1 (−2 +∞)           └ b1 ≤−2 (+1 +∞)
│ ├ a1 −1   │ ├ b1 +1                   ├ b2 −2
│ ├ a2 0    │ ├ c2 +1                   └╳ a1 … b3: 4
│ ├ b2 −2   │ ├ c1 0
│ ├ a3 −1   │ ├ c3 0
│ └ b3 0    │ └ b2 −1
└ b2 +1     └ b2 +1 (−1 +∞)
  ├ a1 +1     ├ b1 +2
  └ b1 +2     └ a1 +1"""
"""The tree of two plies that textbooks show since Nilsson (1971), by the same estimate: lines that are still open."""


def cuts(node):
    return bool(node.cut) + sum(map(cuts, node.children))


def test_the_tree_that_every_textbook_has():
    game = load_game("tictactoe")
    trees = trees_of(game, game.start)
    assert trees.depth == 2
    assert trees_text(trees, 80) == NILSSON
    assert [tree.root.positions for tree in trees.counted] == [16, 16, 8, 8]
    below = trees_text(trees, 50)
    assert below.count("\n\n") == 2 and max(map(len, below.splitlines())) < 50
    assert sorted(below.split()) == sorted(NILSSON.split())


@pytest.mark.parametrize("text", ["tictactoe", "connect4:4,4", "tentozero", "hareandhounds", "dodgem", "mutorere"])
@pytest.mark.parametrize("depth", [1, 3])
def test_all_trees_have_one_value_and_are_drawn(text, depth):
    game = load_game(text)
    trees = trees_of(game, game.start, depth)
    assert {tree.root.value for tree in trees.counted} == {trees.value}
    least = [tree.root.positions for tree in trees.counted]
    assert least[0] >= least[1] >= least[2]
    root = ElementTree.fromstring(trees_svg(trees))
    drawn = root.findall(f"{SVG}g")
    assert len(drawn) == 3
    for group, tree in zip(drawn, trees.drawn, strict=True):
        shown = {f"{tree.name}", f"{tree.root.positions:,} positions, {tree.root.leaves:,} at the edge"}
        assert shown <= {one.text for one in group.findall(f"{SVG}text")}
        assert len(group.findall(f"{SVG}use")) == tree.root.positions
        assert len(group.findall(f"{SVG}path[@class='cut']")) == cuts(tree.root)
    used = {one.get("href") for one in root.iter(f"{SVG}use")}
    assert used == {f"#{one.get('id')}" for one in root.iter(f"{SVG}symbol")}


def test_of_trees_that_are_too_large_some_is_left_out_and_that_is_said():
    game = load_game("connect4:5,4")
    trees = trees_of(game, game.start, 5)
    text = trees_text(trees, 80)
    blocks = text.split("\n\n")
    assert all(len(block.splitlines()) <= MOST_LINES + 3 for block in blocks)
    hidden = sum(int(count.replace(",", "")) for count in re.findall(r"… ([\d,]+) below", blocks[0]))
    shown = len(blocks[0].splitlines()) - 1
    assert hidden + shown == trees.drawn[0].root.positions
    picture = trees_svg(trees)
    assert len(picture) < 500_000
    assert re.search(r"… \d+ below", picture)
    wide = load_game("lgame")
    assert "… and 5 more lines" in trees_text(trees_of(wide, wide.start, 1), 80)
    with pytest.raises(TooLarge, match=f"a tree of 9 plies has more than {MOST_POSITIONS:,} positions"):
        trees_of(game, game.start, 9)


def test_trees_on_the_command_line(tmp_path):
    text = retrograde("search", "tictactoe", "--tree").stdout
    assert NILSSON in text
    assert "minimax                          16           12" in text
    assert "Max is X to move" in text and "proved" not in text
    told = json.loads(retrograde("search", "tictactoe", "X.O/.X./O..", "--tree", "--depth", 2, "--json").stdout)
    assert (told["value"], told["depth"]) == ("W1", 2)
    assert [(one["search"], one["positions"]) for one in told["searches"]][::2] == [
        ("minimax", 12),
        ("alpha-beta, best first", 6),
    ]
    best = told["trees"][2]
    assert (best["moves"]["c2"]["value"], best["moves"]["c2"]["window"]) == ("≤+1", "W1 +∞")
    assert best["moves"]["c2"]["cut"] == ["a2", "b3", "c3"]
    picture = tmp_path / "tree.svg"
    assert retrograde("search", "tictactoe", "--tree", "--out", picture).stdout == f"{picture}\n"
    assert picture.read_text("utf-8").startswith("<svg")
    refused = retrograde("search", "tictactoe", "--tree", "--out", "tree.png", status=2).stderr
    assert "the picture must be .svg, not 'tree.png'" in refused
    over = retrograde("search", "tictactoe", "XXX/OO./...", "--tree", status=1).stderr
    assert over == "retrograde: error: the game is over in 'XXX/OO./...'; a tree begins where it goes on\n"
    large = retrograde("search", "connect4", "--tree", "--depth", 20, status=1).stderr
    assert "give a smaller --depth" in large and large.count("\n") == 1
    nowhere = retrograde("search", "tictactoe", "--tree", "--out", tmp_path / "none" / "a.svg", status=1).stderr
    assert "cannot write" in nowhere
