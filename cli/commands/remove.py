"""`retrograde remove`: deletes a database, and what interrupted solves have left."""

import os
import shutil
from contextlib import suppress
from pathlib import Path

import click
from click.shell_completion import CompletionItem

from retrograde.cli import options
from retrograde.cli.commands.unfinished import (
    JOURNAL,
    PARTIAL,
    REMADE,
    SCRATCH,
    bytes_of,
    files_of,
    read_progress,
    unfinished_solves,
)
from retrograde.cli.common import input_line, named_variant, print_json
from retrograde.cli.failure import Failure
from retrograde.cli.render.estimates import is_estimates
from retrograde.cli.render.words import indent, size, table
from retrograde.databases.errors import DamagedDatabase, OtherRules, UnreadableVersion
from retrograde.databases.location import (
    CERTIFICATE_SUFFIX,
    ESTIMATES_SUFFIX,
    SUFFIX,
    database_path,
    list_databases,
    metric_named,
)
from retrograde.databases.lock import Lock
from retrograde.games import VariantError
from retrograde.games.contract.game import metric_of
from retrograde.games.contract.text import printable


def complete_removable(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Return the variants with something to remove; if none matches, let the shell complete files."""
    names = {
        str(path) if path.name.endswith(REMADE) else path.stem.replace(",", ":", 1)
        for path in (*list_databases(), *unfinished_solves())
    }
    return options.complete_names(sorted(names), incomplete)


@click.command()
@click.argument("source", metavar="VARIANT|FILE", shell_complete=complete_removable)
@click.option(
    "--unfinished",
    "only_unfinished",
    is_flag=True,
    help="Keep the database, certificate or book, and delete only the remains of an interrupted solve.",
)
@click.option("--yes", is_flag=True, help="Do not ask.")
@options.database
@options.json
def command(source: str, only_unfinished: bool, yes: bool, database: str | None, as_json: bool) -> None:
    """Delete a database, and the remains of an interrupted solve: its journal and its scratch files.

    The command first lists the files with their sizes and asks. It deletes no other files. While the variant is being
    solved, it refuses.

    VARIANT means the database and its solve, VARIANT@METRIC those of another metric. Name a certificate or a book by
    its FILE; this also deletes the remains of an interrupted `prove` or `book`. `list` prints these commands.

    \b
    Examples:
      retrograde remove tictactoe
      retrograde remove connect4:4,4 --yes
      retrograde remove ~/.local/share/retrograde/connect4.proof.h5 --unfinished
    """
    path, variant = path_and_variant(source, database)
    from retrograde.solver.runtime.scratch import clear_abandoned

    clear_abandoned(path.parent)
    files = files_to_remove(path, only_unfinished)
    if not files:
        what = "no interrupted solve" if only_unfinished else "neither a database nor an interrupted solve"
        raise Failure(f"error: there is {what} of {source}; see what there is with: retrograde list")
    with Lock(path, 0):  # until the user has answered, so that exactly the files shown are removed
        files = files_to_remove(path, only_unfinished)
        refuse_others(path, variant, files)
        facts = [{"path": str(file), "bytes": bytes_of(file)} for file in files]
        total = sum(bytes_of(file) for file in files)
        if not yes:
            rows = [(printable(file.name), size(bytes_of(file)), kind_text(file, path)) for file in files]
            click.echo(f"in {printable(str(path.parent))}:\n{indent(table(rows, '<><'))}", err=as_json)
            if not is_confirmed(f"remove {'this' if len(files) == 1 else 'these'} ({size(total)})?", as_json):
                click.echo("nothing was removed", err=as_json)
                files, facts, total = [], [], 0
        for file in files:
            delete(file)
    if as_json:
        print_json({"removed": facts, "bytes": total})
    elif files:
        click.echo(f"{size(total)} removed")


def path_and_variant(source: str, database: str | None) -> tuple[Path, str | None]:
    """Return the path of the database, and its variant, None if the source is a file."""
    from retrograde.games.catalog import load_game
    from retrograde.games.catalog import variant as text_of

    if database is not None:
        return Path(database), text_of(load_game(named_variant(source)))
    if source.endswith((SUFFIX, ESTIMATES_SUFFIX)):
        return Path(source), None
    text, metric = metric_named(source)
    try:
        game = load_game(text)
        # The name of a file leaves out the game's own metric.
        text, metric = text_of(game), "" if metric == metric_of(game) else metric
    except VariantError:
        if not files_of(database_path(text, metric=metric)):
            raise
        # the files exist, but their rules are missing
    return database_path(text, metric=metric), text


def files_to_remove(path: Path, only_unfinished: bool) -> list[Path]:
    """Return the files of a database, without the database itself if *only_unfinished*."""
    return [file for file in files_of(path) if not (only_unfinished and file == path)]


def clear_leftovers(path: Path) -> None:
    """Delete what a solve has left beside its finished database, if it was killed before it could clean up."""
    if files_of(path) == [path] and not path.with_name(path.name + ".lock").exists():
        return
    with suppress(OSError, Failure), Lock(path, 0):  # deletes its own file; fails if another process is solving
        leftovers = files_to_remove(path, only_unfinished=True)
        refuse_others(path, None, leftovers)
        for file in leftovers:
            delete(file)


def refuse_others(path: Path, variant: str | None, files: list[Path]) -> None:
    """Raise an error if a file that would be deleted is not ours, or is of another game."""
    from retrograde.databases.book import BookFile, is_book
    from retrograde.databases.checked import CheckedFile
    from retrograde.solver.search.depth import estimated_book

    for candidate in files:
        if candidate.is_dir() is not candidate.name.endswith(SCRATCH):
            raise Failure(f"error: {str(candidate)!r} is not of retrograde; nothing was removed")
        if candidate.name.endswith(JOURNAL) and not is_journal(candidate):
            raise Failure(f"error: {str(candidate)!r} is no journal of retrograde; nothing was removed")
    journal = path.with_name(path.name + JOURNAL)
    variant_in_files = read_progress(journal).variant if journal in files else ""
    if path in files and is_estimates(path):
        try:
            variant_in_files = estimated_book.read_estimates(path).origin.game
        except estimated_book.WrongEstimates as error:
            if isinstance(error.__cause__, OSError) or estimated_book.FORMAT.encode() not in path.read_bytes():
                raise  # not damaged, but a file of another program
    elif path in files and path.exists():  # a link may lead nowhere
        try:
            with (BookFile if is_book(path) else CheckedFile)(path) as file:  # of any kind, a certificate as well
                variant_in_files = file.variant
        except (DamagedDatabase, UnreadableVersion):
            pass  # it is ours, and may be removed
    if variant is not None and variant_in_files and variant_in_files != variant:
        raise OtherRules(f"{str(path)!r} is of {variant_in_files}, not of {variant}; nothing was removed")


def is_journal(path: Path) -> bool:
    """Return whether a file begins as a journal does, or is empty because its solve was killed at once."""
    from retrograde.solver.runtime.journal import MAGIC

    with open(path, "rb") as file:
        return file.read(len(MAGIC)) in (MAGIC, b"")


def kind_text(file: Path, path: Path) -> str:
    """Return what a file that would be deleted is: the database at *path*, or something beside it."""
    from retrograde.databases.book import is_book

    if file == path:
        if file.name.endswith(CERTIFICATE_SUFFIX):
            return "the certificate"
        if is_estimates(file):
            return "the book of estimates"
        return "the opening book" if is_book(path) else "the database"
    if file.name.endswith(JOURNAL):
        return f"the journal of an interrupted solve, {read_progress(file)}"
    if file.name.endswith(PARTIAL):
        return "half of a database"
    return "what the solve has put aside"


def is_confirmed(question: str, to_errors: bool) -> bool:
    """Ask the user a question, on standard error if *to_errors*; return whether the answer is yes. Raise Failure if
    nobody answers."""
    click.echo(f"{question} [y/N] ", nl=False, err=to_errors)
    answer = input_line()
    if not answer:
        click.echo(err=to_errors)
        raise Failure("error: nobody has answered, and nothing was removed; say --yes not to be asked")
    return answer.strip().lower() in ("y", "yes")


def delete(path: Path) -> None:
    """Delete a file, or a folder with all its contents; of a link only the link."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        os.unlink(path)
