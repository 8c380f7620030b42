"""A solution: a database with its rules, which answers what positions are worth and which moves are best.

>>> with open_solution("tictactoe") as solution:
...     solution.moves(solution.game.start)[0][:5]
(0, 'a1', 1, <Value.TIE: 3>, 8)
"""

import os
import warnings
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from retrograde.databases import Database, NoDatabase, NotInDatabase, Outcome, open_database
from retrograde.databases.legend import LegendTable
from retrograde.databases.open import open_beside
from retrograde.games import CHANCE, DRAW, FLIPPED, LOSE, TIE, UNDECIDED, WIN, Game, RetrogradeError, Value
from retrograde.games.contract.choice import Choice, equally_good, follow_best, ranked
from retrograde.games.contract.game import REMOTENESS, Traits, same_mover
from retrograde.games.contract.unfolded import folded
from retrograde.games.contract.zeroing import DTC, DTZ, PROGRESS_METRICS, child_distance
from retrograde.games.contract.zeroing import in_words as progress_in_words
from retrograde.solver.metrics.models.model import Model, Weights
from retrograde.solver.metrics.models.names import model_of, refuse_another
from retrograde.solver.play.listing import Listing
from retrograde.solver.play.oracle import DATABASE, LONGEST_LINE, Evidence, Oracle, ValueBounds, exact_bounds
from retrograde.solver.values.measures import facts_of, gives, in_words, rank

BY_DATABASE = Evidence(DATABASE)
WARNINGS_WITHOUT = {
    DTZ: "the answer ignores the fifty-move rule",
    DTC: "the answer does not say how far captures and promotions are",
}
"""What answers leave out if a database beside this one cannot be read."""


class NotebookPicture(NamedTuple):
    """A picture that notebooks display."""

    svg: str

    def _repr_svg_(self) -> str:
        return self.svg


