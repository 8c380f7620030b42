"""Chopsticks: two players tap each other's hands; five fingers are a dead hand."""

from retrograde.games.contract.fields import Numbers, Turn
from retrograde.games.contract.game import LOSE, UNDECIDED, Game

FIVE = 5
TAPS = 4
"""Moves below this number tap: 2 × own hand + the other's hand. In others the second hand gives as many fingers to the
first one as the move exceeds SPLIT, or takes so many from it."""
SPLIT = 10


class Chopsticks(Game):
    """Tap a hand of the opponent, which gains as many fingers as yours has, or pass fingers between your hands. No hand
    gives all that it has. A hand of five or more is dead. A player with two dead hands loses."""

    hands = Numbers(4, 0, FIVE - 1)
    mover = Turn("AB")
    start = "1,1,1,1/A"

    def generate_moves(self, position):
        """Yield `2 * own hand + other's hand` for each tap. SPLIT + n passes n fingers from the second hand to the
        first.

        >>> game = Chopsticks()
        >>> [(move, game.move_name(game.start, move)) for move in game.generate_moves(game.start)][:3]
        [(0, '1x1'), (1, '1x2'), (2, '2x1')]
        """
        own = 2 * self.mover.get(position)  # the first own hand, 0 or 2; the opponent's first hand is 2 - own
        first, second = self.hands.get(position, own), self.hands.get(position, own + 1)
        for move in range(TAPS):
            tapped = self.hands.get(position, 2 - own + move % 2)
            if tapped and self.hands.get(position, own + move // 2):
                yield move
        for given in range(1 - first, second):
            # Neither the same hands nor hands exchanged, and no hand gives all it has or is dead afterwards.
            is_new = given != 0 and first + given != second
            if is_new and first + given < FIVE and second - given < FIVE:
                yield SPLIT + given

    def do_move(self, position, move):
        """Return the position after a tap, which adds fingers, or after fingers pass between the own hands.

        >>> game = Chopsticks()
        >>> game.write(game.start), game.write(game.do_move(game.start, 0))  # 1x1
        ('1,1,1,1/A', '1,1,2,1/B')
        """
        own = 2 * self.mover.get(position)
        if move < TAPS:
            at = 2 - own + move % 2  # the hand that is tapped
            fingers = self.hands.get(position, at) + self.hands.get(position, own + move // 2)
            position = self.hands.put(position, at, fingers if fingers < FIVE else 0)
        else:
            position = self.hands.add(self.hands.add(position, own, move - SPLIT), own + 1, SPLIT - move)
        return self.mover.passed(position)

    def primitive(self, position):
        """Return LOSE if both hands of the player to move are dead, else UNDECIDED."""
        own = 2 * self.mover.get(position)
        alive = self.hands.get(position, own) or self.hands.get(position, own + 1)
        return UNDECIDED if alive else LOSE

    def images(self, position):
        """Yield the position with the hands of one player exchanged, or of both."""
        for player in (0, 2):
            yield self.exchanged(position, player)
        yield self.exchanged(self.exchanged(position, 0), 2)

    def exchanged(self, position, at):
        """Return a position with two neighbouring hands exchanged."""
        first, second = self.hands.get(position, at), self.hands.get(position, at + 1)
        return self.hands.put(self.hands.put(position, at, second), at + 1, first)

    # For people

    def show(self, position):
        hands = [str(self.hands.get(position, at) or "-") for at in range(4)]
        return f"A  {hands[0]} {hands[1]}\nB  {hands[2]} {hands[3]}\n{self.mover.text(position)} to move"

    def move_name(self, position, move):
        if move < TAPS:
            return f"{move // 2 + 1}x{move % 2 + 1}"
        given = move - SPLIT
        return f"2-1:{given}" if given > 0 else f"1-2:{-given}"
