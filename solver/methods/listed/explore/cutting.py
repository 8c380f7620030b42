"""Cuts lists into tasks, and chooses positions of a task for a second check."""

from collections.abc import Iterable, Iterator

TierBlock = tuple[int, int, int]
"""The key of a list, and begin and end of a block in it."""

TASK = 1 << 15
"""Least positions in a task: enough to outweigh the cost of sending it, few enough that no worker waits long."""
FEW = 64
"""One of this number of items is checked a second time, up to the number that the caller wants."""


def cut_into_tasks(
    blocks: Iterable[tuple[int, int]] | Iterable[TierBlock], least: int = TASK, whole: bool = False
) -> Iterator[list[TierBlock]]:
    """Group lists, (key, length) or (key, begin, end), into tasks of about *least* items.

    Long lists are cut unless they must stay *whole*.

    >>> TASK
    32768
    >>> list(cut_into_tasks([(7, 40_000), (8, 100)]))
    [[(7, 0, 32768)], [(7, 32768, 40000), (8, 0, 100)]]
    >>> list(cut_into_tasks([(7, 40_000), (8, 100)], whole=True))
    [[(7, 0, 40000)], [(8, 0, 100)]]
    """
    task: list[TierBlock] = []
    total = 0
    for key, *ends in blocks:
        low, high = ends if len(ends) > 1 else (0, ends[0])
        size = max(least, high - low) if whole else least
        for begin in range(low, high, size):
            end = min(begin + size, high)
            task.append((key, begin, end))
            total += end - begin
            if total >= least:
                yield task
                task, total = [], 0
    if task:
        yield task


def sample_task(task: list[TierBlock], most: int) -> Iterator[tuple[int, int]]:
    """Yield up to *most* evenly spread items of a task, as (key, index). Small tasks yield fewer.

    >>> list(sample_task([(7, 0, 200), (8, 100, 900)], 4))
    [(7, 125), (8, 275), (8, 525), (8, 775)]
    """
    total = sum(end - begin for _, begin, end in task)
    count = min(most, 1 + total // FEW)
    remaining = [(2 * k + 1) * total // (2 * count) for k in range(count)]  # the middles of *count* equal parts
    before = 0
    for key, begin, end in task:
        while remaining and remaining[0] < before + end - begin:
            yield key, begin + remaining.pop(0) - before
        before += end - begin
