"""Lets numba compile declared fields: a field is an opaque type of its own, and its methods are its formulas.

    self.cells.get(position, 3)     -->     (position >> 0 + 3 & 1) + 2 * (position >> 9 + 3 & 1)

Numbers of a field, such as `self.cells.size` and `self.cells.X`, are constants of its type.
"""

from collections.abc import Callable
from functools import cache
from hashlib import sha256
from inspect import signature
from typing import Any

from numba import types
from numba.core.typing.templates import AttributeTemplate
from numba.extending import infer_getattr, lower_getattr_generic, models, overload_method, register_model, typeof_impl

from retrograde.games.contract.fields import Cells, Field, Flag, Number, Numbers, Turn
from retrograde.games.contract.fields.cells import LOOPS, MOST_CELLS

OPTIONS = {"_nrt": True, "no_cfunc_wrapper": True, "no_cpython_wrapper": True}
"""Numba's options for methods of fields; see RULE_OPTIONS in `compiled.py`."""

ALL = (1 << MOST_CELLS) - 1


class FieldType(types.Opaque):
    """Numba's view of a field. Fields with the same methods and numbers share a type."""

    def __init__(self, field: Field):
        self.field = field
        # In an int of 64 bits the set of 64 cells is -1.
        self.sources = {name: text.replace(str(ALL), "-1") for name, text in field.sources(quick=False).items()}
        self.constants = {
            name: -1 if value == ALL else value for name, value in vars(field).items() if type(value) is int
        }
        digest = sha256(repr((self.sources, sorted(self.constants.items()))).encode()).hexdigest()[:32]
        super().__init__(f"{type(field).__name__} {digest}")


@cache
def add_kinds() -> None:
    """Register all classes of fields with numba."""
    for kind in (Cells, Flag, Number, Numbers, Turn):
        add_kind(kind)


def add_kind(kind: type[Field]) -> None:
    """Register a class of fields, such as Cells, with numba: its type, its numbers and its methods."""
    # Step 1: a type of numba's for the class. Its values take no memory: all that a field says is in the type.
    field_type: Any = type(kind.__name__, (FieldType,), {})
    register_model(field_type)(models.OpaqueModel)
    typeof_impl.register(kind)(lambda field, context: field_type(field))
    # Step 2: numbers such as `cells.size`, methods that are formulas, and those of Cells that are loops.
    add_constants(field_type, lambda typ, name: typ.constants.get(name))
    for name in [name for name in dir(kind) if hasattr(getattr(kind, name), "formula")]:
        overload_method(field_type, name, strict=False, jit_options=OPTIONS)(method_of(getattr(kind, name), name))
    for name in LOOPS if kind is Cells else ():
        overload_method(field_type, name, strict=False, jit_options=OPTIONS)(loop_of(getattr(kind, name), name))


def add_constants(of_type: Any, constant_of: Callable[[Any, str], Any]) -> None:
    """Register the attributes of a numba type that are constants: reading them compiles to nothing. *constant_of* gives
    the constant of a type and a name, a number or a field; None for other attributes."""

    @infer_getattr
    class ConstantTypes(AttributeTemplate):
        key = of_type

        def generic_resolve(self, typ: Any, name: str) -> Any:
            value = constant_of(typ, name)
            return None if value is None else self.context.resolve_value_type(value)

    @lower_getattr_generic(of_type)
    def _(context: Any, builder: Any, typ: Any, value: Any, name: str) -> Any:
        constant = constant_of(typ, name)
        if isinstance(constant, Field):
            return context.get_dummy_value()
        return context.get_constant_generic(builder, context.typing_context.resolve_value_type(constant), constant)


def method_of(method: Callable[..., Any], name: str) -> Callable[..., Any]:
    """Return the function by which numba finds the code of a field's method."""

    def implementation(field_type: Any) -> Any:
        # The source begins with `lambda `; in numba, methods take the field as their first argument.
        return eval(field_type.sources[name].replace("lambda ", "lambda self, ", 1))

    return with_arguments_of(method, implementation)


def loop_of(method: Callable[..., Any], name: str) -> Callable[..., Any]:
    """Return the function by which numba finds the code of a loop over cells."""

    def implementation(field_type: Any) -> Any:
        """Return the loop: it yields the number of each bit of a set of cells."""
        arguments, _, bits = field_type.sources[LOOPS[name]].removeprefix("lambda ").partition(": ")
        names: dict[str, Any] = {}
        lines = (
            f"def loop(self, {arguments}):",
            f" left = {bits}",
            " while left:",
            "  yield (left & -left).bit_length() - 1",
            "  left &= left - 1",
        )
        exec("\n".join(lines), names)
        return names["loop"]

    return with_arguments_of(method, implementation)


def with_arguments_of(method: Callable[..., Any], implementation: Callable[[Any], Any]) -> Callable[..., Any]:
    """Return a function with the arguments of *method* that calls *implementation* with the type of its field."""
    arguments = ", ".join(signature(method).parameters)
    return eval(f"lambda {arguments}: implementation(self)", {"implementation": implementation})
