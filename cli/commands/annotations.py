"""Games with annotated moves: puts comments into games, and annotates games other than chess.

Such a game is a line of moves, or a record with tags, as in PGN and draughts' PDN.
"""

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import click

from retrograde.cli.common import open_source, print_data, print_json
from retrograde.cli.failure import Failure
from retrograde.games.chess.movetext import BLUNDER, COMMENT, GLYPH, MOVE, GameRecord, Word, game_text, read_games
from retrograde.games.contract.game import DRAW, TIE, UNDECIDED, WIN, MoveError, PositionError, RetrogradeError
from retrograde.games.contract.naming import player_to_move
from retrograde.games.contract.text import printable

if TYPE_CHECKING:
    from retrograde.solver.play.match import Review
    from retrograde.solver.play.solution import Solution

EVAL = re.compile(r"\[%eval [^\]]*\]")
OUR_COMMENT = re.compile(
    EVAL.pattern + r" (draw( by the fifty-move rule)?|(White|Black) mates in \d+)"
    r"(?P<mistake>; this gives the (win|draw) away: \S+ (mates in \d+|draws))?(; \S+ mates \d+ moves? sooner)?"
)
"""Matches what `chess_comment` writes, except `mate`."""


class AnnotationTally:
    """Counts over all games: games, known moves, mistakes, and errors."""

    def __init__(self) -> None:
        self.games = self.known = self.mistakes = self.wrong = 0

    def count(self, found: "Review") -> None:
        self.known += 1
        self.mistakes += found.mistake

    def text(self) -> str:
        games = "1 game" if self.games == 1 else f"{self.games:,} games"
        if not self.known:
            return f"{games}: no move is known to the databases here"
        if self.known == 1:
            return f"{games}, 1 move known, {'a mistake' if self.mistakes else 'no mistake'}"
        return f"{games}, {self.known:,} moves known, {self.mistakes:,} of them mistakes"

    def complain(self, complaint: str) -> None:
        """Print what is wrong with a game."""
        self.wrong += 1
        click.echo(printable(f"retrograde: {complaint}"), err=True)


# Records with tags


def with_comments(game: GameRecord, reviews: "list[Review | None]", comments: Iterable[str]) -> GameRecord:
    """Return a game with comments on the moves that have a review.

    *reviews* has an item for each move, None if its value is unknown. *comments* has one for each review.
    """
    words: list[Word] = []
    next_reviews, next_comments = iter(reviews), iter(comments)
    moves = [i for i, word in enumerate(game.words) if word.kind == MOVE]
    # A move and the words up to the next move; first, the words before all moves.
    for begin, end in zip([0, *moves], [*moves, len(game.words)], strict=True):
        group = game.words[begin:end]
        review = next(next_reviews) if group and group[0].kind == MOVE else None
        words += annotated_words(group, review, next(next_comments)) if review else group
    tags = {**game.tags}
    if any(reviews):
        tags.setdefault("Annotator", "retrograde")
    return game._replace(tags=tags, words=words)


def annotated_words(words: list[Word], review: "Review", comment: str) -> list[Word]:
    """Return a move and the words after it, with *comment* and, for a mistake, the glyph ??.

    *words* are the move and what follows it. Glyphs and comments that we wrote in an earlier run are left out. The
    result is the move, its glyphs, *comment*, and then everything else in its order.
    """
    earlier = [match for word in words if word.kind == COMMENT and (match := OUR_COMMENT.fullmatch(word.text))]
    # The glyph ?? is ours if we set it now, or if our earlier comment says so.
    is_our_glyph = review.mistake or any(match["mistake"] for match in earlier)
    blunder = Word(GLYPH, BLUNDER)
    glyphs, others = [blunder] * review.mistake, list[Word]()
    for word in words[1:]:
        if word.kind == COMMENT:
            if text := text_besides(word.text, comment):
                others.append(Word(COMMENT, text))
        elif is_our_glyph and word == blunder:
            continue
        elif word.kind == GLYPH and not others:
            glyphs.append(word)
        else:
            others.append(word)
    return [words[0], *glyphs, Word(COMMENT, comment), *others]


def text_besides(text: str, comment: str) -> str:
    """Return what a comment says apart from our own text and old `%eval` commands."""
    if text == comment or OUR_COMMENT.fullmatch(text):
        return ""
    return " ".join(EVAL.sub(" ", text).split())


def annotate_records(source: str, database: str | None, text: str, tally: AnnotationTally, as_json: bool) -> None:
    """Print games in records with tags, with annotated moves."""
    from retrograde.solver.play.solution import solution_of

    with solution_of(open_source(source, database)) as solution:
        if solution.game.name == "chess":
            raise Failure(f"games of {solution.variant} are PGN; give the FILE alone, and --database if need be")
        for game in read_games(text):
            tally.games += game.is_played
            position = first_position(solution, game, tally)
            moves = [word.text for word in game.words if word.kind == MOVE]
            reviews = list(review_moves(solution, position, moves, f"game {tally.games}", tally))
            if as_json:
                print_json({"tags": game.tags, "moves": [{"move": move, **facts(found)} for move, found in reviews]})
            else:
                comments = comments_for(solution, position, reviews)
                annotated = game_text(with_comments(game, [found for _, found in reviews], comments)).replace("\t", " ")
                print_data(("" if tally.games == 1 else "\n") + printable(annotated))


