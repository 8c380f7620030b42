"""The value of a position as a short game, from the rules alone: for boards on which both players have their own moves.

Left is the player whose sign comes first in `to_move`. Whose turn it is does not change the value, which says what
either player can do.
"""

from retrograde.games.catalog import variant
from retrograde.games.contract.declared import word
from retrograde.games.contract.game import LOSE, UNDECIDED, Game, Traits
from retrograde.solver.runtime.work import MetricNotApplicable
from retrograde.solver.values.partizan import Values

UNFINISHED = -1
"""Stands for the value of a position that is being computed: play that comes back there is endless."""


class PartizanGame:
    """Computes values of positions as numbers of *values*. Raises MetricNotApplicable if positions have none."""

    def __init__(self, game: Game, values: Values):
        self.game, self.values = game, values
        self.found: dict[int, int] = {}
        self.players = word(game, "to_move") or game.draw_turn(game.start)
        traits = Traits.of(game)
        if not traits.alternates or traits.has_rewards:
            raise self.refusal("two players must take turns, and may not earn points")
        if word(game, "by_turns"):
            raise self.refusal("the board says whose turn it is, and in a part of a sum either player may be next")
        if len(self.players) > 1 and game.draw_board() is None:
            raise self.refusal("the rules must declare a board, so that either player can be taken to move there")

    def refusal(self, why: str) -> MetricNotApplicable:
        """Return the error for a game whose positions have no such values."""
        return MetricNotApplicable(f"{variant(self.game)} has no values as a short game: {why}")

    def value(self, position: int) -> int:
        """Return the value of a position, whoever is to move there."""
        first = self.with_mover(position, 0)
        image = self.game.canonical(first)
        if self.game.draw_turn(image) == self.game.draw_turn(first):  # else the players are exchanged in it
            first = image
        if self.found.get(first) == UNFINISHED:
            raise self.refusal("play can be endless")
        if first not in self.found:
            self.found[first] = UNFINISHED
            left = self.options(first)
            right = left if len(self.players) < 2 else self.options(self.with_mover(first, 1))
            self.found[first] = self.values.make(left, right)
        return self.found[first]

    def with_mover(self, position: int, player: int) -> int:
        """Return the position with the same board and that player to move."""
        if len(self.players) < 2:
            return position
        try:
            return self.game.read_pieces(self.game.draw_pieces(position), self.players[player])
        except ValueError as error:
            raise self.refusal(f"either player must be able to move; at {self.game.write(position)}: {error}") from None

    def options(self, position: int) -> list[int]:
        """Return the values after each move of the player to move."""
        moves = [*self.game.generate_moves(position)]
        if self.game.primitive(position) != (UNDECIDED if moves else LOSE):
            where = self.game.write(position)
            raise self.refusal(f"play must end where a player cannot move, who loses, which is not so at {where}")
        return [self.value(self.game.do_move(position, move)) for move in moves]
