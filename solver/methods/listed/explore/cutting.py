"""Cuts lists into tasks, and chooses positions of a task for a second check."""

from collections.abc import Iterable, Iterator

TierBlock = tuple[int, int, int]
"""The key of a list, and begin and end of a block in it."""

TASK = 1 << 15
"""Positions in a task, at least. Enough to outweigh the cost of handing it over, few enough that no worker waits long
for another."""
FEW = 64
"""One item of this number is checked a second time, up to the number asked for."""


def cut_into_tasks(
    stretches: Iterable[tuple[int, int]] | Iterable[TierBlock], least: int = TASK
) -> Iterator[list[TierBlock]]:
    """Group lists into tasks of about *least* items, cutting long lists.

    Lists are given as (key, length) or (key, begin, end).

    >>> TASK
    32768
    >>> list(cut([(7, 40_000), (8, 100)]))
    [[(7, 0, 32768)], [(7, 32768, 40000), (8, 0, 100)]]
    """
    task: list[TierBlock] = []
    total = 0
    for key, *ends in stretches:
        low, high = ends if len(ends) > 1 else (0, ends[0])
        for begin in range(low, high, least):
            end = min(begin + least, high)
            task.append((key, begin, end))
            total += end - begin
            if total >= least:
                yield task
                task, total = [], 0
    if task:
        yield task


def group_lists(lengths: Iterable[tuple[int, int]], least: int = TASK) -> Iterator[list[tuple[int, int]]]:
    """Group lists, given as (key, length), into tasks of at least *least* items without cutting a list."""
    task: list[tuple[int, int]] = []
    total = 0
    for key, length in lengths:
        task.append((key, length))
        total += length
        if total >= least:
            yield task
            task, total = [], 0
    if task:
        yield task


def sample_task(task: list[TierBlock], most: int) -> Iterator[tuple[int, int]]:
    """Yield up to *most* evenly spread items of a task, as (key, index). Small tasks yield fewer.

    >>> list(spots([(7, 0, 200), (8, 100, 900)], 4))
    [(7, 125), (8, 275), (8, 525), (8, 775)]
    """
    total = sum(end - begin for _, begin, end in task)
    count = min(most, 1 + total // FEW)
    ahead = [(2 * k + 1) * total // (2 * count) for k in range(count)]
    before = 0
    for key, begin, end in task:
        while ahead and ahead[0] < before + end - begin:
            yield key, begin + ahead.pop(0) - before
        before += end - begin
