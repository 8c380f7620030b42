"""The search trees of one position by several searches, and how many positions each searched.

Which trees are drawn depends on the game:

    two players         minimax, which searches everything; alpha-beta with the worst move order, which cuts least;
                        and with the best order, which cuts most. Null windows are counted only.
    with chance         the same, as expectiminimax, with Star1
    one player          everything; with chance expectimax, and with Star1
    several players     max^n; and paranoid search, in which all others are Min, without and with alpha-beta
    by proof numbers    the tree of proof-number search

If the rules say that estimates cannot be trusted at some leaf (`quiet`), a tree of quiescence search follows. If they
say which moves are exchanges, it also goes on with these from quiet leaves, where the player may stop instead. Of moves
that lead to symmetric positions, one is searched. Minimax and alpha-beta find the same value.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from retrograde.games.contract.game import CHANCE, Game, RetrogradeError, Traits
from retrograde.games.contract.naming import player_to_move
from retrograde.solver.rules.examine import NotForSearch
from retrograde.solver.search.depth.scores import DECIDED, INFINITE, counts_points, most_points, plies_to_end
from retrograde.solver.search.trees.textbook import (
    MIN,
    Node,
    TextbookRules,
    alpha_beta,
    count_conspirators,
    max_n,
    minimax,
    order_by_minimax,
    order_without_symmetry,
    proof_tree,
)

MOST_POSITIONS = 20_000
"""Greatest number of positions that minimax may search: the textbook searches are slow on purpose."""
USUAL_POSITIONS = 40
"""Positions, at most, of a tree whose depth the user does not choose; and its greatest depth in plies."""
USUAL_DEPTH = 4
MOST_PLIES = 100
"""Greatest depth of a tree in plies."""
MOST_LINES = 60
"""Greatest number of lines of a tree. Deeper plies are left out first, then later lines."""
QUIESCENCE = 2
"""Plies of quiescence search; players search more, but their trees are too large to be drawn."""
MOST_GOALS = 12
"""Conspiracy numbers are shown if the leaves have at most this many values."""
GIVEN, WORST, BEST = ORDERS = ("as given", "worst first", "best first")
"""Orders of moves."""
GAP = 3
CUT = "╳"


class TreeTooLarge(RetrogradeError, ValueError):
    """A tree has more positions than can be drawn."""


# Texts about a node, from Max's view


def score_text(score: float) -> str:
    """Return a short text for a score: `W3` is a win after 3 plies, `L2` a loss after 2; others are numbers.

    >>> [score_text(score) for score in (5, 0, -5, 0.125, INFINITE, -INFINITE, (1 << 40) - 3)]
    ['+5', '0', '−5', '+0.125', '+∞', '−∞', 'W3']
    """
    sign = "+" if score > 0 else "−" if score < 0 else ""
    if abs(score) == INFINITE:
        return f"{sign}∞"
    if abs(score) > DECIDED:
        return f"{'W' if score > 0 else 'L'}{plies_to_end(int(score))}"
    return sign + f"{abs(score):.3f}".rstrip("0").rstrip(".")


def value_text(node: Node) -> str:
    """Return a node's value as text, with ≤ or ≥ if it is only a bound because the search left the window."""
    bound = "≥" if node.value >= node.high else "≤" if node.value <= node.low else ""
    return (bound if node.children else "") + score_text(node.value)


def shares_text(node: Node) -> str:
    """Return the points of each player, as in `(1, 0, 2)`."""
    return f"({', '.join(score_text(points).removeprefix('+') for points in node.numbers)})"


def proofs_text(node: Node) -> str:
    """Return the proof and the disproof number, as in `1/3`, with a mark at the most-proving node."""
    proof, disproof = (score_text(count).removeprefix("+") for count in node.numbers)
    return f"{proof}/{disproof}{' ◀' if node.marked else ''}"


