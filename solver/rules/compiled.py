"""Rules become machine code: numba sees every game as a type of its own.

On that type options and tables are constants, and the methods of the rules are functions, so that each variant is
compiled to code made for it. The type is named after the variant and a digest of the sources, so that numba's cache on
disk finds the code again in a later process, and misses it after an edit of the rules or of the kernels.
Only the public names of `numba.extending` are used, and the class that it wants for attributes. (Kernels that close
over jitted functions would never hit the cache, and numba cannot cache a jitted generator; both were tried.)
"""

import ast
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import fields
from dis import get_instructions
from functools import cache
from inspect import CO_GENERATOR, getattr_static, isfunction, signature
from types import FunctionType, ModuleType
from typing import Any, ClassVar, NamedTuple, cast

import numpy as np
from numba import types
from numba.core.typing.templates import AttributeTemplate
from numba.cpython.unsafe.tuple import tuple_setitem
from numba.extending import (
    NativeValue,
    infer_getattr,
    intrinsic,
    lower_getattr_generic,
    models,
    overload,
    overload_attribute,
    overload_method,
    register_model,
    typeof_impl,
    unbox,
)

from retrograde.games.contract.game import Game, RuleError, filled, replaced, width_of
from retrograde.games.contract.snapshot import module_of, source_of
from retrograde.games.identity.digest import rule_modules, rules_digest
from retrograde.solver.runtime.kernel import is_kept_for
from retrograde.solver.runtime.sources import rules_compiler_digest

COUNTED = {"_nrt": True, "no_cfunc_wrapper": True, "no_cpython_wrapper": True}
"""What numba is told of all rules: they may make arrays, also where the kernel that asks them may not; and neither C
nor Python calls them, but kernels."""
GUARD = {"boundscheck": True, **COUNTED}
"""What numba is told where a place that an array has not is to raise IndexError. Places before the first count from
the end, as in Python."""


ALIKE = "make them of one length, as with -1 at their ends"
"""What to do where rows of a table differ in length."""


class Guarded(NamedTuple):
    """A game whose compiled rules look at no place that an array has not, whatever position they are asked about."""

    game: Game


class GameType(types.Opaque):
    """Numba's view of one game with given options."""

    known: ClassVar[dict[tuple[str, ...], "GameType"]]
    """Those of one class of games, by their options."""
    guarded: ClassVar[bool]
    line: ClassVar[tuple[type, ...]]
    """The class and all that it is derived from, in the order in which Python looks for members."""
    above: ClassVar[set[str]]
    """The names that numba knows what rules say `super()` for by."""

    def __init__(self, game: Game):
        self.game = game
        module = type(game).__module__  # what is cached may import it by this name
        options = ", ".join(options_of(game))
        name = f"{'guarded ' * self.guarded}{type(game).__qualname__}({options}) of {module}"
        super().__init__(f"{name} {rules_digest(game, contract=True)} {rules_compiler_digest()}")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, types.Opaque) and self.name == other.name

    def __hash__(self) -> int:
        return hash(self.name)

    def __reduce__(self) -> Any:  # numba's cache need only tell games apart
        return types.Opaque, (self.name,)


@typeof_impl.register(Game)
def _(game: Any, context: Any) -> GameType:
    return type_of(game, guarded=False)


@typeof_impl.register(Guarded)
def _(guarded: Any, context: Any) -> GameType:
    return type_of(guarded.game, guarded=True)


def type_of(game: Game, guarded: bool) -> GameType:
    """Return the numba type of a game, which is that of its family: positions mean the same in all of it."""
    game_type = numba_type(cast(Any, type(game)), guarded)
    options = options_of(game)
    if options not in game_type.known:
        family = game.family if type(game.family) is type(game) else game
        found = game_type.known.get(options_of(family)) or game_type(family)
        game_type.known[options] = game_type.known[options_of(family)] = found
    return game_type.known[options]


def options_of(game: Game) -> tuple[str, ...]:
    """Return all options as text: games that are equal may differ in some, and be written alike as well."""
    return tuple(f"{field.name}={getattr(game, field.name)!r}" for field in fields(cast(Any, game)))


def prepare(game: Game) -> None:
    """Let numba know a game, so that kernels take it as an argument."""
    numba_type(cast(Any, type(game)), False)  # mypy thinks that classes cannot be hashed


def is_kept(game: Game, kernels: Iterable[Any]) -> bool:
    """Tell whether machine code of one of some kernels is kept for the rules of a game."""
    prepare(game)
    return any(is_kept_for(kernel, type_of(game, guarded=False)) for kernel in kernels)


