from retrograde.games import LOSE, TIE, UNDECIDED, WIN, Game

EVEN = 64


class Lead(Game):
    """Take one counter or two in each turn, six turns each; the player with more counters wins by the difference.

    A position is the turns that are left, and 64 plus the lead of the player to move. Whoever takes two each time is
    right, so that the score is the lead, and two more if the player to move also has the last turn. The weights are
    wrong on purpose.
    """

    metric = "score"
    start = 12 << 7 | EVEN

    def lead(self, position):
        return (position & 127) - EVEN

    def generate_moves(self, position):
        yield 1
        yield 2

    def do_move(self, position, taken):
        return (position >> 7) - 1 << 7 | EVEN - self.lead(position) - taken

    def primitive(self, position):
        if position >> 7:
            return UNDECIDED
        lead = self.lead(position)
        return WIN if lead > 0 else LOSE if lead < 0 else TIE

    def payoff(self, position, player):
        return max(0, -self.lead(position) if player else self.lead(position))

    def tier(self, position):
        return -(position >> 7)

    feature_weights = (-100, 50)

    def features(self, position):
        return self.lead(position), position >> 7 & 1
