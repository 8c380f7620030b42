"""`retrograde verify`: computes every stored outcome again from its children."""

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

from retrograde.cli import options
from retrograde.cli.common import book_named, open_file, open_source, print_json
from retrograde.cli.progress import progress_listener
from retrograde.cli.render.certified import certificate_alone, open_certified, print_other_certificate
from retrograde.cli.render.estimates import book_text, estimates_named, facts_of, open_named
from retrograde.cli.render.report import of_book
from retrograde.cli.render.words import duration, faint, heading, indent, wrap
from retrograde.games.contract.text import printable
from retrograde.solver.runtime.progress import Course, Phase

if TYPE_CHECKING:
    from retrograde.databases.checked import CheckedFile

MOST_PROBLEMS = 20


@click.command()
@options.source
@options.database
@options.workers
@click.option(
    "--against",
    metavar="FILE.py:function",
    help="For a best response to a function of your own: where that function is.",
)
@click.option("--quick", is_flag=True, help="Only read every block and compare the digest.")
@click.option("--all-images", is_flag=True, help="Check every symmetric image of each position, not only one.")
@options.json
@click.pass_context
def command(
    ctx: click.Context, source: str, database: str | None, workers: int | None, against: str | None, quick: bool,
    all_images: bool, as_json: bool,
) -> None:  # fmt: skip
    """Compute every stored value again from its children, and compare.

    Verification has loops of its own, none of the solver's. At the end the command prints what it has proven, and on
    which assumptions. The exit status is 1 if anything is wrong. With --json, progress goes to standard error as lines
    of JSON.

    For a certificate, the command checks every reply. For an opening book, it searches some positions of the last ply
    again, because these have no stored children. It does the same for a book of estimates, which proves nothing.

    \b
    Examples:
      retrograde verify tictactoe
      retrograde verify connect4.h5 --workers 1
      retrograde verify connect4.h5 --quick
    """
    if all_images and (quick or book_named(source, database)):
        raise click.UsageError("--all-images is for recomputed values: not for books, and not with --quick")
    if against and (quick or is_no_database(source, database)):
        what = "--against is for a database of a best response"
        raise click.UsageError(f"{what}: not for books and certificates, and not with --quick")
    if quick:
        options.refuse_options(("workers",), "has no effect with --quick")
        verify_quickly(source, database, as_json)
        return
    if path := estimates_named(source, database):
        verify_estimates(path, source, database, as_json, ctx)
        return
    if path := book_named(source, database):
        verify_book(path, workers, as_json, ctx)
        if not as_json:
            print_other_certificate("verify", source, database)
        return
    began = time.monotonic()
    if path := certificate_alone(source, database):
        what = "replies checked"
        with open_certified(path, source, database) as opened, progress_listener(as_json) as line:
            from retrograde.solver.verification.certificates import verify_certificate

            report = verify_certificate(opened, workers=workers, listener=line, all_images=all_images)
    else:
        what = "records recomputed"
        with open_source(source, database) as opened, progress_listener(as_json) as line:
            from retrograde.solver.metrics.models.names import model_named
            from retrograde.solver.verification.verify import verify

            model = model_named(against, opened.game) if against else None
            report = verify(opened, workers=workers, listener=line, model=model, all_images=all_images)
    seconds = time.monotonic() - began
    if as_json:
        counts = {"stored": report.stored, "positions": report.positions, "wrong": report.wrong}
        problems = [problem._asdict() for problem in report.problems]
        proven = {"proven": report.proven if report.ok else None, "rests_on": report.rests_on}
        about = {"variant": report.variant, "ok": report.ok, **counts, "problems": problems, **proven}
        print_json(about | {"seconds": round(seconds, 3)})
    elif report.ok:
        right = click.style("every one is right", fg="green")
        click.echo(f"{heading(report.variant)}: {report.stored:,} {what}, and {right}")
        click.echo(f"{report.positions:,} positions in {duration(seconds)}")
        click.echo(faint(wrap(f"proven: {report.proven}", 2)))
        click.echo(faint(wrap(f"this rests on: {report.rests_on}", 2)))
    else:
        click.echo(f"{heading(report.variant)}: {click.style(f'{report.wrong:,} wrong', fg='red')}")
        click.echo(indent("\n".join(printable(str(problem)) for problem in report.problems)))
        if report.wrong > len(report.problems):
            click.echo(f"  … and {report.wrong - len(report.problems):,} more")
    if not report.ok:
        ctx.exit(1)


def is_no_database(source: str, database: str | None) -> bool:
    """Return whether VARIANT|FILE and --database name a book or a certificate."""
    return any(named(source, database) for named in (estimates_named, book_named, certificate_alone))