@dataclass(frozen=True)
class SearchTree:
    """A search's name, the root of its tree, and what is written at its nodes."""

    game: Game
    name: str
    root: Node
    windows: bool = False
    value_of: Callable[[Node], str] = value_text

    def side(self, node: Node) -> str:
        """Return who moves: Max, Min, Chance, or for max^n the name of a player."""
        if node.side != CHANCE and self.value_of is shares_text:
            return player_to_move(self.game, node.position) or f"player {self.game.turn(node.position) + 1}"
        return "Chance" if node.side == CHANCE else "Min" if node.side == MIN else "Max"

    def label(self, node: Node) -> str:
        """Return the value of a node; before it, who moves, unless two players alternate."""
        shows_side = node.children and not Traits.of(self.game).alternates
        return f"{self.side(node)} {self.value_of(node)}" if shows_side else self.value_of(node)

    def window(self, node: Node) -> str:
        """Return the text of a node's window, α and β; "" if the search has none."""
        return f"({score_text(node.low)} {score_text(node.high)})" if self.windows and node.children else ""

    def move_name(self, node: Node, i: int) -> str:
        """Return the name of the move to child *i*, with its probability if chance moves."""
        name, odds = self.game.move_name(node.position, node.moves[i]), node.children[i].odds
        return f"{name} ({odds[0]}/{odds[1]})" if odds else name


@dataclass(frozen=True)
class Trees:
    """The trees of a position at a depth."""

    game: Game
    position: int
    depth: int
    drawn: tuple[SearchTree, ...]
    counted: tuple[SearchTree, ...]
    """The trees drawn, and others of which only the counts are shown."""
    by_points: bool

    @property
    def value(self) -> str:
        """The text of the position's value by the first search."""
        return self.drawn[0].value_of(self.drawn[0].root)

    def conspiracy(self) -> dict[str, str]:
        """Return how many estimates must change to move the root's minimax value to that of another leaf, by value.
        Empty with chance, for several players, without estimates, and for more than MOST_GOALS values."""
        tree = self.drawn[0]
        nodes = list(tree.root.nodes())
        leaves = [node for node in nodes if not node.children]
        goals = sorted({node.value for node in leaves}) if any(leaf.estimated for leaf in leaves) else []
        if tree.value_of is not value_text or len(goals) > MOST_GOALS or any(node.side == CHANCE for node in nodes):
            return {}
        counts = {goal: count_conspirators(tree.root, goal, goal > tree.root.value) for goal in goals}
        return {score_text(goal): score_text(count).removeprefix("+") for goal, count in counts.items()}

    def notes(self, who: str) -> list[str]:
        """Return sentences that explain the trees, where *who* is the player to move at the root."""
        tree, counts, who = self.drawn[0], self.conspiracy(), who or "the player to move"
        meaning = "W3 is a win after 3 plies and L2 a loss after 2, other numbers are estimates, or 0 for a tie."
        if self.by_points:
            less = ", less those of the other player" if self.game.players == 2 else ""
            meaning = f"points that Max gets{less}."
        notes = [f"Max is {who}, and values are as Max sees them: {meaning}"]
        if tree.value_of is proofs_text:
            notes = [
                f"Max is {who}. Proof and disproof numbers of the question whether Max wins; ◀ is the most-proving."
            ]
        elif tree.value_of is shares_text:
            notes += ["For max^n, each player's points, the first player first."]
        if any(drawn.windows for drawn in self.drawn):
            notes += [f"In parentheses α and β: values between them matter; ≤ and ≥ are bounds; {CUT} are cut moves."]
        if Traits.of(self.game).has_images:
            notes += ["Of moves that are equal by symmetry one is searched."]
        if len(counts) > 1:
            goals = ", ".join(f"{goal}: {count}" for goal, count in counts.items())
            notes += [f"Conspiracy numbers, the estimates that must change to move the root to a value: {goals}."]
        return notes


