"""`retrograde annotate`: adds to the moves of games what each was worth, and where value was given up."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from retrograde.cli import options
from retrograde.cli.commands.annotations import (
    AnnotationTally,
    annotate_lines,
    annotate_records,
    facts,
    has_moves,
    with_comments,
)
from retrograde.cli.common import print_data, print_json
from retrograde.cli.failure import Failure
from retrograde.games.chess import Chess
from retrograde.games.chess.anyboard import AnyBoard
from retrograde.games.chess.movetext import CASTLING, MOVE, NULL_MOVES, GameRecord, game_text, legal_move, read_games
from retrograde.games.chess.san import SAN, UCI, uci
from retrograde.games.contract.choice import Choice
from retrograde.games.contract.game import DRAW, WIN, RetrogradeError
from retrograde.games.contract.text import printable

if TYPE_CHECKING:
    from retrograde.solver.play.match import Review
    from retrograde.solver.play.tablebase.files import EndingTables


@click.command()
@click.argument("words", metavar="[VARIANT] FILE", nargs=-1, required=True, shell_complete=options.complete_files)
@click.option(
    "--database",
    metavar="PATH",
    shell_complete=options.complete_files,
    help="A database, or for PGN a folder of databases.",
)
@options.json
def command(words: tuple[str, ...], database: str | None, as_json: bool) -> None:
    """Annotate each move in FILE with its value, and mark moves that gave up value.

    FILE is PGN; - is standard input. Comments give the value after each move, as `[%eval #12]` and in words. A move
    that gives up a win or a draw gets the glyph ?? and the best move. Comments begin at the first position that a
    database has. If you annotate a game again, new comments replace the old ones.

    Distances are to mate. If the ending is also solved with --metric dtz, the comments follow the fifty-move rule. A
    game whose tag Variant names a variant other than Chess960 stays as it is.

    For another game name the VARIANT. FILE then has one game per line, with moves separated by spaces. For draughts it
    may be PDN, where the tag FEN gives the first position.

    \b
    Examples:
      retrograde annotate game.pgn
      retrograde annotate connect4:4,4 moves.txt
    """
    if len(words) > 2:
        raise click.UsageError("give a FILE of PGN, or a VARIANT and a FILE", click.get_current_context())
    if words[0] == "chess":  # any game of chess, with the databases of its endings
        words = words[1:] or words
    text, tally = read_text(words[-1]), AnnotationTally()
    check_kind(words, text)
    if len(words) == 2:
        annotate_other = annotate_records if text.lstrip().startswith("[") else annotate_lines
        annotate_other(words[0], database, text, tally, as_json)
    else:
        annotate_chess(text, database, tally, as_json)
    click.echo(tally.text(), err=True)
    if tally.wrong:
        raise Failure("", 1)


def read_text(name: str) -> str:
    """Return the text of a file or of standard input. Bytes that are not UTF-8 are read as Latin-1, as in old PGN."""
    content = sys.stdin.buffer.read() if name == "-" else Path(name).read_bytes()
    try:
        return content.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError:
        return content.decode("latin-1").replace("\r\n", "\n")


def check_kind(words: tuple[str, ...], text: str) -> None:
    """Raise Failure if a text is not what the command line says: moves of a VARIANT, or PGN."""
    name = "standard input" if words[-1] == "-" else repr(words[-1])
    if len(words) == 2:
        if "\0" in text:
            raise Failure(f"error: {name} is no text; write one game per line, moves separated by spaces")
        if not any(map(has_moves, text.splitlines())):
            raise Failure(f"error: no games in {name}; write one game per line, moves separated by spaces")
    elif "\0" in text or not is_pgn(text):
        example = "retrograde annotate connect4:4,4 moves.txt"
        raise Failure(f"error: {name} is no PGN; for another game name the variant, as in: {example}")


def is_pgn(text: str) -> bool:
    """Return whether a text has a game with tags, or a move in chess notation."""
    forms = (SAN, UCI, CASTLING)
    return any(
        game.tags or any(word.kind == MOVE and any(form.fullmatch(word.text) for form in forms) for word in game.words)
        for game in read_games(text)
    )


# Chess


def annotate_chess(text: str, database: str | None, tally: AnnotationTally, as_json: bool) -> None:
    """Print the games of a text as PGN or JSON, with what the databases know of their moves."""
    from retrograde.solver.play.tablebase.files import EndingTables

    tables = EndingTables(lambda about: click.echo(about, err=True))
    if database is not None:
        if not Path(database).exists():
            raise Failure(f"there is no {database!r}; --database is a database of chess, or a folder of some")
        tables.move_to(Path(database))
    missing: set[str] = set()
    for game in read_games(text):
        tally.games += game.is_played
        reviews = list(chess_reviews(game, tables, tally, missing))
        if game.variant:
            annotated = game.source.strip() + "\n"
            click.echo(printable(f"game {tally.games}: {game.variant} is not chess; it is left as it is"), err=True)
        else:
            annotated = game_text(with_comments(game, [one[1] for one in reviews], chess_comments(game, reviews)))
        if as_json:
            moves = [{"move": move, **facts(found)} for move, found in reviews]
            print_json({"tags": game.tags, "moves": moves})
        else:
            print_data(("" if tally.games == 1 else "\n") + printable(annotated.replace("\t", " ")))
    tables.close()


def chess_reviews(
    game: GameRecord, tables: "EndingTables", tally: AnnotationTally, missing: set[str]
) -> Iterator[tuple[str, "Review | None"]]:
    """Yield each move of a game with its review, or None. After an illegal move all reviews are None."""
    board: AnyBoard | None = None
    try:
        board = None if game.variant else AnyBoard.from_fen(game.start, game.chess960)
    except ValueError as error:
        tally.complain(f"game {tally.games}: {error}; its moves stay without comments")
    for ply, word in enumerate(word for word in game.words if word.kind == MOVE):
        review = None
        if board:
            try:
                if word.text in NULL_MOVES:
                    board = board.after_null_move()
                else:
                    move = legal_move(board, word.text)
                    review = chess_review(board, move, tables, missing)
                    board = board.after(move)
            except ValueError as error:
                where = f"game {tally.games}, ply {ply + 1}"
                tally.complain(f"{where}: {error}; the moves from there on stay without comments")
                board = None
        if review:
            tally.count(review)
        yield word.text, review


def chess_review(board: AnyBoard, move: str, tables: "EndingTables", missing: set[str]) -> "Review | None":
    """Return the review of a move, or None if no database has the position.

    The review follows the fifty-move rule if the ending has distances to zeroing. A dead position needs no database. A
    line on standard error names each database that is missing, once: *missing* are those named before.
    """
    from retrograde.solver.play.match import review
    from retrograde.solver.play.oracles.fifty_moves import apply_fifty_move_rule
    from retrograde.solver.play.tablebase.files import ending_on

    try:
        material = ending_on(board)
    except RetrogradeError:  # more men than any ending has, or castling
        return None
    if board.is_dead():
        return review_in_dead_position(material, board, move)
    if found := tables.find(material, board):
        solution, position = found
        played = next(one for one in solution.game.generate_moves(position) if uci(position, one) == move)
        return review(apply_fifty_move_rule(solution, position, board.count), position, played)
    if material not in missing:
        missing.add(material)
        click.echo(f"no database of {material}; make one with: retrograde solve chess:{material}", err=True)
    return None


def review_in_dead_position(material: str, board: AnyBoard, move: str) -> "Review":
    """Return the review of a move in a dead position: a draw, as all moves there.

    No mate is possible. For the rules the game is over there, so databases have no moves. A game by PGN may go on.
    """
    from retrograde.solver.play.match import Review

    game: Any = Chess(material)
    position = game.read(board.fen())
    number = next(one for one in game.generate_moves(position) if uci(position, one) == move)
    played = Choice(number, game.move_name(position, number), game.do_move(position, number), DRAW, None)
    return Review(played, [played], DRAW)


def chess_comments(game: GameRecord, reviews: "list[tuple[str, Review | None]]") -> Iterator[str]:
    """Yield the comments for the moves that have a review."""
    white = game.white_begins
    for _, found in reviews:
        if found:
            yield chess_comment(found, white)
        white = not white


def chess_comment(found: "Review", white: bool) -> str:
    """Return the comment on a move of White (*white*) or Black, for programs and for people.

    It counts the moves to mate after this move; for a better move, that move included.
    """
    mates = mate_in(found.played)
    if found.value == DRAW:  # only the fifty-move rule sets `gives`
        text = f"[%eval 0.00] draw{' by the fifty-move rule' * (found.played.gives == DRAW)}"
    elif not mates:
        text = "mate"
    else:
        winner = white == (found.value == WIN)
        text = f"[%eval #{'' if winner else '-'}{mates}] {'White' if winner else 'Black'} mates in {mates}"
    if found.mistake:
        given_up = "the win" if found.had == WIN else "the draw"
        better = f"mates in {mate_in(found.best) + 1}" if found.had == WIN else "draws"
        return f"{text}; this gives {given_up} away: {found.best.name} {better}"
    if found.slower and found.value == WIN:
        sooner = found.slower // 2
        return f"{text}; {found.best.name} mates {sooner} move{'s' * (sooner != 1)} sooner"
    return text


def mate_in(choice: Any) -> int:
    """Return in how many moves there is mate after a move, counted for the side that mates; 0 for mate itself."""
    return ((choice.remoteness or 0) + 1) // 2
