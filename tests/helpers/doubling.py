"""Three small kernels of which two call the first, for the tests of compiled code. Run as a program, it calls them.

The arguments are the names of the kernels to call. It prints what they return. Then it prints of each kernel that was
needed how many of its codes were loaded from disk, and whether they have a wrapper for calls from Python.
"""

import sys

import numpy as np

from retrograde.solver.runtime.kernel import has_wrapper, kernel, lean_kernel


@lean_kernel
def added(numbers, step):
    total = step
    for number in numbers:
        total += number
    return total


@kernel
def doubled(numbers, step):
    return 2 * added(numbers, step)


@kernel
def tripled(numbers, step):
    return 3 * added(numbers, step)


if __name__ == "__main__":
    for name in sys.argv[1:]:
        print({"added": added, "doubled": doubled, "tripled": tripled}[name](np.arange(4), 10))
    for one in filter(lambda one: one.overloads, (added, doubled, tripled)):
        print(sum(one.stats.cache_hits.values()), *map(has_wrapper, one.overloads.values()))
