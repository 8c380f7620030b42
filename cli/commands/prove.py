"""`retrograde prove`: writes a certificate of a position's value, which anyone can check."""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from retrograde.cli import options
from retrograde.cli.commands.search import TABLE, start_of
from retrograde.cli.common import print_json, read_position
from retrograde.cli.failure import explain_interrupt
from retrograde.cli.progress import COMPILING, poll_progress, progress_listener
from retrograde.cli.render.certified import claim, facts_of
from retrograde.cli.render.words import duration, faint, heading, size, wrap
from retrograde.databases.location import certificate_path
from retrograde.databases.lock import Lock
from retrograde.games import Game, Value
from retrograde.solver.runtime.progress import Progress, announce

if TYPE_CHECKING:
    from retrograde.solver.runtime.journal import Journal
    from retrograde.solver.search.certificates.prover import CertificateProver, ProofGoal
    from retrograde.solver.verification.verifier import Verification

MEMORY = "4G"
LEAVES = 7
MOST_LEAVES = 15


class Odd(click.IntRange):
    """An odd number of plies, or 0: after an odd number the side that moved first has also moved last."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Return the number of plies, 0 or an odd number; refuse other even numbers."""
        number: int = super().convert(value, param, ctx)
        if number and number % 2 == 0:
            self.fail(
                f"{number} is even; give an odd number of plies, so that the player to move makes the last move",
                param,
                ctx,
            )
        return number


@click.command()
@options.source
@click.argument("position", required=False)
@click.option(
    "--value",
    type=click.Choice(["win", "tie", "draw", "lose"]),
    help="The value to prove; by default a search finds it.",
)
@click.option("--at-least", is_flag=True, help="Prove only that the position is worth at least the value.")
@click.option(
    "--leaves", type=Odd(0, MOST_LEAVES), default=LEAVES, show_default=True, metavar="N",
    help="Leave out positions that a search decides within N plies, an odd number or 0.",
)  # fmt: skip
@options.time_limit
@options.size("--table", "table_size", TABLE, "Memory for the transposition table of the search.")
@options.size("--memory", "memory", MEMORY, "Memory for the positions of the proof.")
@options.threads
@options.fresh
@click.option("--out", metavar="FILE", help="The certificate's file, if it is not to be in the database folder.")
@options.json
def command(
    source: str, position: str | None, value: str | None, at_least: bool, leaves: int, seconds: float | None,
    table_size: int, memory: int, workers: int | None, fresh: bool, out: str | None, as_json: bool,
) -> None:  # fmt: skip
    """Prove the value of a position, and write the proof to a file, a certificate.

    By default POSITION is the start. A certificate is a strategy for one side: a reply for each position that can arise
    while this side follows it. For a tie or a draw it has the strategies of both sides. The command checks every reply
    before it gives the file its name. `verify` checks a certificate again at any time. query and play use it if there
    is no database.

    \b
    Examples:
      retrograde prove tictactoe
      retrograde prove connect4:4,4 --value tie --at-least
      retrograde prove connect4:4,4 --leaves 3 --json
    """
    from retrograde.games.catalog import load_game, trust
    from retrograde.solver.conformance.check import precheck
    from retrograde.solver.search.certificates.prover import CertificateProver, ProofGoal

    game = load_game(source)
    precheck(game).require_ok()
    trust(game)  # the user has named its file
    root = start_of(game) if position is None else read_position(game, position)
    goal = ProofGoal(None if value is None else Value[value.upper()], at_least, leaves, seconds, memory)
    path = path_of(game, None if position is None else root, out)
    began = time.monotonic()
    with open_proof_journal(path, identity(game, root, goal), fresh) as (journal, lock):
        with progress_listener(as_json) as line:
            announce(line, COMPILING)
            prover = CertificateProver(game, root, goal, workers or os.cpu_count() or 1, table_size, journal)
            compiled_at = time.monotonic()
            with poll_progress(line, lambda: progress_of_proof(prover, time.monotonic() - compiled_at)):
                solved = prover.prove()
        proved_at = time.monotonic()
        report = write(path, game, solved, workers, as_json, lock)
    print_proof(path, report, (proved_at - began, time.monotonic() - proved_at), prover.search.nodes, as_json)


