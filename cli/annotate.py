"""`retrograde annotate`: games in, and out again with what each move was worth, and where value was given up."""

import re
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from retrograde.cli.common import complete_files, json_option, print_data, print_json
from retrograde.cli.failure import Failure
from retrograde.games.text import printable

if TYPE_CHECKING:
    from retrograde.games.chess.anyboard import AnyBoard
    from retrograde.games.chess.movetext import Game as Written
    from retrograde.games.chess.movetext import Word
    from retrograde.solver.play.match import Review
    from retrograde.solver.play.solution import Solution
    from retrograde.solver.tablebase.files import Tables

EVAL = re.compile(r"\[%eval [^\]]*\]")
OWN = re.compile(
    EVAL.pattern + r" (draw( by the fifty-move rule)?|(White|Black) mates in \d+)"
    r"(?P<mistake>; this gives the (win|draw) away: \S+ (mates in \d+|draws))?(; \S+ is \d+ sooner)?"
)
"""What `chess_comment` says."""


class Tally:
    """What was found, in all games."""

    def __init__(self) -> None:
        self.games = self.known = self.mistakes = self.wrong = 0

    def count(self, found: "Review") -> None:
        """Count a move."""
        self.known += 1
        self.mistakes += found.mistake

    def told(self) -> str:
        """Return all of it in words."""
        games = "1 game" if self.games == 1 else f"{self.games:,} games"
        if not self.known:
            return f"{games}: no move is known to the databases here"
        if self.known == 1:
            return f"{games}, 1 move known, {'a mistake' if self.mistakes else 'no mistake'}"
        return f"{games}, {self.known:,} moves known, {self.mistakes:,} of them mistakes"

    def complain(self, about: str) -> None:
        """Say what is wrong with a game."""
        self.wrong += 1
        click.echo(printable(f"retrograde: {about}"), err=True)


@click.command()
@click.argument("words", metavar="[VARIANT] FILE", nargs=-1, required=True, shell_complete=complete_files)
@click.option(
    "--database", metavar="PATH", shell_complete=complete_files, help="A database, or for PGN a folder of some."
)
@json_option
def command(words: tuple[str, ...], database: str | None, as_json: bool) -> None:
    """Say of each move in a FILE what it is worth, and where value was given up.

    FILE is PGN, and - is standard input. What the databases know is said in comments, as `[%eval #12]` and in words; a
    move that gives up a win or a draw gets the glyph ?? and is told the best one. A game that begins outside the
    databases is annotated from where it enters them. Distances are to mate; the fifty-move rule counts where they
    are solved by dtz as well. Annotated again, a game gets new comments for the old ones. Games of other variants
    than chess and Chess960, as their tag Variant says, are left as they are.

    For another game name the VARIANT: FILE then has a game a line, its moves parted by spaces.

    \b
    Examples:
      retrograde annotate game.pgn
      retrograde annotate connect4:4,4 moves.txt
    """
    if len(words) > 2:
        raise click.UsageError("give a FILE of PGN, or a VARIANT and a FILE", click.get_current_context())
    text, tally = text_of(words[-1]), Tally()
    check_kind(words, text)
    if len(words) == 2:
        annotate_lines(words[0], database, text, tally, as_json)
    else:
        annotate_chess(text, database, tally, as_json)
    click.echo(tally.told(), err=True)
    if tally.wrong:
        raise Failure("", 1)


def text_of(name: str) -> str:
    """Return what a file holds, or standard input; bytes that are no UTF-8 are read as Latin-1, as PGN used to be."""
    from pathlib import Path

    content = sys.stdin.buffer.read() if name == "-" else Path(name).read_bytes()
    try:
        return content.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError:
        return content.decode("latin-1").replace("\r\n", "\n")


def check_kind(words: tuple[str, ...], text: str) -> None:
    """Raise Failure where a text is not what was announced: lines of moves of a VARIANT, or else PGN."""
    name = "standard input" if words[-1] == "-" else repr(words[-1])
    if len(words) == 2:
        if "\0" in text:
            raise Failure(f"error: {name} is no text; a game is a line of moves, parted by spaces")
        if not any(map(has_moves, text.splitlines())):
            raise Failure(f"error: there is no game in {name}; a game is a line of moves, parted by spaces")
    elif "\0" in text or not is_pgn(text):
        example = "retrograde annotate connect4:4,4 moves.txt"
        raise Failure(f"error: {name} is no PGN; for another game name the variant, as in: {example}")


def is_pgn(text: str) -> bool:
    """Tell whether a text has a game with tags, or with a move that is written as those of chess are."""
    from retrograde.games.chess.movetext import CASTLING, MOVE, read_games
    from retrograde.games.chess.san import SAN, UCI

    forms = (SAN, UCI, CASTLING)
    return any(
        game.tags or any(word.kind == MOVE and any(form.fullmatch(word.text) for form in forms) for word in game.words)
        for game in read_games(text)
    )


def has_moves(line: str) -> bool:
    """Tell whether a line is a game: it is neither empty nor a remark."""
    return bool(line.strip()) and not line.lstrip().startswith("#")


