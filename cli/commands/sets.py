"""Sets of variants such as `chess:all=4`: solved one after another, or several at once on a cluster.

Prints a line for each variant, and then the sums.
"""

from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from retrograde.cli.common import print_json
from retrograde.cli.failure import INTERRUPTED, Failure, explain
from retrograde.cli.progress import progress_listener
from retrograde.cli.render.words import amount, duration, faint, plies, size
from retrograde.databases.errors import InUse
from retrograde.games import Game
from retrograde.games.contract.text import printable
from retrograde.solver.runtime.progress import announce

if TYPE_CHECKING:
    from retrograde.solver.variants import VariantQueue

Facts = dict[str, Any]
SAME = "the same command"


def solve_set(
    variants: list[str], solve: Callable[[str], tuple[Facts, bool]], as_json: bool = False, fresh: bool = False
) -> None:
    """Solve each variant of a set, print a line for each, then the sums. Raise Failure if some could not be solved.

    *solve* returns (the facts, whether the variant had been solved before). A variant that another process is solving
    comes last. If all are solved *fresh*, the same command does not resume after an interruption.
    """
    name_width, solved, failed = max(map(len, variants)), dict[str, Facts](), dict[str, str]()
    queue, waiting = deque(variants), set[str]()
    while queue:
        variant = queue.popleft()
        try:
            facts, was_solved = solve(variant)
        except BaseException as error:
            # Case 1: another process solves it; `solve` has waited some seconds. Try again after the others.
            if type(error) is InUse:
                if variant not in waiting:
                    click.echo(
                        f"retrograde: another process solves {variant}; waiting for it after the others", err=True
                    )
                waiting.add(variant)
                queue.append(variant)
                continue
            # Case 2: the user interrupts. Stop the whole set.
            failure = error if isinstance(error, Failure) else explain(error)
            if not isinstance(error, Exception) or failure.status == INTERRUPTED:
                so_far = f"; {len(solved)} of {len(variants)} are solved"
                resume = "" if fresh or SAME in failure.message else f", and {SAME} resumes the solve"
                raise Failure(f"{failure.message}{so_far}{resume}", failure.status) from error
            # Case 3: this variant cannot be solved. Go on with the others.
            failed[variant] = printable(failure.message)
            prefix = "" if variant in failure.message else f"{variant}: "
            click.echo(f"retrograde: {prefix}{failed[variant]}", err=True)
            continue
        solved[variant] = facts
        if not as_json:
            click.echo(line_of(facts, was_solved, name_width))
    if as_json:
        print_json({"variants": [solved[variant] for variant in variants if variant in solved], "failed": failed})
    else:
        positions, stored = (sum(facts[name] for facts in solved.values()) for name in ("positions", "bytes"))
        click.echo(f"\n{len(solved)} of {len(variants)} solved, {amount(positions)} positions, {size(stored)}")
    if failed:
        raise Failure("error: " + ("one was" if len(failed) == 1 else f"{len(failed)} were") + " not solved")


def result_or_found(
    ahead: "VariantQueue",
    found: Callable[[str], tuple[Facts, bool]],
    facts_in: Callable[["Game", Path], Facts],
    as_json: bool,
) -> Callable[[str], tuple[Facts, bool]]:
    """Return a function that returns a variant's facts once a worker of the cluster has solved it.

    Other variants go to *found*, as do those for which one worker has too little memory.
    """
    from retrograde.games.catalog import load_game
    from retrograde.solver.runtime.memory import MemoryLimit

    def result_of(variant: str) -> tuple[Facts, bool]:
        """Return (facts about a solved variant, whether it was solved before): from the task that solves it ahead, if
        there is one."""
        if variant not in ahead.tasks:
            return found(variant)
        try:
            with progress_listener(as_json, variant) as line:
                took = ahead.result(variant, lambda text: announce(line, text))
        except MemoryLimit:
            return found(variant)
        facts = facts_in(load_game(variant), ahead.tasks[variant].path) | {"seconds": round(took.seconds, 3)}
        facts |= {"peak_memory_bytes": took.memory, "resumed": took.resumed, "explored_before": took.explored}
        return facts, False

    return result_of


def line_of(facts: Facts, was_solved: bool, name_width: int) -> str:
    """Return the line of a variant: name, size, time taken and the longest win."""
    longest = longest_of(facts)
    longest_win = f"{plies(longest['remoteness'])}  {longest['position']}" if longest else "a draw, all of it"
    time_taken = faint(f"{'before':>10}") if was_solved else f"{duration(facts['seconds']):>10}"
    return f"{facts['variant']:<{name_width}}  {size(facts['bytes']):>8}  {time_taken}  {longest_win}"


def longest_of(facts: Facts) -> Facts | None:
    """Return the position furthest from its end, or None. A game of tiers has one for each part of each tier; take the
    first tier's, since the others belong to other variants."""
    first = next(iter(facts.get("tiers", {}).values()), None)
    if first is None:
        whole: Facts | None = facts["longest"]
        return whole
    ends = [part["longest"] for part in first.values() if part["longest"]]
    return max(ends, key=lambda end: end["remoteness"], default=None)
