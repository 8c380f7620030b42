"""Certificates checked slowly and obviously: all that can happen is played out, and nothing is looked at but that."""

from retrograde.games import DRAW, FLIPPED, LOSE, TIE, UNDECIDED, WIN, Game, Value


def problems(game: Game, certificate) -> list[str]:
    """Return what is wrong with a certificate: by its replies, from its root on, everything is played out.

    The side that replies must reach its goal at every end; for a win and a tie, no play may go on for ever.
    """
    file, root = certificate.file, certificate.file.root
    if file.at_least == LOSE and file.at_most == WIN:
        return ["it claims nothing"]
    least = {WIN: WIN, TIE: TIE, DRAW: DRAW}.get(file.at_least)
    most = {LOSE: WIN, TIE: TIE if file.at_least == TIE else DRAW}.get(file.at_most)
    wrong = []
    if least:
        wrong += Play(game, certificate, least).out([root])
        wrong += [] if certificate.reply(root) else ["the root has no reply"]
    if most:
        wrong += Play(game, certificate, most).out(game.do_move(root, move) for move in game.generate_moves(root))
    elif file.at_most != WIN and file.at_least != file.at_most:
        wrong.append("it claims what no strategy shows")
    return wrong


class Play:
    """All play of one side by a certificate, against everything."""

    def __init__(self, game: Game, certificate, goal: Value):
        self.game, self.certificate, self.goal = game, certificate, goal
        self.leads_to: dict[int, list[int]] = {}
        """For each position in which the side is to move, those in which it may be to move next."""

    def out(self, positions) -> list[str]:
        """Return what goes wrong from some positions on, in which the side is to move."""
        todo = [position for position in positions if not self.is_good_end(position)]
        wrong = []
        while todo:
            position = todo.pop()
            if position in self.leads_to:
                continue
            self.leads_to[position] = []
            if self.game.primitive(position) != UNDECIDED:
                wrong.append(f"the game is lost in {position}")
            elif reply := self.certificate.reply(position):
                after = self.after(position, reply.move)
                self.leads_to[position] = [one for one in after if not self.is_good_end(one)]
                todo += self.leads_to[position]
            elif not self.reaches(position, self.certificate.file.leaves):
                wrong.append(f"there is no reply in {position}, and no end near")
        return wrong + (["play may go on for ever"] if self.goal != DRAW and self.goes_round() else [])

    def after(self, position: int, move: int) -> list[int]:
        """Return the positions after a move and every answer to it; a lost one, if the move ends the game badly."""
        child = self.game.do_move(position, move)
        if self.game.primitive(child) != UNDECIDED:
            return [] if FLIPPED[self.game.primitive(child)] >= self.goal else [child]
        return [self.game.do_move(child, answer) for answer in self.game.generate_moves(child)]

    def is_good_end(self, position: int) -> bool:
        value = self.game.primitive(position)
        return value != UNDECIDED and value >= self.goal

    def reaches(self, position: int, plies: int) -> bool:
        """Tell whether the side can reach its goal within so many plies."""
        if self.game.primitive(position) != UNDECIDED:
            return self.is_good_end(position)
        if plies <= 0:
            return False
        moves = self.game.generate_moves(position)
        return any(self.reaches_after(self.game.do_move(position, move), plies - 1) for move in moves)

    def reaches_after(self, position: int, plies: int) -> bool:
        """Tell the same where the other side is to move."""
        value = self.game.primitive(position)
        if value != UNDECIDED:
            return FLIPPED[value] >= self.goal
        moves = self.game.generate_moves(position)
        return plies > 0 and all(self.reaches(self.game.do_move(position, move), plies - 1) for move in moves)

    def goes_round(self) -> bool:
        """Tell whether play can come back to a position: those that lead nowhere are taken away, again and again."""
        left = dict(self.leads_to)
        while left:
            ends = [one for one, after in left.items() if not any(other in left for other in after)]
            if not ends:
                return True
            for one in ends:
                del left[one]
        return False