# Chess


def annotate_chess(text: str, database: str | None, tally: Tally, as_json: bool) -> None:
    """Print the games of a text as PGN, or as JSON, with what is known of their moves."""
    from pathlib import Path

    from retrograde.games.chess.movetext import COMMENT, read_games, written
    from retrograde.solver.tablebase.files import Tables

    tables = Tables(lambda about: click.echo(about, err=True))
    if database is not None:
        if not Path(database).exists():
            raise Failure(f"there is no {database!r}; --database is a database of chess, or a folder of some")
        tables.move_to(Path(database))
    said: set[str] = set()
    for game in read_games(text):
        tally.games += bool(game.tags or any(word.kind != COMMENT for word in game.words))  # else it is a last remark
        reviews = list(chess_reviews(game, tables, tally, said))
        if game.variant:
            shown = game.source.strip() + "\n"
            click.echo(printable(f"game {tally.games}: {game.variant} is not chess; it is left as it is"), err=True)
        else:
            shown = written(with_comments(game, [one[1] for one in reviews])).replace("\t", " ")
        if as_json:
            moves = [{"move": move, **facts(found)} for move, found in reviews]
            print_json({"tags": game.tags, "moves": moves})
        else:
            print_data(("" if tally.games == 1 else "\n") + printable(shown))
    tables.close()


def chess_reviews(
    game: "Written", tables: "Tables", tally: Tally, said: set[str]
) -> Iterator[tuple[str, "Review | None"]]:
    """Yield the moves of a game, and what is known of each; after one that is not legal nothing is known."""
    from retrograde.games.chess.anyboard import AnyBoard
    from retrograde.games.chess.movetext import MOVE, NULL_MOVES, legal_move

    board: AnyBoard | None = None
    try:
        board = None if game.variant else AnyBoard.from_fen(game.start, game.chess960)
    except ValueError as error:
        tally.complain(f"game {tally.games}: {error}; its moves are left as they are")
    for ply, word in enumerate(word for word in game.words if word.kind == MOVE):
        found = None
        if board:
            try:
                if word.text in NULL_MOVES:
                    board = board.passing()
                else:
                    move = legal_move(board, word.text)
                    found = chess_review(board, move, tables, said)
                    board = board.after(move)
            except ValueError as error:
                place = f"game {tally.games}, ply {ply + 1}"
                tally.complain(f"{place}: {error}; the moves from there are left as they are")
                board = None
        if found:
            tally.count(found)
        yield word.text, found


def chess_review(board: "AnyBoard", move: str, tables: "Tables", said: set[str]) -> "Review | None":
    """Return what the databases know of a move, by the fifty-move rule if they do; None where none has the position."""
    from retrograde.games.chess.san import uci
    from retrograde.games.game import RetrogradeError
    from retrograde.solver.oracles.counting import counting
    from retrograde.solver.play.match import review
    from retrograde.solver.tablebase.files import ending_on

    try:
        material = ending_on(board)
    except RetrogradeError:  # more men than any ending has, or castling
        return None
    if found := tables.find(material, board.fen()):
        solution, position = found
        number = next(one for one in solution.game.generate_moves(position) if uci(position, one) == move)
        return review(counting(solution, position, board.count), position, number)
    if material not in said:
        said.add(material)
        click.echo(f"no database of {material}; make one with: retrograde solve chess:{material}", err=True)
    return None


def with_comments(game: "Written", reviews: "list[Review | None]") -> "Written":
    """Return a game with what is known of its moves."""
    from retrograde.games.chess.movetext import MOVE, Word

    words: list[Word] = []
    white, left = game.start.split()[1:2] != ["b"], iter(reviews)
    firsts = [place for place, word in enumerate(game.words) if word.kind == MOVE]
    for begin, end in zip([0, *firsts], [*firsts, len(game.words)], strict=True):
        some = game.words[begin:end]
        is_move = bool(some) and some[0].kind == MOVE
        found = next(left) if is_move else None
        words += told_of(some, found, chess_comment(found, white)) if found else some
        white ^= is_move
    tags = {**game.tags}
    if any(reviews):
        tags.setdefault("Annotator", "retrograde")
    return game._replace(tags=tags, words=words)


def told_of(words: "list[Word]", found: "Review", comment: str) -> "list[Word]":
    """Return a move, what is known of it, and the words that followed it: glyphs first, and of comments what is not
    said anew."""
    from retrograde.games.chess.movetext import BLUNDER, COMMENT, GLYPH, Word

    own = [match for word in words if word.kind == COMMENT and (match := OWN.fullmatch(word.text))]
    marked = found.mistake or any(match["mistake"] for match in own)  # by us, if not by the author
    marks, others = [Word(GLYPH, BLUNDER)] * found.mistake, list[Word]()
    for word in words[1:]:
        if word.kind == COMMENT:
            rest = besides(word.text, comment)
            others += [Word(COMMENT, rest)] * bool(rest)
        elif not (marked and word == Word(GLYPH, BLUNDER)):
            (others if others or word.kind != GLYPH else marks).append(word)
    return [words[0], *marks, Word(COMMENT, comment), *others]


