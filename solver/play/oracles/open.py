"""Makes the oracle of a game without a database: its book, its certificate, a search, and its book of estimates."""

from contextlib import suppress

from retrograde.databases import Certificate
from retrograde.databases.book import find_book
from retrograde.databases.open import find_certificate
from retrograde.games.contract.game import Game, Traits
from retrograde.solver.conformance.check import precheck
from retrograde.solver.play.oracle import BOOK
from retrograde.solver.play.oracles.by_rules import RulesOracle
from retrograde.solver.play.oracles.certified import CertifiedOracle
from retrograde.solver.play.oracles.scoring import ScoringOracle, is_about_points
from retrograde.solver.play.oracles.searching import SECONDS, SearchingOracle, from_database
from retrograde.solver.rules.examine import NotForSearch
from retrograde.solver.search.depth.estimated_book import find_estimates
from retrograde.solver.search.searcher import TABLE_SIZE


def searching_oracle(
    game: Game,
    seconds: float = SECONDS,
    workers: int = 1,
    size: int = TABLE_SIZE,
    certificate: Certificate | None = None,
) -> SearchingOracle:
    """Return an oracle for a game without a database: by book, certificate (the start's by default) and search.

    It searches for scores in games about points, or in which a player may move again. For games that cannot be
    searched, it knows only the rules. Raise RuleError if the rules visibly break the contract.
    """
    precheck(game).require_ok()
    if is_about_points(game):
        with suppress(NotForSearch):
            return ScoringOracle(game, seconds, workers, size)
    if not Traits.of(game).alternates or is_about_points(game):
        return RulesOracle(game, seconds, workers, size)
    book = find_book(game)
    sources = [from_database(book, BOOK)] if book else []
    certificate = certificate or find_certificate(game)
    if certificate:
        oracle: SearchingOracle = CertifiedOracle(certificate, seconds, workers, size, sources)
    else:
        oracle = SearchingOracle(game, seconds, workers, size, sources)
    oracle.book, oracle.estimates = book, find_estimates(game)
    return oracle