@contextmanager
def open_proof_journal(path: Path, what: str, fresh: bool) -> Iterator["tuple[Journal, Lock]"]:
    """Yield the journal of a proof and the lock of its path. At the end, delete the journal if it is of no use.

    It stays if it has results and the proof is not done: after an error, an interruption, or the end of the time.
    *what* is the proof's `identity`.
    """
    from retrograde.solver.runtime.journal import Journal
    from retrograde.solver.search.certificates.prover import NotProved, ProofTimeout

    journal_path = path.with_name(path.name + ".journal")
    with Lock(path) as lock:
        is_useless = not journal_path.exists()  # opening may fail: then results of an earlier run stay
        try:
            with Journal(journal_path, what, fresh) as journal:
                had_results, first_end = bool(journal.found), journal.end
                try:
                    yield journal, lock
                finally:
                    is_useless = not had_results and journal.end == first_end
            is_useless = True  # the proof is done
        except NotProved as error:
            is_useless |= not isinstance(error, ProofTimeout)  # else more time would help: keep the journal
            raise
        except KeyboardInterrupt as error:
            resume = "; finished work is kept, and the same command resumes it"
            note = "; the same command starts again" if is_useless else resume
            raise explain_interrupt(error, note) from None
        finally:
            if is_useless:
                with suppress(OSError):  # a journal that stays is useless, but harmless
                    journal_path.unlink(missing_ok=True)


def identity(game: Game, position: int, goal: "ProofGoal") -> str:
    """Return the identity of a proof's journal: only the same proof resumes from it."""
    from retrograde.games.catalog import rules_digest, variant
    from retrograde.solver.runtime.sources import journal_digest

    what = (
        f"{goal.value.name if goal.value else 'value'}-{'at-least-' if goal.at_least else ''}{goal.leaves}-{position}"
    )
    return f"{variant(game)} {rules_digest(game)}-proof-{what} {journal_digest()}"


def path_of(game: Game, position: int | None, out: str | None) -> Path:
    """Return the path of a certificate: *out*, or by default the usual one. *position* is None for the start."""
    from retrograde.games.catalog import variant

    return Path(out) if out is not None else certificate_path(variant(game), position)


def write(path: Path, game: Game, solved: Any, workers: int | None, as_json: bool, lock: Lock) -> "Verification":
    """Write a certificate, check it, and give it its name; raise RuleError or InternalError if it is wrong."""
    from retrograde.databases import open_certificate, write_certificate
    from retrograde.solver.conformance.check import check as check_rules
    from retrograde.solver.verification.certificates import verify_certificate
    from retrograde.solver.verification.verifier import Verification

    reports: list[Verification] = []

    def check(partial: Path) -> None:
        with open_certificate(partial, game=game) as certificate, progress_listener(as_json) as line:
            reports.append(verify_certificate(certificate, workers, line))
        if not reports[0].ok:
            raise check_rules(game).blame(RuntimeError(f"the proof is wrong: {reports[0].problems[0]}"))

    write_certificate(path, game, solved, lock=lock, inspect=check)
    return reports[0]


def print_proof(path: Path, report: "Verification", seconds: tuple[float, float], nodes: int, as_json: bool) -> None:
    """Print what is proved, where the proof is, and what it took: *seconds* to find and to check it, and *nodes*."""
    from retrograde.databases import CertificateFile, open_certificate

    with CertificateFile(path) as file:
        facts = facts_of(file)
        if as_json:
            times = {"seconds": round(seconds[0], 3), "seconds_checking": round(seconds[1], 3)}
            print_json({**facts, **times, "nodes": nodes, "proven": report.proven})
            return
        with open_certificate(path) as certificate:
            root = certificate.game.write(file.root)
        click.echo(f"{heading(file.variant)}: {claim(file)} for the player to move in {root}")
        bits = 8 * file.bytes / file.stored
        found, checked = map(duration, seconds)
        replies = "1 reply" if file.stored == 1 else f"{file.stored:,} replies"
        click.echo(f"{replies}, {bits:,.1f} bits each; found in {found}, checked in {checked}")
        click.echo(faint(wrap(f"proven: {report.proven}", 2)))
        click.echo(f"{path}: {size(file.bytes)}")


def progress_of_proof(prover: "CertificateProver", seconds: float) -> Progress:
    """Return how far a proof has come: positions searched, and later positions of the proof."""
    if prover.positions < 2:  # the first reply takes the longest
        return Progress("searching", prover.search.looked_at, None, seconds)
    return Progress("proving", prover.positions, None, seconds, open=prover.open)
