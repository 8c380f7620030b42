"""`retrograde check`: checks whether a rule module keeps the contract."""

import click

from retrograde.cli import options
from retrograde.cli.common import print_json
from retrograde.cli.progress import progress_listener
from retrograde.cli.render.words import heading, wrap
from retrograde.games.contract.text import printable


@click.command()
@options.variant
@options.number("--positions", 10_000, "The greatest number of positions to try.")
@options.json
@click.pass_context
def command(ctx: click.Context, variant: str, positions: int, as_json: bool) -> None:
    """Check that the rules of a game keep the contract.

    The command runs the rules at many positions, interpreted and compiled, compares the answers, and prints what it
    understood: players, ends, tiers and so on. The exit status is 1 if anything is wrong. With --json, progress goes to
    standard error as lines of JSON.

    \b
    Examples:
      retrograde check tictactoe
      retrograde check connect4:5,4 --positions 500
    """
    from retrograde.games.catalog import load_game
    from retrograde.solver.conformance.check import check

    game = load_game(variant)
    with progress_listener(as_json) as line:
        report = check(game, positions, listener=line)
    if as_json:
        print_json(
            {
                "variant": report.variant,
                "ok": report.ok,
                "positions": report.positions,
                "complete": report.complete,
                "checks": report.checks,
                "understood": report.understood,
                "findings": [finding._asdict() for finding in report.findings],
                "compiles": (not report.slow) if "compiled" in report.checks else None,  # None: not tried
                "slow": report.slow or None,
            }
        )
    else:
        keeps = click.style("keeps the contract", fg="green")
        breaks = click.style("breaks the contract", fg="red")
        click.echo(f"{heading(report.variant)}: {keeps if report.ok else breaks}")
        for finding in report.findings:
            click.echo(wrap(f"  {printable(str(finding))}", 4))
        if report.understood:
            meant = "; ".join(f"{about}: {text}" for about, text in report.understood.items())
            click.echo(wrap(f"  {printable(meant)}", 4))
        if report.slow:
            click.echo(wrap(f"  it works, slowly: {printable(report.slow)}", 4))
        tried = f"{'all' if report.complete else 'the first'} {report.positions:,} positions"
        click.echo(wrap(f"tried at {tried}: {', '.join(report.checks) or 'nothing'}", 2))
    if not report.ok:
        ctx.exit(1)
