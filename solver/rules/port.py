"""Lets a kernel be compiled once for all games: a *port* gives it the rules of a game by their addresses.

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

Numba compiles calls of an entry as calls of a method of the type `PortType`. The calling convention is numba's own
(`context.call_conv`): a pointer to the result, a pointer to an error, then the arguments; the status is returned.
"""

import ctypes
import threading
from functools import partial
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

I64 = types.int64
WORD = ir.IntType(64)
PAIR = types.UniTuple(types.int64, 2)  # type: ignore[attr-defined]  # made at run time

BUFFER = 128
"""Items that rules yield at once: 1 kB on the stack for each loop over them."""


class Entry(NamedTuple):
    """A rule that kernels may ask for: its arguments (all int64), and its result. *items*: it yields its results."""

    arguments: int
    result: Any = I64
    items: bool = False

    @property
    def called_with(self) -> int:
        """The number of arguments of the machine code: items also take how many to skip, and the buffer's address."""
        return self.arguments + 2 * self.items

    @property
    def returned(self) -> Any:
        """What the machine code returns: the result, or how many items it has written."""
        return I64 if self.items else self.result


ENTRIES = {
    "primitive": Entry(1),
    "do_move": Entry(2),
    "tier": Entry(1),
    "turn": Entry(1),
    "index": Entry(1),
    "unindex": Entry(2),
    "odds": Entry(2),
    "payoff": Entry(2),
    "reward": Entry(3),
    "promise": Entry(2),
    "quiet": Entry(1),
    "estimate": Entry(1),
    "swapped": Entry(1),
    "multiplicity": Entry(1),
    "least_image": Entry(1, PAIR),
    "generate_moves": Entry(1, items=True),
    "images": Entry(1, items=True),
    "parents": Entry(1, items=True),
}
"""The rules in a port, in the order of the table. Machine code on disk knows them by their place: add new ones last."""

NUMBERS = ("players", "alternates", "has_turn", "has_images", "has_promise", "has_multiplicity")
"""What a port says of its game in numbers, in the order of the table."""

FIRST = 1 + len(NUMBERS)
"""The place of the first entry."""
SLOTS = {name: FIRST + place for place, name in enumerate(ENTRIES)}
"""The place of each entry in the table."""


class RulesFailed(Exception):
    """A rule raised, or did not compile, while a kernel asked for it. `failure` says what happened."""


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
    """Return what the rules raised, if a kernel raised RulesFailed in this thread; or else the error itself."""
    if isinstance(error, RulesFailed) and FAILURE.error is not None:
        error, FAILURE.error = FAILURE.error, None
    return error


class PortType(types.Type):
    """Numba's view of a port: an address."""

    def __init__(self) -> None:
        super().__init__("port")


PORT = PortType()


@register_model(PortType)
class PortModel(models.PrimitiveModel):
    """A port is a word in machine code."""

    def __init__(self, manager: Any, of: Any) -> None:
        super().__init__(manager, of, WORD)


@unbox(PortType)
def unbox_port(typ: Any, port: Any, c: Any) -> NativeValue:
    """Take the address from a `Port`."""
    address = c.pyapi.object_getattr_string(port, "address")
    word = c.pyapi.long_as_longlong(address)
    c.pyapi.decref(address)
    return NativeValue(word)


# A port in Python


class Port:
    """The rules of a game for kernels that are compiled for all games.

    *numbers* are those of NUMBERS. A port must live as long as any kernel may run with it; `ports.rules_for` keeps them
    all.
    """

    known: ClassVar[dict[int, "Port"]] = {}
    """The ports of this process, by their addresses."""

    def __init__(self, **numbers: int):
        self.table = np.zeros(FIRST + len(ENTRIES), np.int64)
        self.table[0] = ctypes.cast(resolve_entry, ctypes.c_void_p).value or 0
        for place, name in enumerate(NUMBERS, 1):
            self.table[place] = numbers[name]
        self.address = int(self.table.ctypes.data)
        self.resolving = threading.Lock()
        Port.known[self.address] = self

    def __reduce__(self) -> Any:
        raise TypeError("a port holds addresses of this process; send the game")

    def address_of(self, name: str) -> int:
        """Return the address of an entry, when it is first asked for."""
        raise NotImplementedError

    def resolve(self, slot: int) -> int:
        """Find the machine code of the entry at a place of the table; return its address, or 0 if that fails.

        If several threads ask at once, all get the same address.
        """
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
    """Find the machine code of an entry; machine code calls this, and it takes the GIL."""
    return Port.known[address].resolve(slot)


@typeof_impl.register(Port)
def type_of_port(port: Any, context: Any) -> PortType:
    """Return the one type of all ports."""
    return PORT


# Calls in machine code


def call_entry(context: Any, builder: Any, name: str, port: Any, values: list[Any]) -> Any:
    """Emit the call of an entry of a port, and return its result.

    *values* are int64. The call first resolves the address, if that is not known yet.
    """
    entry = ENTRIES[name]
    table = builder.inttoptr(port, WORD.as_pointer())
    # Step 1: load the address; if it is 0, ask the resolver.
    known = builder.load(builder.gep(table, [WORD(SLOTS[name])]))
    address = cgutils.alloca_once_value(builder, known)
    with cgutils.if_unlikely(builder, builder.icmp_signed("==", known, WORD(0))):
        resolver = builder.inttoptr(builder.load(table), ir.FunctionType(WORD, [WORD, WORD]).as_pointer())
        builder.store(builder.call(resolver, [port, WORD(SLOTS[name])]), address)
        with cgutils.if_unlikely(builder, builder.icmp_signed("==", builder.load(address), WORD(0))):
            context.call_conv.return_user_exc(builder, RulesFailed, (name,))
    # Step 2: call it. The game itself is no value in machine code: null stands for it.
    arguments = (types.voidptr, *[I64] * entry.called_with)
    kind = context.call_conv.get_function_type(entry.result, arguments)
    function = builder.inttoptr(builder.load(address), kind.as_pointer())
    null = cgutils.get_null_value(cgutils.voidptr_t)
    status, result = context.call_conv.call_function(builder, function, entry.result, arguments, [null, *values])
    # Step 3: pass on errors. Python functions say only that there is one.
    with cgutils.if_unlikely(builder, status.is_error):
        with cgutils.if_unlikely(builder, status.is_stop_iteration):
            context.call_conv.return_user_exc(builder, RulesFailed, (name,))
        context.call_conv.return_status_propagate(builder, status)
    return result


