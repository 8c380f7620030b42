"""Shared by the commands: how they open games and databases, read input, and print data."""

import io
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from random import Random

    from retrograde.databases import Database, DatabaseFile
    from retrograde.games import Game
    from retrograde.solver.play.oracle import Oracle
    from retrograde.solver.play.player import Player

CHESS = "chess"
"""The game whose databases are found by the men on the board."""

# Opening


def file_named(source: str) -> Path | None:
    """Return the path of the file that VARIANT|FILE names, or None if it names a variant.

    A variant that no installed game or rule file has names its database, if that exists: it can be read without rules.
    """
    from retrograde.databases.location import database_path, metric_named
    from retrograde.databases.open import names_file
    from retrograde.databases.remote import path_of
    from retrograde.games.catalog import needs_no_path

    if names_file(source):
        return path_of(source)
    source, metric = metric_named(source)
    name = source.partition(":")[0]
    if name.endswith(".py") or needs_no_path(name):
        return None
    return next((path for path in (Path(source), database_path(source, metric=metric)) if path.is_file()), None)


def open_source(source: str, database: str | None) -> "Database":
    """Open the database that VARIANT|FILE and --database name, with its game."""
    from retrograde.databases import OtherRules, open_database
    from retrograde.games import VariantError
    from retrograde.games.catalog import load_game

    if database is not None:
        return open_database(Path(database), game=load_game(named_variant(source)))
    path = file_named(source)
    try:
        return open_database(path or source)
    except VariantError as error:
        if path and (file := rules_now(path)):
            what = f"the rules in {file.partition(':')[0]} have changed since {str(path)!r} was made"
            raise OtherRules(f"{what}; solve it again with: {solve_again_command(file, path)}") from error
        raise


def rules_now(path: Path) -> str | None:
    """Return a database's variant with the path of the rule file that made it: `./heap.py:size=12`. Return None if
    that is gone, or not on record."""
    from retrograde.databases import DatabaseFile
    from retrograde.games.catalog import record_key
    from retrograde.games.identity.trusted import read_record

    with DatabaseFile(path) as database:
        rules, (name, colon, options) = database.rules, database.variant.partition(":")
    record = read_record()
    entries = record.get(name, [])
    had_these = [entry for entry in entries if rules in entry.get("rules", [])]
    of_programs = record.get(record_key(name, in_program=True), [])
    if not had_these and not any(rules in entry.get("rules", []) for entry in of_programs):
        had_these = [entry for entry in entries if "rules" not in entry]  # by early versions: any rules are possible
    for entry in reversed(had_these):
        file = Path(entry["file"])
        if file.is_file():
            is_here = file.parent == Path.cwd().resolve()
            return f"{f'./{file.name}' if is_here else file}{colon}{options}"
    return None


def has_other_rules(file: "DatabaseFile") -> bool:
    """Return whether a database was made with other rules than our game has now. Return False for games not ours."""
    from retrograde.games.catalog import BUILT_IN, game_class, is_digest_of, rules_digest

    if file.game_name not in BUILT_IN:
        return False
    return not is_digest_of(file.rules, rules_digest(game_class(file.game_name)))


def solve_again_command(source: str, path: Path | str | None) -> str:
    """Return the command that makes a database again, with its path if that is not the usual one."""
    from retrograde.databases import home_folder

    elsewhere = path is not None and Path(path).resolve().parent != home_folder().resolve()
    return f"retrograde solve {source}{f' --database {path}' if elsewhere else ''} --fresh"


def open_file(source: str, database: str | None) -> "Database | DatabaseFile":
    """Open a database or an opening book. If its rules are missing or have changed since, return only its file."""
    from retrograde.databases import DatabaseFile, OtherRules, database_of
    from retrograde.databases.book import BookFile, book_of
    from retrograde.databases.open import find_database, matching_game
    from retrograde.games import VariantError
    from retrograde.games.catalog import load_game, variant

    game = None
    book = book_named(source, database)
    if database is not None:
        path, game = Path(database), load_game(named_variant(source))
    elif named := book or file_named(source):
        path = named
    else:
        path, game = find_database(source, None, None)
    file = BookFile(path) if book else DatabaseFile(path)
    try:
        matching = matching_game(file, game)
        opened = book_of(file, matching) if isinstance(file, BookFile) else database_of(file, matching)
        opened.check_start()
        return opened
    except (OtherRules, VariantError):
        if game is not None and variant(game) != file.variant:
            raise  # the file is of another game than the one asked for
        return file


