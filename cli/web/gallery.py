"""The front page: every installed game, every database in the home folder, and what is known of them.

Facts about files come from the files, without their rules. Names and summaries come from installed games only.
"""

import logging
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, NamedTuple

from retrograde.cli.failure import message_of
from retrograde.cli.web.answers import Start
from retrograde.cli.web.library import Library
from retrograde.cli.web.metric_texts import Seats, seats_of
from retrograde.cli.web.shelf import DatabaseFacts, installed_games
from retrograde.cli.web.solves import Solve, Solves
from retrograde.cli.web.view import start_of
from retrograde.games.catalog import game_class, named_game, options_help, variant
from retrograde.games.contract import naming
from retrograde.games.contract.game import Game, RetrogradeError, Traits, defines
from retrograde.games.contract.picture import board_svg
from retrograde.games.contract.raised import given_start
from retrograde.games.contract.text import printable
from retrograde.solver.play.match import example_of
from retrograde.solver.play.solution import Solution

FIRST = "tictactoe"
"""The game to begin with."""

log = logging.getLogger(__name__)


@dataclass(kw_only=True)
class Card:
    """A variant, with facts if it is solved. `first` is the player who begins, in the game's words.

    Others are playable if this server can search them. `kind`: for how many players a game is, or chance.
    """

    variant: str
    game: str
    title: str
    summary: str
    first: str
    seats: Seats = "two"
    kind: Seats | Literal["chance"] = "two"
    solved: bool
    playable: bool = True
    positions: int | None = None
    start: Start | None = None
    longest_win: int | None = None


@dataclass(kw_only=True)
class Kind:
    """An installed game, and its options."""

    name: str
    title: str
    options: str
    example: str


@dataclass(kw_only=True)
class SolveProgress:
    """How far a solve has come."""

    variant: str
    title: str
    state: str
    phase: str
    share: float | None
    seconds_left: float | None
    words: str


@dataclass(kw_only=True)
class Gallery:
    """Everything on the front page. `token` goes with each request to solve, if this server may solve."""

    cards: list[Card]
    games: list[Kind]
    may_solve: bool
    token: str
    solves: list[SolveProgress]


@dataclass(kw_only=True)
class VariantStatus:
    """Why a variant does not open. `state` is solved, unsolved, unknown or unavailable."""

    variant: str
    title: str
    state: str
    words: str
    command: str
    may_solve: bool
    playable: bool
    token: str


class Names(NamedTuple):
    """Texts about a variant: name, rules in a sentence, first player. Also whether it can be searched, its players, and
    whether it has chance."""

    title: str
    summary: str
    first: str
    searched: bool
    seats: Seats
    has_chance: bool = False


def gallery(library: Library, solves: Solves) -> Gallery:
    """Return the contents of the front page: solved variants first, by name."""
    solved = [card(facts.variant, facts) for facts in library.all()]
    solved_games, solved_variants = {entry.game for entry in solved}, {entry.variant for entry in solved}
    kinds = [] if library.games else list(kinds_installed())
    # Unsolved variants: an example of each other game, those that were to be solved here, and those given.
    texts = [kind.example for kind in kinds if kind.name not in solved_games]
    texts += [*(entry.variant for entry in list(solves.all.values())), *library.games]
    unsolved = [card(text, None, library.searches) for text in dict.fromkeys(texts) if text not in solved_variants]
    # By name; tic-tac-toe first if nothing is solved.
    cards = sorted(
        solved + unsolved, key=lambda one: (not one.solved, bool(solved) or one.game != FIRST, one.title.casefold())
    )
    return Gallery(
        cards=cards,
        games=kinds,
        may_solve=may_solve(library, solves),
        token=solves.token,
        solves=progress_of_solves(solves),
    )


def may_solve(library: Library, solves: Solves) -> bool:
    """Return whether this server solves games; it does not if it serves given variants only."""
    return solves.allowed and not library.games


