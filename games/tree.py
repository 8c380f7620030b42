"""A game tree that is written down, such as an example from a textbook.

The text has for each position who moves and, in parentheses, where the moves lead; for each end it has what the end
pays::

    max(min(3+12+8)min(2+4+6)min(14+5+2))                  two players; ends pay Max
    max(left=chance(9x2+1x3)right=chance(9x1+1x4))         chance, with weights; names of moves
    p1(p2(1;2;6+4;2;3)p2(5;1;1+1;5;2))                     several players; ends pay each of them
    max(min(1+-1)min(_+1))                                 a position of which nothing is known

Numbers have up to nine digits, and weights up to six. A tree with a position of which nothing is known has neither
chance nor more than two players. In a file, spaces and lines may separate the parts, and comments begin with #.

A position is the number of its node, level by level, so that the children of a node have consecutive numbers. A
position of which nothing is known has one move, to itself.
"""

import re
from functools import cached_property
from typing import NamedTuple

from retrograde.games.contract.game import CHANCE, LOSE, TIE, UNDECIDED, WIN, Game

TOKEN = re.compile(
    r"\+?(?:(?:(?P<name>[A-Za-z]\w*)=)?(?:(?P<weight>[1-9]\d{0,5})x)?"
    r"(?:(?P<mover>max|min|chance|p[1-8])\(|(?P<end>-?\d{1,9}(?:;-?\d{1,9})*(?!\d)|_))|(?P<close>\)))"
)
TOO_LONG = re.compile(r"\+?(?:\w+=)?(?:\d{1,6}x)?-?(?:\d{1,9};-?)*\d{10}")
MOVERS = {"max": 0, "min": 1, "chance": CHANCE} | {f"p{player + 1}": player for player in range(8)}
LETTERS = "abcdefghijklmnopqrstuvwxyz"
UNKNOWN = "_"
MOST_TOKENS = 10_000


class WrittenNode(NamedTuple):
    """A node of the text. It has its move's name and weight; who moves, or what the end pays; its children."""

    name: str
    weight: int
    content: str
    children: list["WrittenNode"]


