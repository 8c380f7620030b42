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
        self.value_numbers: dict[int, int] = {}
        """For each position, with Left to move, the number of its value in *values*, or UNFINISHED."""
        self.players = word(game, "to_move") or game.draw_turn(game.start)
        """The signs of Left and Right. Only one if the board looks the same to both: then both have the same moves."""
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
        """Return the number of a position's value. It does not depend on who is to move there."""
        left_to_move = self.with_mover(position, 0)
        image = self.game.canonical(left_to_move)
        # Symmetric positions have one value, unless the players are exchanged.
        if self.game.draw_turn(image) == self.game.draw_turn(left_to_move):
            left_to_move = image
        if self.value_numbers.get(left_to_move) == UNFINISHED:
            raise self.refusal("play can be endless")
        if left_to_move not in self.value_numbers:
            self.value_numbers[left_to_move] = UNFINISHED
            left_options = self.options(left_to_move)
            right_options = left_options if len(self.players) < 2 else self.options(self.with_mover(left_to_move, 1))
            self.value_numbers[left_to_move] = self.values.make(left_options, right_options)
        return self.value_numbers[left_to_move]

    def with_mover(self, position: int, player: int) -> int:
        """Return the position with the same board and that player to move."""
        if len(self.players) < 2:
            return position
        try:
            return self.game.read_pieces(self.game.draw_pieces(position), self.players[player])
        except ValueError as error:
            raise self.refusal(f"either player must be able to move; at {self.game.write(position)}: {error}") from None

    def options(self, position: int) -> list[int]:
        """Return the numbers of the values after each move of the player to move."""
        moves = [*self.game.generate_moves(position)]
        if self.game.primitive(position) != (UNDECIDED if moves else LOSE):
            where = self.game.write(position)
            raise self.refusal(f"play must end where a player cannot move, who loses, which is not so at {where}")
        return [self.value(self.game.do_move(position, move)) for move in moves]
