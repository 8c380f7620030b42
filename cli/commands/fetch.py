"""`retrograde fetch`: downloads a database into the home folder."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from retrograde.databases.errors import CannotWrite, NoDatabase
from retrograde.databases.location import database_path, home_folder
from retrograde.games.contract.game import METRICS, RetrogradeError


@click.command()
@click.argument("address", metavar="URL")
def command(address: str) -> None:
    """Download a database, check that it is whole, and put it where solved games are.

    The check is that of `retrograde verify --quick`: the file is as it was written. To recompute its values, run
    `retrograde verify` afterwards. Needs the extra remote: pip install '.[remote]' in the folder of the sources.

    \b
    Example:
      retrograde fetch https://example.org/databases/connect4,width=5,height=4.h5
    """
    from retrograde.databases import DatabaseFile
    from retrograde.databases.remote import RemoteFile, is_address, path_of

    if not is_address(address):
        raise NoDatabase(f"{address!r} is no address of a database; write it as in https://example.org/nim.h5")
    home = home_folder()
    home.mkdir(parents=True, exist_ok=True)
    remote = RemoteFile(path_of(address))
    partial_file = home / f"fetched.{remote.key}.part"
    try:
        remote.download(partial_file)
        with errors_for(address, partial_file), DatabaseFile(partial_file) as file:
            file.check()
            metric = file.metric if file.measures else METRICS[0]  # files have another word for remoteness
            path = usual_path(file.variant, metric, remote.path.name)
            message = f"{path}: {file.variant}, {file.positions:,} positions, whole"
        if path.exists():
            raise CannotWrite(f"{str(path)!r} exists; to replace it, first delete it: retrograde remove {path}")
        partial_file.replace(path)
    finally:
        partial_file.unlink(missing_ok=True)
    click.echo(message)


@contextmanager
def errors_for(address: str, partial_file: Path) -> Iterator[None]:
    """Let errors name the address in place of the file that has what was fetched."""
    try:
        yield
    except RetrogradeError as error:
        named = type(error)(str(error).replace(str(partial_file), address))
        for note in getattr(error, "__notes__", ()):
            named.add_note(note)
        raise named from error


def usual_path(variant: str, metric: str, name: str) -> Path:
    """Return where to put the database of a variant by a metric, whose file had this *name*.

    The usual name contains the metric, unless it is the game's own, which only the rules can tell. So keep *name* if it
    is either of these two names. For any other name, suppose that the game's own metric is remoteness.
    """
    short_path, long_path = database_path(variant), database_path(variant, metric=metric)
    if name == short_path.name:
        return short_path
    return long_path if name == long_path.name or metric != METRICS[0] else short_path
