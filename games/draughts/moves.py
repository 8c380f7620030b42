"""Moves of draughts.

A move is a number: the origin, the number of captures, and the directions, the first in the highest bits::

    9 + 2 × captures … 9                   8 … 5       4 … 0
    ways, two bits each; one of a step     captures    origin
"""

from retrograde.games.draughts.board import Board, number

CAPTURES, WAYS = 5, 9


class Moves(Board):
    """Moves, as numbers and as what they do to a position."""

    def generate_moves(self, position):
        """Yield the captures, or else the steps, as ints: the origin, and the directions."""
        own, other, kings = self.sets(position)
        empty = self.all ^ own ^ other
        capturing = self.capturing(own, other, kings)
        # Case: no capture. Each piece steps to an empty square; 3 - way is the opposite direction.
        if not capturing:
            for way in range(4):
                targets = self.step(own & kings if way > 1 else own, way) & empty
                while targets:
                    yield number(self.step(targets & -targets, 3 - way)) | (way << WAYS)
                    targets &= targets - 1
        # Case: captures. Depth-first search over the paths of each piece that can capture. `at` is where the piece is,
        # `taken` what it has captured, `path` its directions, `way` the direction to try next.
        while capturing:
            origin = capturing & -capturing
            capturing ^= origin
            at, taken, path, depth, way = origin, 0, 0, 0, 0
            ways = 4 if kings & origin else 2
            goes_on = False  # a longer capture from the current square has been found
            while depth or way < ways:
                over = self.step(at, way) & other & ~taken if way < ways else 0
                to = self.step(over, way) & (empty | origin)
                # Go on along this capture.
                if to:
                    at, taken, path, depth, way = to, taken | over, (path << 2) | way, depth + 1, 0
                    goes_on = False
                    if ways == 2 and at & self.last_row:
                        way = ways  # crowned, and the move ends
                elif way < ways:
                    way += 1
                else:
                    # All directions are tried: a path without a further capture is a move. Take the last capture back.
                    if not goes_on:
                        yield number(origin) | (depth << CAPTURES) | (path << WAYS)
                    back = path & 3
                    over = self.step(at, 3 - back)
                    at, taken, path, depth, way = (
                        self.step(over, 3 - back),
                        taken ^ over,
                        path >> 2,
                        depth - 1,
                        back + 1,
                    )
                    goes_on = True

    def capturing(self, own, other, kings):
        """Return the pieces of the player to move that can capture."""
        empty = self.all ^ own ^ other
        found = 0
        for way in range(4):
            # From the pieces to their neighbours of the other player, on to empty squares, and two steps back.
            over = self.step(own & kings if way > 1 else own, way) & other
            found |= self.step(self.step(self.step(over, way) & empty, 3 - way), 3 - way)
        return found

    def can_move(self, own, other, kings):
        """Return whether the player to move has a move."""
        empty = self.all ^ own ^ other
        steps = (self.step(own, 0) | self.step(own, 1) | self.step(own & kings, 2) | self.step(own & kings, 3)) & empty
        return steps != 0 or self.capturing(own, other, kings) != 0

    def do_move(self, position, move):
        """Return the position after a step or a series of captures."""
        own, other, kings = self.sets(position)
        at = 1 << (move & 31)
        own ^= at
        is_king = kings & at
        kings ^= is_king
        captures = (move >> CAPTURES) & 15
        if captures == 0:
            at = self.step(at, move >> WAYS)
        for turn in range(captures - 1, -1, -1):
            way = (move >> (WAYS + 2 * turn)) & 3
            over = self.step(at, way)
            other ^= over
            kings &= ~over
            at = self.step(over, way)
        if is_king or at & self.last_row:
            kings |= at
        return self.handed_over(position, own | at, other, kings)

    def handed_over(self, position, own, other, kings):
        """Return the position after a move, as the other player, now to move, sees it."""
        return self.from_sets(self.colour(position) ^ 1, self.turned(other), self.turned(own), self.turned(kings))
