"""What options and tables of a game become in compiled code: tuples, lists and sets of ints become arrays.

A dict whose keys are ints becomes a `Dict`: an opaque type, whose keys and values are constants of its methods.
"""

import operator
import warnings
from hashlib import sha256
from typing import Any

import numpy as np
from numba import types
from numba.core.errors import NumbaWarning
from numba.core.imputils import lower_constant
from numba.extending import models, overload, overload_method, register_jitable, register_model, typeof_impl

from retrograde.games.contract.game import RuleError

warnings.filterwarnings("ignore", ".*Cannot cache compiled function", NumbaWarning)  # `constant` says it in plain words
MOST_BYTES = 10**6
"""Numba does not cache machine code that holds a larger array."""
COMPILED_ANEW = "methods that use tables of more than 1 MB are compiled anew each time"
MOST_ROWS = 256
"""How many rows a table may have that differ in length. Numba compiles a branch for each."""


def constant(value: Any, name: str = "it") -> Any:
    """Return an option or table as compiled code holds it; raise RuleError, which calls it *name*, for other tables.

    A dict becomes a `Dict`. A tuple, list or set of ints, or of rows of one length, becomes an int64 array; int32, if
    int64 takes more than `MOST_BYTES` and all numbers fit. Rows of several lengths become a tuple of arrays. Anything
    else stays as it is. Ints become signed: the set of all 64 cells is -1.
    """
    if isinstance(value, dict):
        return Dict(value, name)
    if not isinstance(value, tuple | list | set | frozenset):
        return value - (1 << 64) if type(value) is int and 1 << 63 <= value < 1 << 64 else value
    rows = [row for row in value if isinstance(row, tuple | list)]
    is_flat = not any(isinstance(item, tuple | list) for row in rows for item in row)
    if len(rows) == len(value) and len({*map(len, rows)}) > 1 and is_flat:
        if len(rows) > MOST_ROWS:
            alike = f"make them of one length, as with -1 at their ends, or have at most {MOST_ROWS} rows"
            raise RuleError(f"the rows of {name} differ in length; {alike}")
        return tuple(constant(tuple(row), name) for row in rows)
    try:
        # Rows of different lengths make numpy raise ValueError.
        array = np.array(tuple(value))  # in the order in which Python goes through a set
    except ValueError:
        alike = "make them of one length, as with -1 at their ends"
        raise RuleError(f"the rows of {name} differ in length; {alike}") from None
    if array.dtype.kind not in "iu":  # neither int nor unsigned. NumPy makes floats of 64-bit and smaller ints together
        exact = np.array(tuple(value), object)
        if all(type(number) is int and -(1 << 63) <= number < 1 << 64 for number in exact.flat):
            array = (exact % (1 << 64)).astype(np.uint64)  # two's complement, which int64 reads as the number
    if array.dtype.kind not in "iu" and array.size:
        raise RuleError(f"{name} is {value!r:.60}; a table must hold whole numbers, in rows of one length")
    table = array.astype(np.int64)
    if table.nbytes > MOST_BYTES and table.min() >= -(1 << 31) and table.max() < 1 << 31:
        table = table.astype(np.int32)
    if table.nbytes > MOST_BYTES:
        warnings.warn(f"{name} is a table of {table.nbytes / 1e6:.1f} MB; {COMPILED_ANEW}", stacklevel=2)
    return table


class Dict:
    """The keys and values of a dict outside a function, from ints to ints or rows of ints."""

    def __init__(self, items: dict[Any, Any], name: str):
        self.keys, self.values = constant((*items,), name), constant((*items.values(),), name)
        if self.keys.ndim > 1:
            raise RuleError(f"{name} is a dict with keys such as {next(iter(items))!r:.60}; make them ints")
        self.order = np.argsort(self.keys)
        self.ascending = self.keys[self.order]


class DictType(types.Opaque):
    """Numba's view of a `Dict`; dicts with equal items in the same order share a type."""

    def __init__(self, items: Dict):
        self.items = items
        text = repr((items.keys.tolist(), [np.asarray(value).tolist() for value in items.values]))
        super().__init__(f"dict {sha256(text.encode()).hexdigest()[:32]}")


register_model(DictType)(models.OpaqueModel)
typeof_impl.register(Dict)(lambda items, context: DictType(items))


@lower_constant(DictType)
def _(context: Any, builder: Any, typ: Any, items: Any) -> Any:
    return context.get_dummy_value()  # compiled code reads no object


def compile_find(table: DictType) -> Any:
    """Return a compiled function from a key of a dict to its index among the items, or -1."""
    ascending, order = table.items.ascending, table.items.order

    @register_jitable
    def find(key):
        index = np.searchsorted(ascending, key)
        return order[index] if index < len(ascending) and ascending[index] == key else -1

    return find


@overload(operator.getitem)
def compiled_getitem(table, key):
    """Return the code of `table[key]` for a constant dict."""
    if not isinstance(table, DictType) or not isinstance(key, types.Integer):
        return None  # then numba asks other overloads
    find, values = compile_find(table), table.items.values

    def value_of(table, key):
        index = find(key)
        if index < 0:
            raise KeyError
        return values[index]

    return value_of


@overload(operator.contains)
def compiled_contains(table, key):
    if not isinstance(table, DictType):
        return None
    find = compile_find(table)
    return lambda table, key: find(key) >= 0


@overload_method(DictType, "get")
def compiled_get(table, key, default):
    """Return the code of `table.get(key, default)` for a constant dict."""
    find, values = compile_find(table), table.items.values

    def value_or_default(table, key, default):
        index = find(key)
        return values[index] if index >= 0 else default

    return value_or_default


@overload(len)
def compiled_len(table):
    if not isinstance(table, DictType):
        return None
    count = len(table.items.keys)
    return lambda table: count


@overload_method(DictType, "keys")
def compiled_keys(table):
    keys = table.items.keys
    return lambda table: keys


@overload_method(DictType, "values")
def compiled_values(table):
    values = table.items.values
    return lambda table: values


@overload_method(DictType, "items")
def compiled_items(table):
    """Return the code of `table.items()` for a constant dict."""
    keys, values = table.items.keys, table.items.values

    def items(table):
        for index in range(len(keys)):
            yield keys[index], values[index]

    return items
