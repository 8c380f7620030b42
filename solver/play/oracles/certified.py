"""An oracle that asks a certificate first, and then searches.

A side that has a certificate plays by it. So it keeps the proven value, whatever the other side does.
"""

from collections.abc import Sequence
from time import monotonic

from retrograde.databases import Certificate
from retrograde.games.contract.game import DRAW, LOSE, TIE, UNDECIDED, WIN, Game, Value
from retrograde.solver.play.oracle import CERTIFICATE, Evidence, ValueBounds
from retrograde.solver.play.oracles.searching import FOR_VALUE, SECONDS, SearchingOracle, Source
from retrograde.solver.rules.examine import NotForSearch, not_for_proofs
from retrograde.solver.search.searcher import TABLE_SIZE

BY_CERTIFICATE = Evidence(CERTIFICATE)
AT_MOST = {WIN: LOSE, TIE: TIE, DRAW: TIE}
"""The most that a position is worth if the other side reaches a goal after every move."""


def from_certificate(certificate: Certificate) -> Source:
    """Return a function from a position to its bounds by a certificate, or None: a source of a `SearchingOracle`."""
    file, game, goal = certificate.file, certificate.game, certificate.goal

    def is_held(position: int) -> bool:
        """Return whether the player to move reaches the goal, by the rules or the certificate."""
        value = game.primitive(position)
        return value >= goal if value != UNDECIDED else position in certificate

    def ask(position: int) -> ValueBounds | None:
        """Return the bounds of a position; None if the certificate says nothing about it."""
        # The root's bounds are the certificate's claim. With a reply the player to move reaches the goal. If the other
        # side has a reply after every move, the player to move gets no more than AT_MOST says.
        if position == file.root:
            return ValueBounds(file.at_least, file.at_most, None, BY_CERTIFICATE)
        least: Value = goal if position in certificate else LOSE
        most = WIN
        if least != WIN:
            children = (game.do_move(position, move) for move in game.generate_moves(position))
            most = AT_MOST[goal] if all(map(is_held, children)) else WIN
        return None if (least, most) == (LOSE, WIN) else ValueBounds(least, most, None, BY_CERTIFICATE)

    return ask


class CertifiedOracle(SearchingOracle):
    """Answers by a certificate, or else by a search of some seconds for each question."""

    def __init__(
        self,
        certificate: Certificate,
        seconds: float = SECONDS,
        workers: int = 1,
        size: int = TABLE_SIZE,
        sources: Sequence[Source] = (),
    ):
        super().__init__(certificate.game, seconds, workers, size, (*sources, from_certificate(certificate)))
        self.certificate = certificate
        self.source = CERTIFICATE

    def refuse(self, game: Game) -> None:
        """Raise NotForSearch if the game cannot be searched, or certificates prove nothing about it."""
        super().refuse(game)
        if why := not_for_proofs(game):
            raise NotForSearch(f"the certificate proves nothing: {why}; delete it with `retrograde remove`")

    def choose_move(self, position: int, moves: list[int], deadline: float) -> int:
        """Return the certificate's reply, or a search's if there is none or it proves in time that more can be had."""
        reply = self.certificate.reply(position)
        if reply is None:
            return super().choose_move(position, moves, deadline)
        if reply.at_least != WIN and self.bounds_without_search(position).at_most > reply.at_least:
            now = monotonic()
            known = self.search_until(position, now + FOR_VALUE * (deadline - now), distance=False)
            if known.at_least > reply.at_least:
                return super().choose_move(position, moves, deadline)
        return reply.move

    def close(self) -> None:
        super().close()
        self.certificate.close()
