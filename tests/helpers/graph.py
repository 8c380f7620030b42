"""A game that is any graph: a position is a node, a move goes to one of its children, and some nodes are ends."""

from retrograde.games import LOSE, TIE, UNDECIDED, Game


class FixedGraph(Game):
    """Walk from node to node; who stands on an end has lost, or it is a tie. A subclass sets the graph."""

    children = ((0,),)
    """The children of each node, -1 for none; all of one length. A node without any is an end."""
    ties = (0,)
    """For each node, whether it is a tie if it is an end."""

    start = 0

    def generate_moves(self, node):
        for move in range(len(self.children[node])):
            if self.children[node][move] >= 0:
                yield move

    def do_move(self, node, move):
        return self.children[node][move]

    def primitive(self, node):
        for _ in self.generate_moves(node):
            return UNDECIDED
        return TIE if self.ties[node] else LOSE


class Graph(FixedGraph):
    """The same game with its graph as options."""

    children: tuple[tuple[int, ...], ...] = ((0,),)
    ties: tuple[int, ...] = (0,)


def graph_of(moves: dict[str, str], orders: int = 1) -> tuple[Game, list[int], list[str]]:
    """Return the game of a graph, written as `{"A": "B C", …, "Z": ""}`, the first node being the start; it is there
    several times, its moves in other orders, and the starts of all are returned, with the names of all nodes.

    An end whose name begins with = is a tie.
    """
    names = list(moves)
    most = max(len(children.split()) for children in moves.values())
    rows: list[tuple[int, ...]] = []
    for order in range(orders):
        for place, name in enumerate(names):
            children = moves[name].split()
            if children:
                turn = (order >> place % 3) % len(children)
                children = children[turn:] + children[:turn]
            to = [order * len(names) + names.index(child) for child in children]
            rows.append((*to, *[-1] * (most - len(to))))
    ties = tuple(int(name.startswith("=")) for name in names) * orders
    return Graph(tuple(rows), ties), [order * len(names) for order in range(orders)], names * orders