def besides(text: str, comment: str) -> str:
    """Return what a text says besides a new comment: nothing of our own, and no old `%eval`."""
    if text == comment or OWN.fullmatch(text):
        return ""
    return " ".join(EVAL.sub(" ", text).split())


def chess_comment(found: "Review", white: bool) -> str:
    """Return what is known of a move of a side, for programs and for people."""
    from retrograde.games.game import DRAW, WIN

    mates = mate_in(found.played)
    if found.value == DRAW:
        told = f"[%eval 0.00] draw{' by the fifty-move rule' * (found.played.gives == DRAW)}"
    elif not mates:
        told = "mate"
    else:
        winner = white == (found.value == WIN)
        told = f"[%eval #{'' if winner else '-'}{mates}] {'White' if winner else 'Black'} mates in {mates}"
    if found.mistake:
        lost = "the win" if found.had == WIN else "the draw"
        better = f"mates in {mate_in(found.best) + 1}" if found.had == WIN else "draws"
        return f"{told}; this gives {lost} away: {found.best.name} {better}"
    if found.slower and found.value == WIN:
        return f"{told}; {found.best.name} is {found.slower // 2} sooner"
    return told


def mate_in(choice: Any) -> int:
    """Return in how many moves there is mate after a move, from the side that will give it; 0 on the board."""
    return ((choice.remoteness or 0) + 1) // 2


# Other games


def annotate_lines(source: str, database: str | None, text: str, tally: Tally, as_json: bool) -> None:
    """Print games that stand in lines of moves, each with what is known of it."""
    from retrograde.cli.common import open_source
    from retrograde.solver.play.solution import solution_of

    with solution_of(open_source(source, database)) as solution:
        if solution.start is None:
            hint = "has no start from which moves could be read; for PGN give the FILE alone"
            raise Failure(f"{solution.variant} {hint}")
        for number, line in enumerate(text.splitlines(), 1):
            if not has_moves(line):
                continue
            tally.games += 1
            reviews = list(line_reviews(solution, line, number, tally))
            if as_json:
                print_json({"line": number, "moves": [{"move": move, **facts(found)} for move, found in reviews]})
            else:
                print_data(printable(" ".join(annotated(solution, reviews))) + "\n")


def line_reviews(solution: "Solution", line: str, number: int, tally: Tally) -> Iterator[tuple[str, "Review | None"]]:
    """Yield the moves of a line, and what is known of each; after one that is not legal nothing is known."""
    from retrograde.games.game import UNDECIDED, MoveError
    from retrograde.solver.play.match import review

    game, position = solution.game, solution.start
    for word in re.sub(r"\{[^}]*\}", " ", line).split():
        found = None
        if position is not None:
            try:
                if game.primitive(position) != UNDECIDED:
                    raise MoveError(f"the game is over before {word!r}")
                legal = {game.move_name(position, move) for move in game.generate_moves(position)}
                word = word if word in legal else word.rstrip("?")  # as we write mistakes
                found = review(solution, position, game.move(position, word))
                tally.count(found)
                position = found.played.position
            except MoveError as error:
                tally.complain(f"line {number}: {error}; the moves from there are left as they are")
                position = None
        yield word, found


def annotated(solution: "Solution", reviews: "list[tuple[str, Review | None]]") -> Iterator[str]:
    """Yield the moves of a game, each with what is known of it in braces."""
    from retrograde.games.naming import player_to_move

    position = solution.start
    for name, found in reviews:
        if found is None or position is None:
            yield name
            continue
        sides = player_to_move(solution.game, position), player_to_move(solution.game, found.played.position)
        told = prospect(found.value, (found.played.remoteness or 0), sides)
        if found.mistake:
            told += f"; {found.best.name} {better(found.had)}"
        yield f"{name}{'??' if found.mistake else ''} {{{told}}}"
        position = found.played.position


def prospect(value: Any, plies: int, sides: tuple[str, str]) -> str:
    """Return what is to come after a move: *sides* are who has made it, and who answers."""
    from retrograde.games.game import DRAW, TIE, WIN

    if value == DRAW:
        return "draw"
    far = f" in {plies}" if plies else ""
    if value == TIE:
        return f"tie{far}"
    winner, other = (sides[0], "who moved") if value == WIN else (sides[1], "who answers")
    return f"{winner or other} wins{far}" if plies else f"{winner or other} has won"


def better(value: Any) -> str:
    """Return what a better move would have brought."""
    from retrograde.games.game import DRAW, TIE, WIN

    return {WIN: "wins", TIE: "ties", DRAW: "draws"}[value]


def facts(found: "Review | None") -> dict[str, Any]:
    """Return what is known of a move, for who made it, ready for JSON; plies are counted from before the move."""
    if found is None:
        return {"value": None, "remoteness": None, "mistake": None, "best": None, "best_value": None}
    return {
        "value": found.value.name.lower(),
        "remoteness": None if found.played.remoteness is None else found.played.remoteness + 1,
        "mistake": found.mistake,
        "best": found.best.name,
        "best_value": found.had.name.lower(),
    }