@cache
def numba_type(cls: type, guarded: bool) -> type[GameType]:
    """Return the numba type of games of a class, on which its options, tables and rules are known."""
    line = cls.__mro__[:-1]
    game_type = type(cls.__name__, (GameType,), {"known": {}, "guarded": guarded, "line": line, "above": set()})
    register_model(game_type)(models.OpaqueModel)
    unbox(game_type)(lambda typ, obj, c: NativeValue(c.context.get_dummy_value()))
    for base in line:
        if base is not Game:
            for module in rule_modules(module_of(base)):
                if module.__name__ != Game.__module__:  # its functions are for Python
                    add_functions(module)
    names = {name for base in line for name in vars(base)} | {field.name for field in fields(cls)}
    members = {name: getattr_static(cls, name, None) for name in sorted(names) if not name.startswith("__")}
    add_numbers(game_type, {name for name, member in members.items() if isinstance(member, int)})
    for name, member in members.items():
        if not isinstance(member, int):
            add_member(game_type, name)
    return game_type


@cache
def add_functions(module: ModuleType) -> None:
    """Let numba compile the functions of a rule module where rules call them.

    What arrays they have they are given, and look at none elsewhere: that costs little, and all games need it.
    """
    for function in vars(module).values():
        if isfunction(function) and function.__module__ == module.__name__:
            overload(function, strict=False, jit_options=GUARD)(stand_in(function))


def add_member(game_type: type[GameType], name: str, after: int = -1) -> None:
    """Let numba know one table, property or method of a game, or the one that `super()` stands for in what is defined
    by a class of its line: the one that is found *after* that."""
    line = game_type.line
    place = next((at for at in range(after + 1, len(line)) if name in vars(line[at])), len(line))
    member = vars(line[place])[name] if place < len(line) else None
    known = name if after < 0 else name_above(after, name)
    if isinstance(member, property):
        rule = stand_in(cast(FunctionType, member.fget), game_type)
        overload_attribute(game_type, known, strict=False, jit_options=COUNTED)(lambda self: rule(self))
    elif isfunction(member):
        overload_method(game_type, known, strict=False, jit_options=GUARD if game_type.guarded else COUNTED)(
            stand_in(member, game_type)
        )
    elif not isinstance(member, (classmethod, staticmethod)):

        def read(self):
            value = constant(getattr(self.game if after < 0 else super(line[after], self.game), name), name)
            return lambda self: value

        overload_attribute(game_type, known, strict=False, jit_options=COUNTED)(read)


def name_above(place: int, name: str) -> str:
    """Return by what name numba knows what `super()` stands for where the class at that place of the line says it."""
    return f"{name}_above_{place}"


def add_numbers(game_type: type[GameType], names: set[str]) -> None:
    """Let numba know the options of a game that are numbers: constants, with no function to be compiled for each."""

    @infer_getattr
    class Numbers(AttributeTemplate):
        key = game_type

        def generic_resolve(self, typ, name):
            return self.context.resolve_value_type(constant(getattr(typ.game, name))) if name in names else None

    @lower_getattr_generic(game_type)
    def _(context, builder, typ, value, name):
        number = constant(getattr(typ.game, name))
        return context.get_constant_generic(builder, context.typing_context.resolve_value_type(number), number)


def stand_in(function: FunctionType, game_type: type[GameType] | None = None) -> Any:
    """Return what numba asks for a function's implementation, whatever the types of the arguments."""

    def resolve(*args, **named):  # only now spelled out: what is never compiled may say what it likes
        return spelled_out(function, game_type)  # type: ignore[arg-type]  # a class can be hashed

    resolve.__signature__ = signature(function)  # type: ignore[attr-defined]  # numba compares the two
    return resolve


@cache
def spelled_out(function: FunctionType, game_type: type[GameType] | None) -> FunctionType:
    """Return a function in words that numba understands: each `yield from` is a loop, and in a method of a game,
    `super().name` is a member of the game by a name of its own, which numba is let know.

    Raises RuleError where the source is not found, or `super()` is said for a class that the game is not derived from.
    """
    code = function.__code__
    loops = code.co_flags & CO_GENERATOR and any(at.opname == "GET_YIELD_FROM_ITER" for at in get_instructions(code))
    if not loops and "__class__" not in code.co_freevars:
        return function
    definition = definition_of(function)
    place = place_of(function, game_type) if game_type and "__class__" in code.co_freevars else 0
    spelling = SpellOut(definition.args.args[0].arg if definition.args.args else "", place)
    tree = bare(spelling.visit(definition))
    if game_type:
        for name in sorted(spelling.above):
            if name_above(place, name) not in game_type.above:
                game_type.above.add(name_above(place, name))
                add_member(game_type, name, place)
    module = ast.Module([tree], [])
    *_, owner, name = ["", *function.__qualname__.split(".")]
    if owner.isidentifier():  # a class, within which Python knows `self.__name` by another name
        module = ast.parse(f"class {owner}: pass")
        module.body[0].body = [tree]  # type: ignore[attr-defined]
    names: dict[str, Any] = {}
    exec(compile(ast.fix_missing_locations(module), code.co_filename, "exec"), function.__globals__, names)
    spelled = vars(names[owner])[name] if owner in names else names[name]
    spelled.__defaults__, spelled.__kwdefaults__ = function.__defaults__, function.__kwdefaults__
    return spelled


