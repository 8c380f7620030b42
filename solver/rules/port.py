"""Lets a kernel be compiled once for all games. A *port* gives it the rules of a game by their addresses.

Numba compiles a kernel that gets a game (see `compiled.py`) again for each game, with the rules inside. A kernel that
gets a port is compiled once. It calls the rules by their addresses, 1.5 ns a call, and is found on disk by other games
and other processes. What is compiled for a game are its rules. In compiled code a port is one word, the address of a
table::

    port --> int64  resolver | NUMBERS: players, …  | ENTRIES: primitive, do_move, tier, …
                    |                                 |
                    |                                 0 until a kernel asks for it, then the address of machine code
                    v                                   int primitive(int64 *result, void **error, void *game, int64 p)
             finds the machine code of an entry

Rules that yield items (`generate_moves`, `images`, `parents`) write them to a buffer in the frame of the kernel, which
loops over it; then they are asked for more. So `for move in game.generate_moves(position)` compiles as it stands. If a
loop is left early, the rules have yielded up to BUFFER items all the same.

A port of *calls* compiles nothing for a game: its entries are Python functions. It costs what interpreted rules cost,
some 40 µs a position, and suits small games.

Positions are one word, an int64, or tuples of several words. There is one numba type of ports for each number of words.

Numba compiles calls of an entry as calls of a method of the type `PortType`. The calling convention is numba's own
(`context.call_conv`): a pointer to the result, a pointer to an error, then the arguments; the status is returned.
"""

import ctypes
import threading
from functools import cache, partial
from typing import Any, ClassVar, NamedTuple

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types, typing
from numba.core.imputils import RefType, iternext_impl
from numba.core.typing.templates import AbstractTemplate, AttributeTemplate
from numba.extending import (
    NativeValue,
    infer_getattr,
    intrinsic,
    lower_builtin,
    lower_getattr,
    models,
    register_model,
    typeof_impl,
    unbox,
)

from retrograde.games.contract.game import Traits

I64 = types.int64
WORD = ir.IntType(64)

BUFFER = 128
"""Items that rules yield at once: 1 kB on the stack for each loop over them."""


class Entry(NamedTuple):
    """A rule that kernels may call. Each argument and result has a letter, `p` for a position or `n` for a number.

    *items*: the rule yields its results.
    """

    arguments: str
    result: str = "n"
    items: bool = False

    def called_with(self, width: int) -> list[Any]:
        """Return the types of the machine code's arguments. With items, the last two are (number to skip, buffer)."""
        return [value_type(letter, width) for letter in self.arguments + "nn" * self.items]

    def returned(self, width: int) -> Any:
        """Return the type of the machine code's result; for entries with items, their number."""
        return I64 if self.items else value_type(self.result, width)


def value_type(letters: str, width: int) -> Any:
    """Return the numba type of the values with these letters, a tuple if there are several. *width* is the number of
    words of a position, 0 for an int64."""
    if letters == "n" or (letters == "p" and not width):
        return I64
    if letters == "p":
        return types.UniTuple(I64, width)  # type: ignore[attr-defined]  # made at run time
    return types.Tuple([value_type(letter, width) for letter in letters])  # type: ignore[attr-defined]


ENTRIES = {
    "primitive": Entry("p"),
    "do_move": Entry("pn", "p"),
    "tier": Entry("p"),
    "turn": Entry("p"),
    "index": Entry("p"),
    "unindex": Entry("nn", "p"),
    "odds": Entry("pn"),
    "payoff": Entry("pn"),
    "reward": Entry("pnn"),
    "promise": Entry("pn"),
    "quiet": Entry("p"),
    "estimate": Entry("p"),
    "swapped": Entry("p", "p"),
    "multiplicity": Entry("p"),
    "least_image": Entry("p", "pn"),
    "generate_moves": Entry("p", items=True),
    "images": Entry("p", "p", items=True),
    "parents": Entry("p", "p", items=True),
    "canonical": Entry("p", "p"),
    "zeroes": Entry("pn"),
    "address": Entry("p", "nn"),
    "wins_at_once": Entry("p"),
    "children": Entry("p", "np", items=True),
    "checked_canonical": Entry("p", "pnn"),
    "least_plies": Entry("p"),
    "plies_to_draw": Entry("p"),
    "abstracted": Entry("pn", "p"),
    "at_best": Entry("p"),
}
"""The rules in a port, in the order of the table. Machine code on disk knows them by their index: add new ones last."""

