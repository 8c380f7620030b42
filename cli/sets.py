"""Sets of variants, `chess:all=4`, solved one after another: a line for each, and what they come to."""

from collections.abc import Callable
from typing import Any

import click

from retrograde.cli.common import print_json
from retrograde.cli.failure import INTERRUPTED, Failure, explain
from retrograde.cli.words import amount, duration, faint, size
from retrograde.games.text import printable

Facts = dict[str, Any]
SAME = "the same command"


def solve_set(
    variants: list[str], solve: Callable[[str], tuple[Facts, bool]], as_json: bool = False, fresh: bool = False
) -> None:
    """Let each variant be solved, print a line for each, and then the sums; raise Failure where some were not.

    *solve* gives what came out, and whether it had been solved before. What cannot be solved hinders no other. Where
    all are solved *fresh*, the same command does not go on from an interruption.
    """
    wide, done, failed = max(map(len, variants)), list[Facts](), dict[str, str]()
    for number, variant in enumerate(variants, 1):
        try:
            facts, before = solve(variant)
        except BaseException as error:
            failure = error if isinstance(error, Failure) else explain(error)
            if not isinstance(error, Exception) or failure.status == INTERRUPTED:
                left = f"; {number - 1} of {len(variants)} are solved"
                goes_on = "" if fresh or SAME in failure.message else f", and {SAME} goes on from there"
                raise Failure(f"{failure.message}{left}{goes_on}", failure.status) from error
            failed[variant] = printable(failure.message)
            which = "" if variant in failure.message else f"{variant}: "
            click.echo(f"retrograde: {which}{failed[variant]}", err=True)
            continue
        done.append(facts)
        if not as_json:
            click.echo(line_of(facts, before, wide))
    if as_json:
        print_json({"variants": done, "failed": failed})
    else:
        positions, stored = (sum(facts[name] for facts in done) for name in ("positions", "bytes"))
        click.echo(f"\n{len(done)} of {len(variants)} solved, {amount(positions)} positions, {size(stored)}")
    if failed:
        raise Failure("error: " + ("one was" if len(failed) == 1 else f"{len(failed)} were") + " not solved")


def line_of(facts: Facts, before: bool, wide: int) -> str:
    """Return in words what came out: `chess:KRK   16.1 kB   0.1 s   32 plies  8/8/8/8/8/8/2Rk4/1K6 b - - 0 1`."""
    longest = furthest(facts)
    plies = longest and ("1 ply" if longest["remoteness"] == 1 else f"{longest['remoteness']} plies")
    far = f"{plies}  {longest['position']}" if longest else "a draw, all of it"
    took = faint(f"{'before':>10}") if before else f"{duration(facts['seconds']):>10}"
    return f"{facts['variant']:<{wide}}  {size(facts['bytes']):>8}  {took}  {far}"


def furthest(facts: Facts) -> Facts | None:
    """Return the end that is furthest: of a game of tiers in the first, since the others are other variants'."""
    for parts in facts.get("tiers", {}).values():
        ends = [part["longest"] for part in parts.values() if part["longest"]]
        found: Facts | None = max(ends, key=lambda end: end["remoteness"], default=None)
        return found
    whole: Facts | None = facts["longest"]
    return whole
