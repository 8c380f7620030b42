"""Verifies a book of estimates from the rules, with loops of its own; only the search is that of the book's maker.

1. Read each position, and list its children with interpreted rules. Play from the start must lead to each of them.
2. Back the scores up again, one position after another, from those that the book has no children of.
3. Of these, search a random sample again.
"""

from contextlib import ExitStack
from random import Random
from typing import NamedTuple

from retrograde.games.contract.game import DRAW, LOSE, TIE, UNDECIDED, WIN, with_weights
from retrograde.solver.runtime.progress import Course, Listener, Phase
from retrograde.solver.search.depth.estimated_book import EstimatedBook, Origin, origin_of
from retrograde.solver.search.depth.scores import DECIDED, FAR, estimate_text
from retrograde.solver.search.depth.searcher import ValueSearch
from retrograde.solver.search.probing.tables import find_tables

AGAIN = 20
"""Positions without children in the book that are searched again."""


class EstimatesReport(NamedTuple):
    """The result: counts of positions, and the problems found."""

    positions: int
    derived: int
    """Positions whose score follows from other positions of the book."""
    searched: int
    """Positions searched again."""
    unsearched: str
    """Why none was searched again, or ""."""
    problems: list[str]


def verify_estimates(book: EstimatedBook, listener: Listener | None = None, seed: int = 1) -> EstimatesReport:
    """Verify a book of estimates as described above. The *seed* selects the sample."""
    problems: list[str] = []
    course = Course()
    course.plan(verifying=0.7, searching=0.3)  # shares of the time, for progress
    children = find_children(book, problems, Phase("verifying", listener, len(book.file.estimates), course))
    problems += find_unreachable(book, children)
    scores = back_up_scores(book, children)
    for text, score in book.file.estimates.items():
        if scores.get(text, score) != score:
            both = f"{estimate_text(score)} in the book, and {estimate_text(scores[text])} by its moves"
            problems.append(f"position {text} is estimated as {both}")
    searched, unsearched = search_again(book, children, problems, Phase("searching", listener, AGAIN, course), seed)
    derived = sum(bool(texts) for texts in children.values())
    return EstimatesReport(len(book.file.estimates), derived, searched, unsearched, problems)


def find_children(book: EstimatedBook, problems: list[str], phase: Phase) -> dict[str, set[str]]:
    """Return the children of each position whose score is backed up, all as texts; an empty set for others. Append
    *problems*. Scores are backed up if all children are in the book."""
    game, estimates = book.game, book.file.estimates
    children: dict[str, set[str]] = {}
    for text, score in estimates.items():
        phase.advance(1)
        try:
            position = game.read(text)
        except Exception as error:  # a forged file may have any text
            problems.append(f"position {text!r} cannot be read: {error}")
            continue
        if game.write(game.canonical(position)) != text:
            problems.append(f"position {text} is not written as the game writes it, or is not canonical")
            continue
        end, child_texts = game.primitive(position), set()
        if end == UNDECIDED:
            moves = game.generate_moves(position)
            child_texts = {game.write(game.canonical(game.do_move(position, move))) for move in moves}
        elif score != {WIN: FAR, TIE: 0, DRAW: 0, LOSE: -FAR}[end]:
            problems.append(f"position {text} is an end, and is estimated as {estimate_text(score)}")
        children[text] = child_texts if child_texts <= estimates.keys() else set()
    phase.end()
    return children


def find_unreachable(book: EstimatedBook, children: dict[str, set[str]]) -> list[str]:
    """Return problems: positions of the book that play does not reach within its plies, and positions left out."""
    origin, wave, met, problems = book.file.origin, {book.file.start}, {book.file.start}, []
    if book.file.start != book.game.write(book.game.canonical(book.game.start)):
        problems.append(f"the book starts from {book.file.start}, and the game does not")
    for ply in range(origin.plies + 1):
        if origin.most is None and ply < origin.plies:
            left_out = [text for text in wave if text in children and not children[text] and not is_end(book, text)]
            problems += [f"position {text} leads to one that is not in the book" for text in sorted(left_out)]
        wave = {child for text in wave for child in children.get(text, ())} - met
        met |= wave if ply < origin.plies else set()  # what lies beyond the last ply does not count
    unmet = sorted(book.file.estimates.keys() - met)
    return problems + [f"position {text} is not reached within {origin.plies} plies" for text in unmet]


def is_end(book: EstimatedBook, text: str) -> bool:
    """Return whether the game is over in a position."""
    return bool(book.game.primitive(book.game.read(text)) != UNDECIDED)


def back_up_scores(book: EstimatedBook, children: dict[str, set[str]]) -> dict[str, int]:
    """Return the scores that follow from those of positions without children in the book."""
    scores = {text: 0 if children.get(text) else score for text, score in book.file.estimates.items()}
    while True:
        new = {text: max(for_parent(scores[child]) for child in texts) for text, texts in children.items() if texts}
        if all(scores[text] == score for text, score in new.items()):
            return scores
        scores |= new


def for_parent(child: int) -> int:
    """Return what a child's score is worth for its parent: the opposite, and a win or loss is one ply farther away."""
    if child > DECIDED:
        return 1 - child
    return -1 - child if child < -DECIDED else -child


def search_again(
    book: EstimatedBook, children: dict[str, set[str]], problems: list[str], phase: Phase, seed: int
) -> tuple[int, str]:
    """Search positions without children in the book again, and append problems.

    Return (how many were searched, why none can be): the text is empty unless what estimates rest on has changed.
    """
    game, origin = book.game, book.file.origin
    # Weights of another number of features cannot be used; they are reported below, as changed.
    if len(origin.weights) == len(getattr(game, "feature_weights", ())):
        game = with_weights(game, origin.weights)
    with ExitStack() as stack:
        if tables := find_tables(game, game.start):
            stack.callback(tables.close)
        now: Origin = origin_of(game, tables, origin.plies, origin.depth, origin.most)
        if (now.hints, now.weights) != (origin.hints, origin.weights):
            return 0, "the estimate has changed since"
        if now.tables != origin.tables:
            return 0, f"the endgame tables have changed since; then: {', '.join(origin.tables) or 'none'}"
        search = ValueSearch(game, tables=tables)
        leaves = [text for text, child_texts in children.items() if not child_texts and not is_end(book, text)]
        sample = Random(seed).sample(leaves, min(AGAIN, len(leaves)))
        for text in sample:
            phase.advance(1)
            score = int(search.find(game.read(text), origin.depth).score)
            if score != book.file.estimates[text]:
                both = f"{estimate_text(book.file.estimates[text])} in the book, and {estimate_text(score)} by a search"
                problems.append(f"position {text} is estimated as {both}")
        phase.end()
        return len(sample), ""