NUMBERS = ("players", "alternates", "has_turn", "has_images", "has_promise", "has_multiplicity", "has_at_best")
"""What a port says of its game in numbers, in the order of the table."""

FIRST = 1 + len(NUMBERS)
"""The index of the first entry in the table: behind the resolver and the numbers."""
SLOTS = {name: slot for slot, name in enumerate(ENTRIES, FIRST)}
"""The index of each entry in the table."""


class RulesFailed(Exception):
    """A rule raised, or did not compile, while a kernel called it; `failure` returns the error."""


class NotCompiled(Exception):
    """The rules do not compile; *error* says why."""

    def __init__(self, error: Exception):
        super().__init__(str(error))
        self.error = error


class ErrorOfThread(threading.local):
    """The error of the rules that the last RulesFailed of this thread stands for."""

    error: BaseException | None = None


FAILURE = ErrorOfThread()


def failure(error: BaseException) -> BaseException:
    """Return the error of the rules behind a RulesFailed in this thread, or the error itself."""
    if isinstance(error, RulesFailed) and FAILURE.error is not None:
        error, FAILURE.error = FAILURE.error, None
    return error


class PortType(types.Type):
    """Numba's view of a port, which is an address. *width* is the number of words of a position, 0 for an int."""

    def __init__(self, width: int) -> None:
        self.width = width
        super().__init__(f"port of {width} words" if width else "port")


@cache
def port_type(width: int) -> PortType:
    return PortType(width)


@register_model(PortType)
class PortModel(models.PrimitiveModel):
    """A port is a word in machine code."""

    def __init__(self, manager: Any, of: Any) -> None:
        super().__init__(manager, of, WORD)


@unbox(PortType)
def unbox_port(typ: Any, port: Any, c: Any) -> NativeValue:
    """Return the address of a port as a word."""
    address = c.pyapi.object_getattr_string(port, "address")
    word = c.pyapi.long_as_longlong(address)
    c.pyapi.decref(address)
    return NativeValue(word)


# A port in Python


class Port:
    """The rules of a game for kernels that are compiled once for all games. `ports.rules_for` keeps all ports alive."""

    known: ClassVar[dict[int, "Port"]] = {}
    """The ports of this process, by their addresses."""

    def __init__(self, traits: Traits):
        self.width = traits.width
        self.table = np.zeros(FIRST + len(ENTRIES), np.int64)
        self.table[0] = ctypes.cast(resolve_entry, ctypes.c_void_p).value or 0
        for slot, name in enumerate(NUMBERS, 1):
            self.table[slot] = getattr(traits, name)
        self.address = int(self.table.ctypes.data)
        self.resolving = threading.Lock()
        Port.known[self.address] = self

    def __reduce__(self) -> Any:
        raise TypeError("a port holds addresses of this process; send the game")

    def address_of(self, name: str) -> int:
        """Return the address of an entry's machine code, or of a C function in its place."""
        raise NotImplementedError

    def resolve(self, slot: int) -> int:
        """Write the address of the entry at this index into the table, if it is missing. Return it, or 0 on failure."""
        try:
            with self.resolving:
                if not self.table[slot]:
                    self.table[slot] = self.address_of([*ENTRIES][slot - FIRST])
        except BaseException as error:
            FAILURE.error = error
            return 0
        return int(self.table[slot])


@ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64, ctypes.c_int64)
def resolve_entry(address: int, slot: int) -> int:
    """Return the address of an entry; machine code calls this, and it takes the GIL."""
    return Port.known[address].resolve(slot)


@typeof_impl.register(Port)
def type_of_port(port: Any, context: Any) -> PortType:
    return port_type(port.width)


# Calls in machine code


def call_entry(context: Any, builder: Any, name: str, width: int, port: Any, values: list[Any]) -> Any:
    """Emit the call of an entry with these values and return its result; resolve the address before if needed."""
    arguments, result_type = ENTRIES[name].called_with(width), ENTRIES[name].returned(width)
    table = builder.inttoptr(port, WORD.as_pointer())
    # Step 1: load the address; if it is 0, ask the resolver.
    stored = builder.load(builder.gep(table, [WORD(SLOTS[name])]))
    address = cgutils.alloca_once_value(builder, stored)
    with cgutils.if_unlikely(builder, builder.icmp_signed("==", stored, WORD(0))):
        resolver = builder.inttoptr(builder.load(table), ir.FunctionType(WORD, [WORD, WORD]).as_pointer())
        builder.store(builder.call(resolver, [port, WORD(SLOTS[name])]), address)
        with cgutils.if_unlikely(builder, builder.icmp_signed("==", builder.load(address), WORD(0))):
            context.call_conv.return_user_exc(builder, RulesFailed, (name,))
    # Step 2: call it. The game itself is no value in machine code: null stands for it.
    arguments = [types.voidptr, *arguments]
    kind = context.call_conv.get_function_type(result_type, arguments)
    function = builder.inttoptr(builder.load(address), kind.as_pointer())
    null = cgutils.get_null_value(cgutils.voidptr_t)
    status, result = context.call_conv.call_function(builder, function, result_type, arguments, [null, *values])
    # Step 3: pass on errors. Python functions say only that there is one.
    with cgutils.if_unlikely(builder, status.is_error):
        with cgutils.if_unlikely(builder, status.is_stop_iteration):
            context.call_conv.return_user_exc(builder, RulesFailed, (name,))
        context.call_conv.return_status_propagate(builder, status)
    return result


class Items(types.SimpleIteratorType):  # type: ignore[name-defined]  # made at run time
    """What an entry yields: an iterator over a buffer in the frame of the kernel."""

    def __init__(self, name: str, width: int):
        self.entry, self.width = name, width
        super().__init__(f"items of {name} of a {port_type(width)}", value_type(ENTRIES[name].result, width))


@register_model(Items)
class ItemsModel(models.StructModel):
    """The iterator in machine code; `state` points to COUNT, NEXT and BEFORE."""

    def __init__(self, manager: Any, of: Any) -> None:
        members = [
            ("port", I64),
            ("position", value_type("p", of.width)),
            ("buffer", types.voidptr),
            ("state", types.voidptr),
        ]
        super().__init__(manager, of, members)


COUNT, NEXT, BEFORE = range(3)
"""Indices in `state`: items in the buffer, the index of the next one, and items in the buffers before."""


def emit_items(context: Any, builder: Any, signature: Any, values: Any, name: str) -> Any:
    """Emit an iterator over an entry's items, with the first BUFFER of them in its buffer."""
    kind, (port, position) = signature.return_type, values
    buffer = cgutils.alloca_once(builder, context.get_value_type(kind.yield_type), size=BUFFER)
    state = cgutils.alloca_once(builder, WORD, size=3)
    count = call_entry(context, builder, name, kind.width, port, [position, WORD(0), builder.ptrtoint(buffer, WORD)])
    for field, value in ((COUNT, count), (NEXT, WORD(0)), (BEFORE, WORD(0))):
        builder.store(value, builder.gep(state, [WORD(field)]))
    items = cgutils.create_struct_proxy(kind)(context, builder)
    items.port, items.position = port, position
    items.buffer, items.state = (builder.bitcast(one, cgutils.voidptr_t) for one in (buffer, state))
    return items._getvalue()


