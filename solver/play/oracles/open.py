"""From a game without a database to who answers for it: its book and its certificate, if there are, and a search
beyond."""

from retrograde.databases import Certificate
from retrograde.databases.book import find_book
from retrograde.databases.open import find_certificate
from retrograde.games.contract.game import Game
from retrograde.solver.conformance.precheck import refuse_broken
from retrograde.solver.play.oracle import BOOK
from retrograde.solver.play.oracles.certified import CertifiedOracle
from retrograde.solver.play.oracles.scoring import ScoringOracle, is_about_points
from retrograde.solver.play.oracles.searching import SECONDS, SearchingOracle, from_database
from retrograde.solver.search.searcher import TABLE_SIZE


def searching_oracle(
    game: Game,
    seconds: float = SECONDS,
    workers: int = 1,
    size: int = TABLE_SIZE,
    certificate: Certificate | None = None,
) -> SearchingOracle:
    """Return an oracle for a game that has no database: what its book says, then what a certificate proves, that of its
    start unless another is given, and else what is searched; of games that are about points, or in which a player moves
    again, what is searched for scores.

    Raises RuleError where its rules are seen to break the contract: searches take them at their word.
    """
    refuse_broken(game)
    if is_about_points(game):
        return ScoringOracle(game, seconds, workers, size)
    book = find_book(game)
    sources = [from_database(book, BOOK)] if book else []
    certificate = certificate or find_certificate(game)
    if certificate:
        oracle: SearchingOracle = CertifiedOracle(certificate, seconds, workers, size, sources)
    else:
        oracle = SearchingOracle(game, seconds, workers, size, sources)
    oracle.book = book
    return oracle