def verify_book(path: Path, workers: int | None, as_json: bool, ctx: click.Context) -> None:
    """Verify an opening book, and print what that proves."""
    from retrograde.databases.book import open_book
    from retrograde.solver.play.oracles.audit import verify_book as verify

    began = time.monotonic()
    with open_book(path) as book, progress_listener(as_json) as line:
        report = verify(book, line, workers or os.cpu_count() or 1)
    seconds = time.monotonic() - began
    if as_json:
        about = {"variant": book.file.variant, "ok": not report.problems, "book": {"plies": book.plies}}
        print_json(about | report._asdict() | {"seconds": round(seconds, 3)})
    elif report.problems:
        click.echo(f"{heading(book.file.variant)}: {click.style(f'{len(report.problems):,} wrong', fg='red')}")
        click.echo(indent("\n".join(printable(problem) for problem in report.problems[:MOST_PROBLEMS])))
    else:
        right = click.style("nothing is wrong", fg="green")
        click.echo(f"{heading(book.file.variant)}, {of_book(book.plies)}: {report.stored:,} records, and {right}")
        click.echo(f"{report.positions:,} positions in {duration(seconds)}")
        proven = f"the book has the positions of the plies and no others, and {report.derived:,} follow from the others"
        rest = f"the search that made it, for the others at the last ply; {report.searched} of them were searched again"
        click.echo(faint(wrap(f"proven: {proven}", 2)))
        click.echo(faint(wrap(f"this rests on: {rest}", 2)))
    if report.problems:
        ctx.exit(1)


def verify_estimates(path: Path, source: str, database: str | None, as_json: bool, ctx: click.Context) -> None:
    """Verify a book of estimates, and print what was compared; nothing in it is a proof."""
    from retrograde.solver.play.oracles.audit_estimates import verify_estimates as verify

    began = time.monotonic()
    with progress_listener(as_json) as line:
        book = open_named(path, source, database)
        report = verify(book, line)
    seconds, problems, name = time.monotonic() - began, report.problems, heading(printable(book.file.origin.game))
    if as_json:
        about = {"variant": book.file.origin.game, "ok": not problems, "estimates": {"plies": book.file.origin.plies}}
        print_json(about | report._asdict() | {"seconds": round(seconds, 3)})
    elif problems:
        click.echo(f"{name}: {click.style(f'{len(problems):,} wrong', fg='red')}")
        click.echo(indent("\n".join(printable(problem) for problem in problems[:MOST_PROBLEMS])))
    else:
        right = click.style("nothing is wrong", fg="green")
        click.echo(f"{name}, {book_text(facts_of(book.file))}: {report.positions:,} positions, and {right}")
        again = f"{report.searched} of the others were searched again"
        again += f": {report.unsearched}" if report.unsearched else ""
        compared = f"{report.derived:,} estimates follow from those of their moves; {again}"
        click.echo(faint(wrap(f"compared: {compared}; {duration(seconds)}", 2)))
        click.echo(faint(wrap("proven: nothing; estimates are what searches to a depth think", 2)))
    if problems:
        ctx.exit(1)


def verify_quickly(source: str, database: str | None, as_json: bool) -> None:
    """Read every block of a file, and report that it is as it was written. This does not need the rules."""
    from retrograde.databases import CertificateFile, Database
    from retrograde.solver.search.depth.estimated_book import read_estimates

    began = time.monotonic()
    if path := estimates_named(source, database):
        read = read_estimates(path)
        print_quick(read.origin.game, read.digest, read.bytes, time.monotonic() - began, as_json)
        return
    path = certificate_alone(source, database)
    with CertificateFile(path) if path else open_file(source, database) as opened, progress_listener(as_json) as line:
        file: CheckedFile = opened.file if isinstance(opened, Database) else opened
        items = file.contents.length
        course = Course({"reading": 1.0}, positions_a_record=file.positions / max(items, 1), exact=True)
        phase = Phase("reading", line, items, course)
        file.check(lambda done: phase.advance(done - phase.done))
        phase.end()
    print_quick(file.variant, file.digest, file.bytes, time.monotonic() - began, as_json)


def print_quick(variant: str, digest: str, count: int, seconds: float, as_json: bool) -> None:
    """Print that a file of *count* bytes is as it was written."""
    if as_json:
        print_json({"variant": variant, "ok": True, "digest": digest, "seconds": round(seconds, 3)})
        return
    verdict = click.style("as it was written", fg="green")
    click.echo(f"{heading(printable(variant))}: the file is {verdict}, digest {digest}")
    click.echo(f"{count:,} bytes in {duration(seconds)}; to check whether the solution is right, leave out --quick")
