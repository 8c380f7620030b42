"""Finds, opens and prints certificates for the commands."""

from contextlib import suppress
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any

import click

from retrograde.cli.common import book_named, file_named, named_variant
from retrograde.cli.render.words import NOUNS, faint, heading, indent, plies, size, table
from retrograde.databases.errors import IsCertificate
from retrograde.databases.location import certificate_path, database_path
from retrograde.games import DRAW, RetrogradeError
from retrograde.games.contract.text import printable

if TYPE_CHECKING:
    from retrograde.databases import Certificate, CertificateFile

CLASS = "weak"
"""A certificate is a weak solution: it solves its root, by a strategy."""
CLASSES = {"strong": "strong: every position", CLASS: "weak: a strategy that keeps the value of one position"}


def certificate_named(source: str, database: str | None) -> Path | None:
    """Return the path of the certificate that VARIANT|FILE and --database name; None if a variant has a database as
    well."""
    from retrograde.games.catalog import load_game, variant

    path = Path(database) if database is not None else file_named(source)
    if path is not None:
        return path if is_certificate(path) else None
    with suppress(RetrogradeError):
        name = variant(load_game(source))
        path = certificate_path(name)
        return path if path.is_file() and not database_path(name).exists() else None
    return None


def certificate_alone(source: str, database: str | None) -> Path | None:
    """Return the path of the certificate that VARIANT|FILE and --database name; None if a variant has a
    database or an opening book."""
    return None if book_named(source, database) else certificate_named(source, database)


def print_other_certificate(command: str, source: str, database: str | None) -> None:
    """Print how to apply a command to the certificate of a variant that also has an opening book; nothing if there is
    no certificate."""
    if path := certificate_named(source, database):
        click.echo(f"there is a certificate as well: retrograde {command} {quote(printable(str(path)))}")


def is_certificate(path: Path) -> bool:
    """Return whether a file is a certificate."""
    from retrograde.databases import DatabaseFile

    try:
        DatabaseFile(path).close()
    except IsCertificate:
        return True
    except RetrogradeError:
        return False
    return False


def open_certified(path: Path, source: str, database: str | None) -> "Certificate":
    """Open a certificate with its game. If --database names the file, VARIANT names the game."""
    from retrograde.databases import open_certificate
    from retrograde.games.catalog import load_game

    return open_certificate(path, game=None if database is None else load_game(named_variant(source)))


def claim(file: "CertificateFile") -> str:
    """Return in words what a certificate says of its root: `a tie`, `a draw at least`."""
    from retrograde.solver.verification.certificates import worth

    return worth(file.at_least, file.at_most)


def facts_of(file: "CertificateFile") -> dict[str, Any]:
    """Return the facts about a certificate, ready for JSON."""
    return {
        "variant": file.variant,
        "class": CLASS,
        "root": file.root,
        "at_least": NOUNS[file.at_least],
        "at_most": NOUNS[file.at_most],
        "stored": file.stored,
        "leaves": file.leaves,
        "bounds": file.contents.has_bounds,
        "bytes": file.bytes,
        "path": str(file.path),
        "digest": file.digest,
        "made_with": file.made_with,
    }


def print_certificate(file: "CertificateFile", certificate: "Certificate | None") -> None:
    """Print what a certificate proves, and facts about it; its rules may be missing."""
    root = certificate.game.write(file.root) if certificate else str(file.root)
    click.echo(f"{heading(file.variant)}: {claim(file)} for the player to move in {root}")
    if certificate:
        click.echo(f"\n{indent(certificate.game.show(file.root))}\n")
    bits = 8 * file.bytes / file.stored
    rows = [
        ("solution", CLASSES[CLASS]),
        ("replies", f"{file.stored:,}"),
        ("left out", f"what is decided within {plies(file.leaves)}" if file.leaves else "nothing"),
        ("bounds", bounds_of(file)),
        ("rules", file.rules if certificate else f"{file.rules}, not at hand or changed since"),
        ("made with", file.made_with),
        ("digest", file.digest or ""),
    ]
    click.echo(indent(table(rows, "<<")))
    click.echo(faint(f"\nit is checked with: retrograde verify {file.path}"))
    click.echo(f"{file.path}: {size(file.bytes)}, {bits:,.1f} bits a reply")


def bounds_of(file: "CertificateFile") -> str:
    """Return in words how a certificate shows that play ends."""
    if file.contents.has_bounds:
        return f"each reply has one, of {plies(int((file.contents.all().bounds).max()))} at most"  # type: ignore[union-attr]  # there are
    return "none: play may go on for ever" if file.goal == DRAW else "none: tiers rise with every two plies"