def expect_game(found: str, path: Path, source: str, database: str | None) -> None:
    """Raise OtherRules if VARIANT is another game than *found*, that of the file which --database names."""
    from retrograde.databases import OtherRules
    from retrograde.games.catalog import load_game, variant

    if database is not None and (asked := variant(load_game(named_variant(source)))) != found:
        raise OtherRules(f"{str(path)!r} is of {found}, not of {asked}")


def book_named(source: str, database: str | None) -> Path | None:
    """Return the path of the opening book that VARIANT|FILE and --database name, or None.

    A file counts if it is a readable book; a variant, if it has a book and no database. Errors give None: the caller
    opens the source again and reports them.
    """
    from retrograde.databases.book import BookFile
    from retrograde.databases.location import book_path, database_path
    from retrograde.games import RetrogradeError
    from retrograde.games.catalog import load_game, variant

    try:
        path = Path(database) if database is not None else file_named(source)
        if path is None:
            name = variant(load_game(source))
            path = book_path(name)
            if database_path(name).exists() or not path.exists():
                return None
        BookFile(path).close()
        return path
    except (RetrogradeError, OSError):
        return None


def named_variant(source: str) -> str:
    """Return VARIANT|FILE if it is a variant; raise UsageError if a file is given twice."""
    if file_named(source):
        raise click.UsageError("give a FILE or --database, not both", click.get_current_context())
    return source


def read_position(game: "Game", text: str) -> int:
    """Return the position that a text stands for; raise PositionError if there is none."""
    from retrograde.games import PositionError
    from retrograde.games.catalog import variant

    try:
        return game.read(text)
    except PositionError:
        raise
    except ValueError as error:
        raise PositionError(f"no position {text!r} of {variant(game)}: {error}") from error


def plies_in(game: "Game", text: str) -> int:
    """Return the plies without progress that a position of chess gives as text; 0 in other games."""
    if game.name != CHESS:
        return 0
    from retrograde.games.chess.fields import count_in  # other games do not need it

    return count_in(text)


def player_named(name: str, oracle: "Oracle", chance: "Random") -> "Player":
    """Return a player by name; raise UsageError if there is none."""
    from retrograde.solver.metrics.models.model import NoModel
    from retrograde.solver.metrics.models.policy import policy_in_file
    from retrograde.solver.play.player import NoPlayer, make_player, model_player

    try:
        if ".py:" in name and not name.startswith("exploit:"):  # a function in a file that the user has named
            return model_player(policy_in_file(name), chance)
        return make_player(name, oracle, chance)
    except (NoModel, NoPlayer) as error:
        raise click.UsageError(str(error), click.get_current_context()) from error


# Input and output


def check_can_write(path: Path) -> None:
    """Raise CannotWrite if a file cannot be written, before long work whose result it is for. A file stays as it is,
    and no new one is left."""
    from retrograde.databases.errors import CannotWrite

    if path.exists() and not path.is_file():  # a device or a pipe: opening it may wait, or do something
        return
    try:
        target = path.resolve()  # of a link whose target is missing, delete only the target again
        is_new = not target.exists()
        target.open("ab").close()
        if is_new:
            target.unlink()
    except OSError as error:
        raise CannotWrite(f"cannot write {str(path)!r}: {error.strerror or error}; choose another path") from error


def input_line() -> str:
    """Return the next line of standard input, whatever bytes it has; "" at the end."""
    return sys.stdin.buffer.readline().decode(errors="replace")


def json_text(result: object) -> str:
    """Return a result as JSON on one line, with control characters as escapes."""
    from retrograde.games.contract.text import UNPRINTABLE

    text = json.dumps(result, ensure_ascii=False)
    return UNPRINTABLE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def print_json(result: object) -> None:
    print_data(json_text(result) + "\n")


def print_data(text: str) -> None:
    """Print text for programs: in UTF-8, unless standard output is a terminal with an encoding of its own."""
    if isinstance(sys.stdout, io.TextIOWrapper) and not sys.stdout.isatty() and sys.stdout.encoding != "utf-8":
        sys.stdout.reconfigure(encoding="utf-8", errors="replace")
    click.echo(text, nl=False)
