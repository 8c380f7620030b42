"""A database of expectations: bounds of the expected payoff by slot. Other positions follow from their children.

The file holds the bounds of player 0. The database turns them for the player to move, or player 0 where chance moves.
"""

from collections.abc import Iterator
from operator import mul
from typing import Any

import numpy as np
from numpy.typing import NDArray

from retrograde.databases.bounds.read import BoundsReader, value_by_bounds
from retrograde.databases.checked import CheckedFile
from retrograde.databases.database import CACHE_BLOCKS, Outcome
from retrograde.databases.errors import NotInDatabase
from retrograde.databases.numbered import NumberedDatabase
from retrograde.games import LOSE, TIE, UNDECIDED, WIN, Game
from retrograde.games.contract.game import CHANCE, is_none

MOST_BETWEEN = 1 << 14
"""The most positions without a slot that one lookup may go through."""
REMEMBERED = 1 << 17
"""The most positions without a slot whose bounds are cached."""
Bounds = tuple[int, int]
"""(low, high), in units of 1 / scale, as the file has them."""


class TooManyBetween(Exception):
    """A lookup went through more positions without a slot than a sound game has."""


class BoundsDatabase(NumberedDatabase):
    """Expected payoffs of a game with chance, also of positions without a slot."""

    def __init__(self, file: CheckedFile, game: Game, cache_blocks: int = CACHE_BLOCKS):
        super().__init__(file, game, cache_blocks)
        assert isinstance(file.contents, BoundsReader)
        self.contents = file.contents
        self._scale = int(file.details["scale"])
        self._cached: dict[int, Bounds] = {}
        self._expect_numbering()
        self._expect_tiers(self._all_tiers)

    # Bounds

    def _find_outcome(self, position: Any) -> Outcome | None:
        """Return a position's value as far as its bounds determine it; None if it is no position."""
        bounds = self.bounds(position)
        return None if bounds is None else Outcome(value_by_bounds(*bounds), None)

    def measures(self, position: int) -> dict[str, int]:
        """Return the bounds for the player to move, as `low` and `high`; raise NotInDatabase if it is no position."""
        bounds = self.bounds(self._checked_type(position))
        if bounds is None:
            raise NotInDatabase(f"position {position} of {self.file.variant} is none of play")
        return dict(zip(self.file.measures, bounds, strict=True))

    def bounds(self, position: int) -> Bounds | None:
        """Return the bounds of a position for the player to move; None if it is no position."""
        if self._locate(position) is None:
            return None
        try:
            low, high = self._worth(position, set())
            return (-high, -low) if self.game.turn(position) == 1 else (low, high)
        except (ArithmeticError, LookupError, ValueError, TooManyBetween, RecursionError):
            return None  # the rules may raise for what is no position

    def _worth(self, position: int, visited: set[int]) -> Bounds:
        """Return the bounds of player 0. *visited* are the positions without a slot that this lookup went through."""
        if (stored := self._stored_bounds(position)) is not None:
            return stored
        if position in self._cached:
            return self._cached[position]
        if position in visited or len(visited) > MOST_BETWEEN:
            raise TooManyBetween
        visited.add(position)
        bounds = self._derive(position, visited)
        if len(self._cached) >= REMEMBERED:
            self._cached.clear()
        self._cached[position] = bounds
        return bounds

    def _stored_bounds(self, position: int) -> Bounds | None:
        """Return the stored bounds of a position, or of the position with the players exchanged."""
        for image, sign in ((position, 1), (self.game.swapped(position), -1)):
            if is_none(image):
                continue
            canonical = self._canonical(image)
            if (slot := self._slot_of(canonical, self._tier(canonical))) >= 0:
                block, i = divmod(slot, self._block_size)
                low, high = self._block(block)
                return (int(low[i]), int(high[i])) if sign == 1 else (-int(high[i]), -int(low[i]))
        return None

    def _derive(self, position: int, visited: set[int]) -> Bounds:
        """Return the bounds of player 0 that follow from the children; (payoff, payoff) if the game is over.

        With two players, player 0 gets what player 1 loses: payoffs and rewards of player 1 are subtracted.
        """
        game, scale = self.game, self._scale
        signs = (1, -1)[: game.players]  # of each player's payoff
        if game.primitive(position) != UNDECIDED:
            payoff = scale * sum(sign * game.payoff(position, player) for player, sign in enumerate(signs))
            return payoff, payoff
        turn, lows, highs, odds = game.turn(position), [], [], []
        for move in game.generate_moves(position):
            low, high = self._worth(game.do_move(position, move), visited)
            reward = scale * sum(sign * game.reward(position, move, player) for player, sign in enumerate(signs))
            lows.append(low + reward)
            highs.append(high + reward)
            odds.append(game.odds(position, move) if turn == CHANCE else 1)
        if turn == CHANCE:
            # A mean weighted by odds: rounded down for the lower bound, up for the upper one.
            low, high = (sum(map(mul, odds, bounds)) for bounds in (lows, highs))
            return low // sum(odds), -(-high // sum(odds))
        best = max if turn == 0 else min
        return best(lows), best(highs)

    # What is asked of any database

    def check_start(self) -> None:
        start, row = self.file.start, self.file.start_outcome
        if start is not None and row and self.bounds(start) != row.measures:
            raise self.file.damaged("the start is worth one thing here, and another there")

    def _find(self, position: int, tier: int) -> int:
        raise NotImplementedError("bounds are no rows of a legend")

    _find_all = _find  # type: ignore[assignment]  # for many positions, too

    def lookup(self, positions: Any, **known: Any) -> tuple[NDArray[np.uint8], NDArray[np.int32]]:
        """Return values and remotenesses (all -1) like `Database.lookup`, one position at a time."""
        array = np.asarray(positions)
        shape = array.shape[: array.ndim - bool(self._width and array.size)]
        keys: Any = map(tuple, array.reshape(-1, self._width).tolist()) if self._width else array.ravel().tolist()
        outcomes = [self.get(position) for position in keys]
        values = np.array([outcome.value if outcome else UNDECIDED for outcome in outcomes], np.uint8)
        return values.reshape(shape), np.full(shape, -1, np.int32)

    def records(self) -> Iterator[tuple[int, NDArray[np.int64], NDArray[np.uint8], NDArray[np.int32]]]:
        """Yield (tier, positions, values, remotenesses) as `Database.records` does; remotenesses are all -1."""
        for tier, first, last, positions, filled in self._blocks_of_slots():
            low, high = (bound[filled] for bound in self.contents.all_bounds(first, last))
            keys: Any = map(tuple, positions.tolist()) if self._width else positions.tolist()
            # Bounds are player 0's: turn them for the player to move.
            player_1_moves = np.array([self.game.turn(key) == 1 for key in keys], np.bool_)
            low, high = np.where(player_1_moves, -high, low), np.where(player_1_moves, -low, high)
            values = np.select([low > 0, high < 0], [WIN, LOSE], TIE).astype(np.uint8)
            yield tier, positions, values, np.full(len(values), -1, np.int32)