class Solution(Oracle):
    """Answers questions about the positions of a solved game; the oracle that knows all of them."""

    source = DATABASE
    seconds = 0.0

    def __init__(self, database: Database):
        """Take a database; raise DamagedDatabase if its header contradicts it about the start."""
        database.check_start()
        self.database = database
        self.game: Game = database.game
        self._unreadable: set[str] = set()
        """The metrics of other databases of this game that could not be read."""

    @property
    def variant(self) -> str:
        return self.database.file.variant

    @property
    def start_or_example(self) -> int:
        return self.database.file.legend[-1].example if self.start is None else self.start

    def value(self, position: int) -> Outcome:
        """Return a position's value and remoteness; raise NotInDatabase if play never reaches it."""
        return self.database[position]

    def probe(self, position: int, seconds: float | None = None, distance: bool = True) -> ValueBounds:
        """Return the same as a `ValueBounds`; *seconds* and *distance* are ignored."""
        return exact_bounds(self.database[position], BY_DATABASE)

    def __contains__(self, position: object) -> bool:
        return position in self.database

    def lookup(self, positions: ArrayLike) -> tuple[NDArray[np.uint8], NDArray[np.int32]]:
        """Return values (uint8, as in Value) and remotenesses (int32, -1 for a DRAW) of an array of positions.

        Millions a second, in any order. A position that cannot be reached is UNDECIDED, 0, with -1.
        """
        return self.database.lookup(positions)

    def positions(
        self, value: Value | str | None = None, remoteness: int | range | None = None, tier: int | None = None
    ) -> Listing:
        """Return the positions of a value (`WIN` or "win"), a remoteness or range, and a tier; all by default.

        They stream in chunks of arrays, `for chunk in solution.positions(WIN)`, one position for each set of symmetric
        ones. `to_numpy()`, `to_frame()` and `to_arrow()` return all at once. A database of steps stores no positions:
        the game is explored again, and positions where it is over are left out. Raises ValueError or TypeError for
        arguments that are none of these, and NoTier, a LookupError, at the end if the tier does not exist.
        """
        return Listing.of(self.database, value, remoteness, tier)

    where = positions
    """The same, by the name that one looks for in a table: `solution.where(value="win").to_frame("polars")`."""

    def moves(self, position: int, seconds: float | None = None) -> list[Choice]:
        """Return the moves of a position, the best first; none if the game is over.

        Moves that win come first, the soonest first; then those that tie, the soonest first; then those that draw; then
        those that lose, the latest first. Equally good moves keep the order of the rules. The value and remoteness of a
        `Choice` are those of the position after the move: a move that wins leads to a LOSE of the opponent. *seconds*
        is ignored, as in `probe`. Raises NotInDatabase if play never reaches the position.
        """
        self.value(position)
        if self.game.primitive(position) != UNDECIDED:
            return []
        return ranked(self._choice(position, move) for move in self.game.generate_moves(position))

    def best(self, position: int, seconds: float | None = None) -> list[Choice]:
        """Return the moves that keep value and remoteness: the winner hurries, the loser delays."""
        return equally_good(self.moves(position))

    def _choice(self, position: int, move: int) -> Choice:
        """Return a move with the value after it and, for metrics other than remoteness, its rank and worth."""
        child = self.game.do_move(position, move)
        again = same_mover(self.game, position, child)
        choice = Choice(move, self.game.move_name(position, move), child, *self.value(child), again)
        if self.metric == REMOTENESS:
            return choice
        if self.metric in PROGRESS_METRICS:
            return self._by_plies_to_progress(choice, position)
        # Other metrics: the child's measures, turned for the player who moves, decide the order.
        mover, measures = self.game.turn(position), [*self.database.measures(child).values()]
        details = self.database.file.details
        if self.metric in ("score", "expectation"):
            gain = gain_of(self.game, position, move) * details.get("scale", 1)
            measures = [gain + measure for measure in self._of_mover(measures, again)]
        if self.metric == "drawlevel" and measures[0] != UNDECIDED:
            kind, level, plies = measures
            measures = [FLIPPED[Value(kind)], level, plies if kind == DRAW else plies + 1]
        return choice._replace(
            rank=rank(self.metric, details, measures, mover),
            worth=in_words(self.metric, details, measures),
            gives=self._value_brought(choice, measures, mover),
        )

    def _by_plies_to_progress(self, choice: Choice, position: int) -> Choice:
        """Return a choice with the plies to progress, counted for the player who moves."""
        if choice.remoteness is None:
            return choice
        plies = child_distance(self.game, self.metric, position, choice.move, choice.position, choice.remoteness)
        return choice._replace(remoteness=plies, far=progress_in_words(plies + 1, self.metric))

    def _value_brought(self, choice: Choice, measures: list[int], mover: int) -> Value:
        """Return the value that a move brings, its reward included; UNDECIDED for metrics without rewards."""
        if self.metric == "utilities":
            return gives(measures, mover)
        if self.metric != "score":
            return UNDECIDED
        if measures[0] == 0:
            return DRAW if choice.value == DRAW else TIE
        return WIN if measures[0] > 0 else LOSE

    def _of_mover(self, measures: list[int], again: bool) -> list[int]:
        """Return a child's scores or expectations for the player who moved there. *again*: that player moves next."""
        return measures if again else [-measure for measure in reversed(measures)]  # (low, high) become (-high, -low)

    @cached_property
    def zeroing(self) -> "Solution | None":
        """The solution of the same game by distance to zeroing; None if there is none, or no such rule.

        Its database is looked for beside this one and in the database folder.
        """
        return self._to_progress(DTZ)

    @cached_property
    def conversion(self) -> "Solution | None":
        """The same by distance to conversion."""
        return self._to_progress(DTC)

    def by_zeroing(self, position: int) -> Outcome | None:
        """Return a position's value and its plies to zeroing; None if unknown."""
        return self._by_progress(self.zeroing, position)

    def by_conversion(self, position: int) -> Outcome | None:
        """Return a position's value and its plies to conversion; None if unknown."""
        return self._by_progress(self.conversion, position)

    def _to_progress(self, metric: str) -> "Solution | None":
        """Return the solution by a metric of progress, from a database beside this one; None if there is none."""
        if self.metric == metric:
            return self
        if self.metric != REMOTENESS or not Traits.of(self.game).has_zeroes:
            return None
        try:
            return Solution(open_beside(self.database.file.path.parent, self.game, self.variant, metric))
        except NoDatabase:
            return None
        except RetrogradeError as error:
            warnings.warn(f"{error}; {WARNINGS_WITHOUT[metric]}", stacklevel=2)
            return None

    def _by_progress(self, other: "Solution | None", position: int) -> Outcome | None:
        """Return another solution's outcome of a position; None, with one warning, if its file is bad."""
        if other is None or other.metric in self._unreadable:
            return None
        try:
            return other.value(position)
        except (NoDatabase, NotInDatabase):  # a database that it rests on may be missing
            return None
        except RetrogradeError as error:
            if other is self:
                raise
            warnings.warn(f"{error}; {WARNINGS_WITHOUT[other.metric]}", stacklevel=2)
            self._unreadable.add(other.metric)
            return None

    @property
    def metric(self) -> str:
        return self.database.metric

    def worth(self, position: int) -> dict[str, Any]:
        """Return what the metric adds to value and remoteness: `{"score": 3}`; empty for remoteness.

        Raises NotInDatabase if play never reaches the position.
        """
        measures = self.database.measures(position)
        return facts_of(self.metric, self.database.file.details, [*measures.values()]) if measures else {}

    @cached_property
    def pays_one(self) -> bool:
        """Whether each end pays the winner exactly one point more than the loser, so that an expectation is a win rate.

        Moves must pay nothing. A database by slot stores the answer as `counts_wins`. In others, check the bounds of
        all positions in the legend, ends included: none may be worth 0, or more than a point either way. Payoffs are
        whole numbers, so each end is then worth 1 or -1. A point is `scale` units of the stored bounds.
        """
        details = self.database.file.details
        if self.metric != "expectation" or "against" in details or self.game.players != 2 or "scale" not in details:
            return False
        if Traits.of(self.game).has_rewards:
            return False
        if "numbering" in details:
            return bool(details.get("counts_wins", 0))
        legend, scale = self.database.file.legend, int(details["scale"])
        if not isinstance(legend, LegendTable):  # the same test, row by row
            return all(
                row.value in (WIN, LOSE) and row.measures and max(map(abs, row.measures)) <= scale for row in legend
            )
        table = legend.table
        is_decided = np.isin(table["value"], (WIN, LOSE)).all()
        return bool(is_decided) and all(
            np.abs(table[name]).max(initial=0) <= scale for name in self.database.file.measures
        )

    def line(self, position: int, limit: int = LONGEST_LINE) -> list[Choice]:
        """Return best play from a position to the end of the game, always by the first of the best moves.

        It has as many plies as the position's remoteness. From a DRAW it stops at the first position met before; any
        line stops after *limit* plies. For expectations it is empty, because the dice decide too.
        """
        if self.metric == "expectation":
            return []
        return follow_best(self.moves, position, limit)

    def picture(self, position: int | None = None) -> "NotebookPicture":
        """Return a position, by default the start, as a picture with its moves coloured by value.

        A notebook displays it; `svg` is its text.
        """
        from retrograde.games.contract.picture import board_svg

        if position is None:
            position = self.start_or_example
        return NotebookPicture(board_svg(self.game, position, self.moves(position)))

    def _repr_svg_(self) -> str:
        """Return the picture of the start, or of an example, for notebooks."""
        return self.picture().svg

    def close(self) -> None:
        """Close the database, and those by distance to zeroing and to conversion."""
        self.database.close()
        for other in (self.__dict__.get("zeroing"), self.__dict__.get("conversion")):
            if other not in (None, self):
                other.close()

    def __repr__(self) -> str:
        return f"Solution({self.database!r})"