def trees_of(
    game: Game,
    position: int,
    depth: int | None = None,
    by_points: bool | None = None,
    by_proofs: bool = False,
    order: str = "",
) -> Trees:
    """Return the trees of a position; without *depth*, as deep as can be drawn easily.

    *by_points* overrides whether the game is about points; with chance it always is. *by_proofs* asks for proof-number
    search alone. With *order*, one of ORDERS, alpha-beta is drawn once, in this order. Raise TreeTooLarge, or
    NotForSearch if proof numbers do not fit the game.
    """
    by_points = not by_proofs and (counts_points(game) if by_points is None else by_points)
    rules = TextbookRules(
        game, order_without_symmetry(game), game.estimate, by_points=by_points, most=most_points(game)
    )
    if by_proofs:
        if game.players > 2:
            raise NotForSearch("proof numbers are for one player or two; draw max^n: without --method")
        if depth:
            choose_depth(rules, position, depth)  # only to raise TreeTooLarge
        root = proof_tree(rules, rules.make_root(position), depth, USUAL_POSITIONS)
        tree = SearchTree(game, "proof-number search", root, value_of=proofs_text)
        return Trees(game, position, depth_of(root), (tree,), (tree,), by_points)
    depth = choose_depth(rules, position, depth)
    everything = minimax(rules, rules.make_root(position), depth)
    has_chance = any(node.side == CHANCE for node in everything.nodes())
    if has_chance and not by_points:  # values are means
        return trees_of(game, position, depth, by_points=True, order=order)
    drawn, more = make_trees(rules, position, depth, everything, order)
    return Trees(game, position, depth, drawn, (*drawn, *more), by_points)


def make_trees(
    rules: TextbookRules, position: int, depth: int, everything: Node, order: str
) -> tuple[tuple[SearchTree, ...], tuple[SearchTree, ...]]:
    """Return the trees to draw, and those only to count; *everything* is the minimax tree."""
    game, has_chance = rules.game, any(node.side == CHANCE for node in everything.nodes())

    def search_tree(name: str, by: str, **settings: Any) -> SearchTree:
        move_order = rules.order if by == GIVEN else order_by_minimax(rules, best_first=by == BEST)
        root = alpha_beta(replace(rules, order=move_order, **settings), rules.make_root(position), depth)
        return SearchTree(game, f"{name}, {by}", root, windows=True)

    if game.players > 2:
        shares = SearchTree(game, "max^n", max_n(rules, rules.make_root(position), depth), value_of=shares_text)
        paranoid = SearchTree(game, "paranoid", everything), search_tree("paranoid, alpha-beta", order or BEST)
        return (shares, *paranoid), ()
    names = ("everything", "minimax", "expectimax", "expectiminimax")  # for one player and two; then with chance
    drawn = [SearchTree(game, names[(2 if has_chance else 0) + game.players - 1], everything)]
    more = []
    if game.players == 2:
        drawn += [search_tree("alpha-beta", by) for by in ([order] if order else [WORST, BEST])]
        if not rules.by_points:
            more = [search_tree("null windows", order or BEST, null_windows=True)]
    elif has_chance:
        drawn += [search_tree("alpha-beta", order or BEST)]
    if Traits.of(game).has_quiet or (game.exchanges and not rules.by_points):
        quiet = search_tree("quiescence", GIVEN, quiescence=QUIESCENCE)
        if any(node.ply > depth for node in quiet.root.nodes()):
            drawn += [quiet]
    return tuple(drawn), tuple(more)


def choose_depth(rules: TextbookRules, position: int, depth: int | None) -> int:
    """Return the depth to draw, by default as deep as can be drawn easily. Raise TreeTooLarge if it is too deep."""
    if depth is None:
        sizes = {plies: count_positions(rules, rules.make_root(position), plies) for plies in range(1, USUAL_DEPTH + 1)}
        return max((plies for plies, size in sizes.items() if size <= USUAL_POSITIONS), default=1)
    if count_positions(rules, rules.make_root(position), depth) > MOST_POSITIONS:
        most = f"a tree of {depth} plies has more than {MOST_POSITIONS:,} positions"
        raise TreeTooLarge(f"{most}, too many to be drawn; give a smaller --depth, or a position nearer to the end")
    return depth