class Items(types.SimpleIteratorType):  # type: ignore[name-defined]  # made at run time
    """What an entry yields: an iterator over a buffer in the frame of the kernel."""

    def __init__(self, name: str):
        self.entry = name
        super().__init__(f"items of {name} of a port", I64)


@register_model(Items)
class ItemsModel(models.StructModel):
    """`state` holds how many items the buffer has, which is next, and how many came before those in the buffer."""

    def __init__(self, manager: Any, of: Any) -> None:
        members = [
            ("port", I64),
            ("position", I64),
            ("buffer", types.voidptr),
            ("state", types.voidptr),
        ]
        super().__init__(manager, of, members)


COUNT, NEXT, BEFORE = range(3)
"""The places in `state`."""


def emit_items(context: Any, builder: Any, signature: Any, values: Any, name: str) -> Any:
    """Emit the making of an iterator: a buffer with the first items of an entry."""
    buffer = cgutils.alloca_once(builder, WORD, size=BUFFER)
    state = cgutils.alloca_once(builder, WORD, size=3)
    port, position = values
    count = call_entry(context, builder, name, port, [position, WORD(0), builder.ptrtoint(buffer, WORD)])
    for place, value in ((COUNT, count), (NEXT, WORD(0)), (BEFORE, WORD(0))):
        builder.store(value, builder.gep(state, [WORD(place)]))
    items = cgutils.create_struct_proxy(signature.return_type)(context, builder)
    items.port, items.position = port, position
    items.buffer, items.state = (builder.bitcast(one, cgutils.voidptr_t) for one in (buffer, state))
    return items._getvalue()


@lower_builtin("iternext", Items)
@iternext_impl(RefType.UNTRACKED)
def emit_next(context: Any, builder: Any, signature: Any, values: Any, result: Any) -> None:
    """Emit the step to the next item; if the buffer is at its end and was full, ask for more."""
    (kind,) = signature.args
    items = cgutils.create_struct_proxy(kind)(context, builder, value=values[0])
    buffer, state = (builder.bitcast(one, WORD.as_pointer()) for one in (items.buffer, items.state))
    count, following, before = (builder.gep(state, [WORD(place)]) for place in (COUNT, NEXT, BEFORE))
    at_end = builder.icmp_signed("==", builder.load(following), WORD(BUFFER))
    with cgutils.if_unlikely(builder, at_end):
        skip = builder.add(builder.load(before), WORD(BUFFER))
        more = [items.position, skip, builder.ptrtoint(buffer, WORD)]
        builder.store(call_entry(context, builder, kind.entry, items.port, more), count)
        builder.store(skip, before)
        builder.store(WORD(0), following)
    index = builder.load(following)
    valid = builder.icmp_signed("<", index, builder.load(count))
    result.set_valid(valid)
    with builder.if_then(valid):
        result.yield_(builder.load(builder.gep(buffer, [index])))
        builder.store(builder.add(index, WORD(1)), following)


def emit_call(context: Any, builder: Any, signature: Any, values: Any, name: str) -> Any:
    """Emit the call of an entry with arguments of any integer types."""
    wanted = [I64] * ENTRIES[name].arguments
    cast = [context.cast(builder, value, kind, I64) for value, kind in zip(values[1:], signature.args[1:], strict=True)]
    if ENTRIES[name].items:
        return emit_items(context, builder, signature, (values[0], *cast), name)
    assert len(cast) == len(wanted)
    return call_entry(context, builder, name, values[0], cast)


def emit_number(context: Any, builder: Any, typ: Any, value: Any, place: int) -> Any:
    """Emit the reading of a number from the table."""
    return builder.load(builder.gep(builder.inttoptr(value, WORD.as_pointer()), [WORD(place)]))


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
        result = Items(name) if entry.items else entry.result

        class EntryCall(AbstractTemplate):
            key = f"port.{name}"

            def generic(self, args: Any, kws: Any) -> Any:
                if len(args) != entry.arguments or kws:
                    return None
                return typing.signature(result, *[I64] * entry.arguments, recvr=typ)

        return types.BoundFunction(EntryCall, typ)


for place, number in enumerate(NUMBERS, 1):
    lower_getattr(PortType, number)(partial(emit_number, place=place))
for name, entry in ENTRIES.items():
    lower_builtin(f"port.{name}", PortType, *[I64] * entry.arguments)(partial(emit_call, name=name))


# For the kernels of entries that yield


@intrinsic
def store(typing: Any, buffer: Any, index: Any, item: Any) -> Any:
    """Write an int64 to the buffer at an address."""

    def code(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        pointer = builder.inttoptr(values[0], WORD.as_pointer())
        builder.store(values[2], builder.gep(pointer, [values[1]]))
        return context.get_dummy_value()

    return types.void(I64, I64, I64), code