class Response(Solution):
    """A solution of expected payoffs against a model: those of a best response to it.

    At each position the player to move is the one who responds. `worth` also gives the expectation of the other player,
    if that one responds instead (`waiting`).
    """

    @property
    def against(self) -> str:
        return str(self.database.file.details["against"])

    @cached_property
    def model(self) -> Model | None:
        """The model; None if it is not available, or has changed since."""
        try:
            model = model_of(self.database)
            refuse_another(self.database, model)
            return model
        except RetrogradeError:
            return None

    @cached_property
    def perfect(self) -> Solution | None:
        """The game's own solution from the database folder; None if it is missing or unreadable."""
        try:
            return open_solution(self.variant, game=folded(self.game))
        except RetrogradeError:
            return None

    def weights(self, position: int) -> Weights:
        """Return the weight with which the model makes each move; empty if no player is to move, or unknown."""
        has_player = self.game.primitive(position) == UNDECIDED and self.game.turn(position) != CHANCE
        try:
            return self.model.weights(self.game, position) if self.model and has_player else {}
        except RetrogradeError:
            return {}

    def _of_mover(self, measures: list[int], again: bool) -> list[int]:
        return measures[:2] if again else measures[2:]  # the last two are bounds for the player who waits

    def close(self) -> None:
        super().close()
        for opened in (self.__dict__.get("model"), self.__dict__.get("perfect")):
            if opened:
                opened.close()


def solution_of(database: Database) -> Solution:
    """Return the solution of a database, a Response if it is against a model."""
    return Response(database) if "against" in database.file.details else Solution(database)


def gain_of(game: Game, position: int, move: int) -> int:
    """Return a move's immediate reward, less the other player's; for chance, that of player 0."""
    mover = max(game.turn(position), 0)
    other = game.reward(position, move, 1 - mover) if game.players == 2 else 0
    return game.reward(position, move, mover) - other


def open_solution(
    variant_or_path: str | os.PathLike[str], *, game: Game | None = None, home: str | os.PathLike[str] | None = None
) -> Solution:
    """Open the solution of a variant or of a path, as `open_database` does."""
    return solution_of(open_database(variant_or_path, game=game, home=home))