@lower_builtin("iternext", Items)
@iternext_impl(RefType.UNTRACKED)
def emit_next(context: Any, builder: Any, signature: Any, values: Any, result: Any) -> None:
    """Emit the step to the next item; at the end of a full buffer, the entry is called for more."""
    (kind,) = signature.args
    items = cgutils.create_struct_proxy(kind)(context, builder, value=values[0])
    buffer = builder.bitcast(items.buffer, context.get_value_type(kind.yield_type).as_pointer())
    state = builder.bitcast(items.state, WORD.as_pointer())
    count, following, before = (builder.gep(state, [WORD(field)]) for field in (COUNT, NEXT, BEFORE))
    # A buffer that is not full has the last items: its end is met below, where the step is not valid.
    at_end = builder.icmp_signed("==", builder.load(following), WORD(BUFFER))
    with cgutils.if_unlikely(builder, at_end):
        skip = builder.add(builder.load(before), WORD(BUFFER))
        more = [items.position, skip, builder.ptrtoint(buffer, WORD)]
        builder.store(call_entry(context, builder, kind.entry, kind.width, items.port, more), count)
        builder.store(skip, before)
        builder.store(WORD(0), following)
    index = builder.load(following)
    valid = builder.icmp_signed("<", index, builder.load(count))
    result.set_valid(valid)
    with builder.if_then(valid):
        result.yield_(builder.load(builder.gep(buffer, [index])))
        builder.store(builder.add(index, WORD(1)), following)


def emit_call(context: Any, builder: Any, signature: Any, values: Any, name: str) -> Any:
    """Emit the call of an entry; if it yields items, emit an iterator over them instead."""
    if ENTRIES[name].items:
        return emit_items(context, builder, signature, values, name)
    return call_entry(context, builder, name, signature.args[0].width, values[0], [*values[1:]])


def emit_number(context: Any, builder: Any, typ: Any, value: Any, slot: int) -> Any:
    """Emit the load of one of NUMBERS from the table of a port."""
    return builder.load(builder.gep(builder.inttoptr(value, WORD.as_pointer()), [WORD(slot)]))


@infer_getattr
class Members(AttributeTemplate):
    """The types of what a port has: numbers, and entries as methods."""

    key = PortType

    def generic_resolve(self, typ: Any, name: str) -> Any:
        """Return the type of a member, or None if there is none of that name."""
        if name in NUMBERS:
            return I64
        if name not in ENTRIES:
            return None
        entry = ENTRIES[name]
        arguments = [value_type(letter, typ.width) for letter in entry.arguments]
        result = Items(name, typ.width) if entry.items else entry.returned(typ.width)

        class EntryCall(AbstractTemplate):
            key = f"port.{name}"

            def generic(self, args: Any, kws: Any) -> Any:
                if len(args) != len(arguments) or kws:
                    return None
                return typing.signature(result, *arguments, recvr=typ)

        return types.BoundFunction(EntryCall, typ)


for slot, number in enumerate(NUMBERS, 1):
    lower_getattr(PortType, number)(partial(emit_number, slot=slot))
for name in ENTRIES:
    lower_builtin(f"port.{name}", PortType, types.VarArg(types.Any))(partial(emit_call, name=name))  # type: ignore[attr-defined]  # as above


# For the kernels of entries that yield


@intrinsic
def store(typing: Any, buffer: Any, index: Any, item: Any) -> Any:
    """Write an item, an int64 or a tuple of them, to the buffer at this address."""

    def code(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        address, offset, stored = values
        pointer = builder.inttoptr(address, stored.type.as_pointer())
        builder.store(stored, builder.gep(pointer, [offset]))
        return context.get_dummy_value()

    return types.void(I64, I64, item), code