class Tree(Game):
    """Play on a game tree that is written down, such as an example from a textbook."""

    title = "Game tree"

    text: str = "max(min(3+12+8)min(2+4+6)min(14+5+2))"
    """The tree. On the command line, the path of a .txt file may stand here."""

    def __post_init__(self):
        if not self.nodes[0].children:
            raise ValueError("a tree needs a first position that has moves")
        movers = {branch.content for branch in self.nodes if branch.children} - {"chance"}
        if movers & {"max", "min"} and movers - {"max", "min"}:
            raise ValueError("the players of a tree are max and min, or p1, p2 and more, not both")
        if UNKNOWN in self.contents and ("chance" in self.contents or self.players > 2):
            raise ValueError("a tree with a position of which nothing is known, _, has neither chance nor p3")
        wanted = self.players if self.players > 2 else 1
        ends = [branch.content for branch in self.nodes if not branch.children and branch.content != UNKNOWN]
        if any(content.count(";") + 1 != wanted for content in ends):
            numbers = f"{wanted} numbers, as in {';'.join('1' * wanted)}" if wanted > 1 else "one number"
            raise ValueError(f"each end of this tree pays {numbers}")
        if len(set(self.paths)) < len(self.paths):
            raise ValueError("two moves of a position have the same name")

    @classmethod
    def options_in(cls, text):
        """Return the tree in the text of a file: without comments, which begin with #, and with + for each space."""
        words = "+".join(" ".join(line.partition("#")[0] for line in text.splitlines()).split())
        if "," in words:
            raise ValueError(unreadable(words, words.index(",")))
        return "text=" + re.sub(r"\+?([()])\+?", r"\1", words)

    # The tree

    @cached_property
    def nodes(self):
        """All nodes, level by level."""
        nodes = [understood(self.text)]
        for branch in nodes:
            nodes += branch.children
        return nodes

    @cached_property
    def paths(self):
        """The text of each position: the names of the moves to it, joined by dots; `root` for the first."""
        paths = ["root"]
        for parent, branch in enumerate(self.nodes):
            before = f"{paths[parent]}." if parent else ""
            paths += [before + child.name for child in branch.children]
        return paths

    @cached_property
    def contents(self):
        """Who moves at some nodes, and what ends pay, each once."""
        return {branch.content for branch in self.nodes}

    @property
    def players(self):
        return 1 + max(0, *(MOVERS.get(content, 0) for content in self.contents))

    @property
    def metric(self):
        """The metric that the leaves and chance nodes of the tree ask for."""
        if UNKNOWN in self.contents:
            return "remoteness"
        return "utilities" if self.players > 2 else "expectation" if "chance" in self.contents else "score"

    @cached_property
    def movers(self):
        return tuple(MOVERS[branch.content] if branch.children else 0 for branch in self.nodes)

    @cached_property
    def counts(self):
        """How many children each node has; -1 for an end, 0 for a position of which nothing is known."""
        return tuple(
            len(branch.children) if branch.children or branch.content == UNKNOWN else -1 for branch in self.nodes
        )

    @cached_property
    def firsts(self):
        """The number of each node's first child."""
        firsts, next_one = [], 1
        for branch in self.nodes:
            firsts.append(next_one)
            next_one += len(branch.children)
        return tuple(firsts)

    @cached_property
    def weights(self):
        return tuple(branch.weight for branch in self.nodes)

    @cached_property
    def numbers(self):
        """How many numbers each node has in `payoffs`, one for each player."""
        return self.players

    @cached_property
    def payoffs(self):
        """What each node pays each player, 0 if it is no end. With two players, all is for Max."""
        payoffs = []
        for branch in self.nodes:
            is_end = not branch.children and branch.content != UNKNOWN
            paid = [int(number) for number in branch.content.split(";")] if is_end else []
            payoffs += [*paid, *[0] * (self.players - len(paid))]
        return tuple(payoffs)

    # The rules

    start = 0

    def turn(self, position):
        return self.movers[position]

    def generate_moves(self, position):
        yield from range(max(1, self.counts[position]))

    def do_move(self, position, move):
        return self.firsts[position] + move if self.counts[position] else position

    def primitive(self, position):
        """Return UNDECIDED if the node has moves, else the value by what player 0 is paid."""
        if self.counts[position] >= 0:
            return UNDECIDED
        paid = self.payoff(position, 0)
        return WIN if paid > 0 else LOSE if paid < 0 else TIE

    def payoff(self, position, player):
        return self.payoffs[position * self.numbers + player]

    def odds(self, position, move):
        return self.weights[self.do_move(position, move)]

    def tier(self, position):
        return position

    # For people

    def variant_title(self):
        return f"{self.title} of {len(self.nodes)} positions"

    def write(self, position):
        return self.paths[position]

    def read(self, text):
        if text not in self.paths:
            raise ValueError(f"positions are written as the moves to them, such as {self.paths[-1]}")
        return self.paths.index(text)

    def move_name(self, position, move):
        return self.nodes[self.do_move(position, move)].name or "wait"


def unreadable(text, at):
    """Return the message that a text cannot be read from an index on."""
    hint = "numbers have up to nine digits" if TOO_LONG.match(text, at) else "write max(min(3+12)min(2+4))"
    return f"the tree cannot be read from {text[at : at + 20]!r} on; {hint}"


def understood(text):
    """Return the root of a tree; raise ValueError if the text is none."""
    top: list[WrittenNode] = []
    open_lists, at, count = [top], 0, 0
    while at < len(text):
        if not (token := TOKEN.match(text, at)) or (token["close"] and len(open_lists) == 1):
            raise ValueError(unreadable(text, at))
        at, count = token.end(), count + 1
        if token["close"]:
            if not open_lists.pop():
                raise ValueError(f"a position has no moves before {text[at : at + 20]!r}")
            continue
        children: list[WrittenNode] = []
        siblings = open_lists[-1]
        number = len(siblings)
        name = token["name"] or (LETTERS[number] if number < len(LETTERS) else str(number + 1))
        siblings.append(WrittenNode(name, int(token["weight"] or 1), token["mover"] or token["end"], children))
        if token["mover"]:
            open_lists.append(children)
    if len(open_lists) > 1 or len(top) != 1 or count > MOST_TOKENS:
        raise ValueError(f"a tree has one root, as many ) as (, and at most {MOST_TOKENS:,} of its parts")
    return top[0]
