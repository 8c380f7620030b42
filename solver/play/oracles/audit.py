"""Verifies an opening book from the rules, with code that shares only the search with the book's maker.

1. Explore the positions within the book's plies, with interpreted rules. The book must have these and no others.
2. Derive every position whose children are all in the book.
3. Of the others, which are at the last ply, search a random sample again.
"""

from random import Random
from typing import NamedTuple

from retrograde.databases.book import Book
from retrograde.databases.database import Outcome
from retrograde.games.contract.game import DRAW, FLIPPED, LOSE, UNDECIDED, Game
from retrograde.solver.runtime.progress import Course, Listener, Phase
from retrograde.solver.search.searcher import TABLE_SIZE, Search

AGAIN = 20
"""Positions of the last ply that are searched again."""
SECONDS = 60.0
"""Seconds for each of these searches; one that takes longer proves nothing, and is not counted."""


class BookReport(NamedTuple):
    """The result: positions, records, derived positions, positions searched again, and problems."""

    positions: int
    stored: int
    derived: int
    searched: int
    problems: list[str]


def verify_book(book: Book, listener: Listener | None = None, workers: int = 1, seed: int = 1) -> BookReport:
    """Return the report on an opening book: a sample of the last ply is searched again."""
    game, problems = book.game, list[str]()
    course = Course()
    course.plan(exploring=0.4, verifying=0.3, searching=0.3)
    # Step 1: explore, and compare the counts.
    depths = explore(game, book.plies, Phase("exploring", listener, None, course))
    positions = sum(len({position, *game.images(position)}) for position in depths)
    if (positions, len(depths)) != (book.file.positions, book.file.stored):
        problems.append(
            f"there are {len(depths):,} records of {positions:,} positions within {book.plies} plies, "
            f"and the book has {book.file.stored:,} of {book.file.positions:,}"
        )
    # Step 2: derive every position whose children are all in the book.
    last = []
    phase = Phase("verifying", listener, len(depths), course)
    for position, depth in depths.items():
        phase.advance(1)
        stored = book.get(position)
        if stored is None:
            problems.append(f"position {game.write(position)} is not in the book")
        elif (derived := derive(book, position)) is not None:
            if not agrees(stored, derived):
                both = f"{outcome_text(stored)} in the book, and {outcome_text(derived)} by its moves"
                problems.append(f"position {game.write(position)} is {both}")
        elif depth == book.plies:
            last.append(position)
        else:
            problems.append(f"position {game.write(position)} leads to one that is not in the book")
    # Step 3: search a sample of the last ply.
    sample = Random(seed).sample(last, min(AGAIN, len(last)))
    searched = search_again(book, sample, problems, workers, listener, course)
    return BookReport(positions, len(depths), len(depths) - len(last), searched, problems)


def explore(game: Game, plies: int, phase: Phase) -> dict[int, int]:
    """Return the canonical positions within *plies* plies of the start, with the ply of their first occurrence."""
    start = game.canonical(game.start)
    depths = {start: 0}
    wave = [start]
    for ply in range(1, plies + 1):
        next_wave: dict[int, int] = {}
        for position in wave:
            if game.primitive(position) == UNDECIDED:
                for move in game.generate_moves(position):
                    child = game.canonical(game.do_move(position, move))
                    if child not in depths:
                        next_wave[child] = ply
        phase.advance(len(wave))
        depths |= next_wave
        wave = list(next_wave)
    phase.end()
    return depths


def derive(book: Book, position: int) -> Outcome | None:
    """Return a position's outcome by its children; None if some are not in the book."""
    game = book.game
    value = game.primitive(position)
    if value != UNDECIDED:
        return Outcome(value, None if value == DRAW else 0)
    children = []
    for move in game.generate_moves(position):
        child = book.get(game.do_move(position, move))
        if child is None:
            return None
        children.append(child)
    # The winner hurries, the loser delays. The remoteness is unknown if one of the best children's is.
    best = max(FLIPPED[child.value] for child in children)
    plies = [child.remoteness for child in children if FLIPPED[child.value] == best]
    known = [count for count in plies if count is not None]
    if len(known) < len(plies):
        return Outcome(best, None)
    return Outcome(best, 1 + (max(known) if best == LOSE else min(known)))


def agrees(stored: Outcome, derived: Outcome) -> bool:
    """Return whether the values are equal, and the remotenesses too if both are known."""
    return stored.value == derived.value and (None in (stored.remoteness, derived.remoteness) or stored == derived)


def outcome_text(outcome: Outcome) -> str:
    """Return an outcome in words: `win in 5`."""
    return f"{outcome.value.name.lower()}{'' if outcome.remoteness is None else f' in {outcome.remoteness}'}"


def search_again(
    book: Book, positions: list[int], problems: list[str], workers: int, listener: Listener | None, course: Course
) -> int:
    """Search positions again, append problems, and return how many searches proved a value."""
    if not positions:
        return 0
    search, proved = Search(book.game, workers, TABLE_SIZE), 0
    phase = Phase("searching", listener, len(positions), course)
    for position in positions:
        found = search.find(position, SECONDS, distance=False)
        if found.value is not None:
            proved += 1
            if found.value != book[position].value:
                stored = outcome_text(book[position])
                problems.append(
                    f"position {book.game.write(position)} is {stored} in the book, but not by a new search"
                )
        phase.advance(1)
    phase.end()
    return proved