def first_position(solution: "Solution", game: GameRecord, tally: AnnotationTally) -> int | None:
    """Return the first position of a game by its tag FEN or the rules; None if it is not stored."""
    from retrograde.cli.commands.query import read_reachable

    try:
        if "FEN" in game.tags:
            return read_reachable(solution, game.tags["FEN"])
        if solution.start is None and game.is_played:
            raise PositionError(f"it has no tag FEN, and the whole game is not in the database of {solution.variant}")
    except RetrogradeError as error:
        tally.complain(f"game {tally.games}: {error}; its moves stay without comments")
        return None
    return solution.start


# Lines of moves


def annotate_lines(source: str, database: str | None, text: str, tally: AnnotationTally, as_json: bool) -> None:
    """Print games in lines of moves, with annotated moves."""
    from retrograde.solver.play.solution import solution_of

    with solution_of(open_source(source, database)) as solution:
        if solution.start is None:
            hint = "has no start from which moves could be read; for PGN give the FILE alone"
            raise Failure(f"{solution.variant} {hint}")
        for number, line in enumerate(text.splitlines(), 1):
            if not has_moves(line):
                continue
            tally.games += 1
            moves = re.sub(r"\{[^}]*\}", " ", line).split()
            reviews = list(review_moves(solution, solution.start, moves, f"line {number}", tally))
            if as_json:
                print_json({"line": number, "moves": [{"move": move, **facts(found)} for move, found in reviews]})
            else:
                notes = comments_for(solution, solution.start, reviews)
                words = (
                    f"{move}{'??' * found.mistake} {{{next(notes)}}}" if found else move for move, found in reviews
                )
                print_data(printable(" ".join(words)) + "\n")


def has_moves(line: str) -> bool:
    """Return whether a line is a game: neither empty nor a comment."""
    return bool(line.strip()) and not line.lstrip().startswith("#")


def review_moves(
    solution: "Solution", position: int | None, moves: Iterable[str], where: str, tally: AnnotationTally
) -> Iterator[tuple[str, "Review | None"]]:
    """Yield each move from a position with its review, or None. After an illegal move all reviews are None. *where*
    names the line or game in complaints."""
    from retrograde.solver.play.match import review

    game = solution.game
    for word in moves:
        found = None
        if position is not None:
            try:
                if game.primitive(position) != UNDECIDED:
                    raise MoveError(f"the game is over before {word!r}")
                legal = {game.move_name(position, move) for move in game.generate_moves(position)}
                word = word if word in legal else word.rstrip("?")  # the mark of a mistake
                found = review(solution, position, game.move(position, word))
                tally.count(found)
                position = found.played.position
            except MoveError as error:
                tally.complain(f"{where}: {error}; the moves from there on stay without comments")
                position = None
        yield word, found


def comments_for(
    solution: "Solution", position: int | None, reviews: "list[tuple[str, Review | None]]"
) -> Iterator[str]:
    """Yield the comments for the moves that have a review."""
    for _, found in reviews:
        if found is None or position is None:
            return
        sides = player_to_move(solution.game, position), player_to_move(solution.game, found.played.position)
        text = result_text(found.value, (found.played.remoteness or 0), sides)
        yield f"{text}; {found.best.name} {better(found.had)}" if found.mistake else text
        position = found.played.position


def result_text(value: Any, plies: int, sides: tuple[str, str]) -> str:
    """Return the result after a move, for the player who has moved. *sides* are the names of that player and of the one
    who answers, "" if unknown."""
    if value == DRAW:
        return "draw"
    far = f" in {plies}" if plies else ""
    if value == TIE:
        return f"tie{far}"
    winner = (sides[0] or "who moved") if value == WIN else (sides[1] or "who answers")
    return f"{winner} wins{far}" if plies else f"{winner} has won"


def better(value: Any) -> str:
    """Return what a better move would have done, as a verb: `wins`."""
    return {WIN: "wins", TIE: "ties", DRAW: "draws"}[value]


def facts(found: "Review | None") -> dict[str, Any]:
    """Return the review of a move, for the player who made it, ready for JSON. Plies count from before the move."""
    if found is None:
        return {"value": None, "remoteness": None, "mistake": None, "best": None, "best_value": None}
    return {
        "value": found.value.name.lower(),
        "remoteness": None if found.played.remoteness is None else found.played.remoteness + 1,
        "mistake": found.mistake,
        "best": found.best.name,
        "best_value": found.had.name.lower(),
    }