def count_positions(rules: TextbookRules, node: Node, depth: int, so_far: int = 0) -> int:
    """Return *so_far* plus the size of a node's minimax tree, the node included; stop soon after MOST_POSITIONS."""
    so_far += 1
    if node.ply > MOST_PLIES:
        raise TreeTooLarge(f"trees are drawn to a depth of {MOST_PLIES} plies at most; give a smaller --depth")
    if not rules.evaluate_leaf(node, depth):
        for _, child in rules.make_children(node, depth):
            if so_far > MOST_POSITIONS:
                break
            so_far = count_positions(rules, child, depth - 1, so_far)
    return so_far


# Which part of a tree is drawn


def depth_within(root: Node, most: int) -> int:
    """Return the greatest depth, at least 1, to which a tree takes at most *most* lines."""
    depth = 1
    while depth < depth_of(root) and count_nodes(root, depth + 1) <= most:
        depth += 1
    return depth


def count_nodes(node: Node, depth: int) -> int:
    """Return the number of lines that draw what is below a node, *depth* plies deep. A node's cut moves share one."""
    return bool(node.cut) + sum(1 + (count_nodes(child, depth - 1) if depth > 1 else 0) for child in node.children)


def depth_of(node: Node) -> int:
    """Return the depth of a tree in plies."""
    return max((1 + depth_of(child) for child in node.children), default=0)


# Trees as text: a line for each position and each cut, side by side if the width allows


def trees_text(trees: Trees, width: int) -> str:
    """Return the trees as text, side by side within *width* columns, else one below the other."""
    blocks = [draw_tree(tree) for tree in trees.drawn]
    widths = [max(map(len, block)) for block in blocks]
    if sum(widths) + GAP * (len(blocks) - 1) > width:
        return "\n\n".join("\n".join(block) for block in blocks)
    rows = range(max(map(len, blocks)))
    cells = [
        [(block[row] if row < len(block) else "").ljust(wide) for row in rows]
        for block, wide in zip(blocks, widths, strict=True)
    ]
    return "\n".join((" " * GAP).join(column[row] for column in cells).rstrip() for row in rows)


def draw_tree(tree: SearchTree) -> list[str]:
    """Return the lines of a tree with its name, about MOST_LINES at most."""
    depth = depth_within(tree.root, MOST_LINES)
    root = f"{tree.side(tree.root)} {tree.value_of(tree.root)} {tree.window(tree.root)}".rstrip()
    lines = [tree.name, root, *draw_below(tree, tree.root, depth)]
    if len(lines) > MOST_LINES + 2:
        lines = [*lines[: MOST_LINES + 2], f"… and {len(lines) - MOST_LINES - 2:,} more lines"]
    return lines


def draw_below(tree: SearchTree, node: Node, depth: int, before: str = "") -> Iterator[str]:
    """Yield the lines of what is below a node, *depth* plies deep. Each begins with *before*."""
    for i, child in enumerate(node.children):
        is_last = i == len(node.children) - 1 and not node.cut
        hidden = f" … {child.positions - 1:,} below" if depth == 1 and child.children else ""
        texts = tree.move_name(node, i), tree.label(child), tree.window(child)
        yield f"{before}{'└' if is_last else '├'} {' '.join(filter(None, texts))}{hidden}"
        if depth > 1:
            yield from draw_below(tree, child, depth - 1, before + ("  " if is_last else "│ "))
    if node.cut:
        names = [tree.game.move_name(node.position, move) for move in node.cut]
        moves = " ".join(names) if len(names) <= 3 else f"{names[0]} … {names[-1]}: {len(names)}"
        yield f"{before}└{CUT} {moves}"