def place_of(function: FunctionType, game_type: type[GameType]) -> int:
    """Return the place, in the line of a game, of the class in which a method that says `super()` is defined."""
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
    said_by = cells["__class__"].cell_contents
    if said_by not in game_type.line:
        what = f"super() in {function.__qualname__}() is said for {said_by.__name__}, and a game of another kind has it"
        raise RuleError(what)
    return game_type.line.index(said_by)


def bare(definition: ast.FunctionDef) -> ast.FunctionDef:
    """Return the definition of a function without what Python looks up as it defines one: the names that stand there
    may be known in a class alone, or to type checkers."""
    arguments = definition.args
    for argument in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
        argument.annotation = None
    arguments.defaults, arguments.kw_defaults = [], [None] * len(arguments.kwonlyargs)
    definition.returns = None
    definition.decorator_list = []
    return definition


def definition_of(function: FunctionType) -> Any:
    """Return the syntax tree of a function as it was imported; raise RuleError where its module has no such one."""
    with suppress(OSError):
        for node in ast.walk(ast.parse(source_of(module_of(function)))):
            if isinstance(node, ast.FunctionDef) and node.name == function.__name__:
                line = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
                if line == function.__code__.co_firstlineno:
                    return node
    raise RuleError(f"{function.__qualname__}() of {function.__module__} has no source; define it where it can be read")


class SpellOut(ast.NodeTransformer):
    """Turns `yield from items` into `for item in items: yield item`, and `super().name` into `self.name_above_…`."""

    def __init__(self, game: str, place: int):
        self.game, self.place = game, place
        self.above: set[str] = set()
        """The names that follow `super()`."""

    def visit_Expr(self, node: ast.Expr) -> ast.AST:  # the name is that of the class in ast
        self.generic_visit(node)
        if not isinstance(node.value, ast.YieldFrom):
            return node
        item = ast.Name("item_of_yield_from", ast.Store())
        body = ast.Expr(ast.Yield(ast.Name(item.id, ast.Load())))
        return ast.For(item, node.value.value, [body], [])

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        match node.value:
            case ast.Call(ast.Name("super"), [], []):
                self.above.add(node.attr)
                node.value, node.attr = ast.Name(self.game, ast.Load()), name_above(self.place, node.attr)
        self.generic_visit(node)
        return node


def constant(value: Any, name: str = "it") -> Any:
    """Return an option or table of a name as a constant that compiled code can use: tuples of ints become arrays.

    Raises RuleError where there is no such constant.
    """
    if isinstance(value, list | dict | set | frozenset):
        what = f"{name} is a {type(value).__name__}"
        raise RuleError(f"{what}, which compiled code does not know; make it a tuple of ints")
    if isinstance(value, tuple):
        try:
            array = np.array(value)
        except ValueError:
            raise RuleError(f"the rows of {name} differ in length; {ALIKE}") from None
        if array.dtype.kind not in "iu" and array.size:
            raise RuleError(f"{name} is {value!r:.60}; a table must hold whole numbers, in rows of one length")
        return array.astype(np.int64)
    return value


# Tuples of ints, which numba can make of one length alone


@overload(replaced)
def _(position, place, number):
    if isinstance(position, types.BaseTuple):
        return lambda position, place, number: tuple_setitem(position, place, number)
    return None


@overload(filled)
def _(game, number):
    return eval(f"lambda game, number: ({'number, ' * width_of(game.game)})")


# Two methods of Python's ints that numba lacks


@intrinsic
def count_ones(typingctx, number):
    def codegen(context, builder, signature, args):
        return builder.ctpop(args[0])

    return number(number), codegen


@intrinsic
def count_leading_zeros(typingctx, number):
    def codegen(context, builder, signature, args):
        return builder.ctlz(args[0], context.get_constant(types.boolean, False))

    return number(number), codegen


@overload_method(types.Integer, "bit_count")
def _(number):
    return lambda number: count_ones(number)


@overload_method(types.Integer, "bit_length")
def _(number):
    bits = number.bitwidth
    return lambda number: bits - count_leading_zeros(number)