def card(text: str, facts: DatabaseFacts | None, searches: bool = False, names: Names | None = None) -> Card:
    """Return a variant with the facts of its database; without one, it is playable if the server *searches*."""
    names = names or names_of(text)
    return Card(
        variant=text,
        game=text.partition(":")[0],
        title=names.title,
        summary=names.summary,
        first=names.first,
        seats=names.seats if facts else "two",
        kind="chance" if names.has_chance else names.seats,
        solved=facts is not None,
        playable=facts is not None or (searches and names.searched),
        positions=facts and facts.positions,
        start=facts and start_of(facts),
        longest_win=facts and facts.longest_win,
    )


def kinds_installed() -> Iterator[Kind]:
    """Yield the installed games; one that cannot be imported does not stop the others."""
    for name in installed_games():
        if kind := kind_of(name):
            yield kind


@lru_cache
def kind_of(name: str) -> Kind | None:
    """Return an installed game; None if it cannot be imported, or has no variant to start with."""
    try:
        cls = game_class(name)
        example = variant(named_game(f"{name}:{cls.example}"))
        return Kind(name=name, title=naming.title(cls), options=options_help(cls), example=example)
    except Exception as error:  # an installed game may raise anything
        log.error("the game %s cannot be used: %s", name, ascii(message_of(error)))
        return None


@lru_cache(4096)
def names_of(text: str) -> Names:
    """Return the texts about a variant; if its game is not installed, only its text."""
    name = text.partition(":")[0]
    try:
        if name in installed_games():
            return names_in(named_game(text))
    except Exception as error:  # an option that no longer exists, or rules that fail
        log.warning("no names for %s: %s", ascii(text), ascii(str(error)))
    return Names(printable(text), "", "", True, "two")


def names_in(game: Game) -> Names:
    """Return the texts about a game."""
    title, summary, first = naming.variant_title(game), summary_of(game), first_of(game)
    has_chance = game.metric == "expectation" or defines(game, "odds")
    return Names(title, summary, first, Traits.of(game).alternates, seats_of(game), has_chance)


def summary_of(game: Game) -> str:
    """Return a game's rules in a sentence, from the docstring of its class."""
    return printable((type(game).__doc__ or "").strip().replace("`", ""))


def first_of(game: Game) -> str:
    """Return the player who begins, in the words of the game; "" if there is no start."""
    start = given_start(game)
    return "" if start is None else naming.player_to_move(game, start)


def progress_of_solves(solves: Solves) -> list[SolveProgress]:
    """Return how far the requested solves have come."""
    return [progress_of_solve(each) for each in list(solves.all.values())]


def progress_of_solve(solve: Solve) -> SolveProgress:
    """Return how far a solve has come."""
    return SolveProgress(
        variant=solve.variant,
        title=names_of(solve.variant).title,
        state=solve.state,
        phase=solve.phase,
        share=solve.share,
        seconds_left=solve.seconds_left,
        words=solve.words,
    )


def picture(text: str) -> str:
    """Return the start of a variant of an installed game as SVG, or an example if there is no start."""
    game = named_game(text)
    start = given_start(game)
    return board_svg(game, example_of(game) if start is None else start)


def picture_by_database(solution: Solution) -> str:
    """Return the same for a user's own rules, found through their database."""
    return board_svg(solution.game, solution.start_or_example)


def variant_status(library: Library, solves: Solves, text: str) -> VariantStatus:
    """Return the state of a variant (solved, unsolved, unavailable or unknown), and what to do if it does not open."""
    try:
        name: str | None = variant(named_game(text))
    except RetrogradeError:
        name = None
    state, words, command = "solved", "", ""
    searched = library.searches and bool(name) and names_of(name or text).searched
    try:
        library.solution(text)
    except RetrogradeError as error:
        is_found = library.shelf.find(name or text) is not None
        state, words = ("unavailable" if is_found else "unsolved" if name else "unknown"), str(error)
        words, _, command = words.partition(": retrograde ")  # errors end in the command to run
    return VariantStatus(
        variant=name or text,
        title=names_of(name).title if name else printable(text),
        state=state,
        words=words,
        command=command and f"retrograde {command}",
        may_solve=bool(name) and state == "unsolved" and may_solve(library, solves),
        playable=state == "solved" or (state == "unsolved" and searched),
        token=solves.token,
    )
