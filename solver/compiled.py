"""Rules become machine code: numba sees every game as a type of its own.

On that type options and tables are constants, and the methods of the rules are functions, so that each variant is
compiled to code made for it. The type is named after the variant and a digest of the sources, so that numba's cache on
disk finds the code again in a later process, and misses it after an edit of the rules or of the kernels.
Only the public names of `numba.extending` are used. (Kernels that close over jitted functions would never hit the
cache, and numba cannot cache a jitted generator; both were tried.)
"""

import ast
from dataclasses import fields
from dis import get_instructions
from functools import cache
from inspect import CO_GENERATOR, getattr_static, getsource, isfunction, signature
from sys import modules
from textwrap import dedent
from types import FunctionType, ModuleType
from typing import Any, cast

import numpy as np
from numba import types
from numba.extending import (
    NativeValue,
    intrinsic,
    models,
    overload,
    overload_attribute,
    overload_method,
    register_model,
    typeof_impl,
    unbox,
)

from retrograde.games.digest import rules_digest, used_modules
from retrograde.games.game import Game, RuleError
from retrograde.solver.kernel import kernels_digest


class GameType(types.Opaque):
    """Numba's view of one game with given options."""

    def __init__(self, game: Game):
        self.game = game
        module = type(game).__module__  # what is cached may import it by this name
        super().__init__(f"{game!r} of {module} {rules_digest(game, contract=True)} {kernels_digest()}")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, types.Opaque) and self.name == other.name

    def __hash__(self) -> int:
        return hash(self.name)

    def __reduce__(self) -> Any:  # numba's cache need only tell games apart
        return types.Opaque, (self.name,)


@typeof_impl.register(Game)
@cache
def _(game: Any, context: Any) -> GameType:
    return numba_type(cast(Any, type(game)))(game)


def prepare(game: Game) -> None:
    """Let numba know a game, so that kernels take it as an argument."""
    numba_type(cast(Any, type(game)))  # mypy thinks that classes cannot be hashed


@cache
def numba_type(cls: type) -> type[GameType]:
    """Return the numba type of games of a class, on which its options, tables and rules are known."""
    game_type = type(cls.__name__, (GameType,), {})
    register_model(game_type)(models.OpaqueModel)
    unbox(game_type)(lambda typ, obj, c: NativeValue(c.context.get_dummy_value()))
    for base in cls.__mro__[:-1]:
        if base is not Game:
            for module in used_modules(modules[base.__module__]):
                add_functions(module)
    names = {name for base in cls.__mro__[:-1] for name in vars(base)} | {field.name for field in fields(cls)}
    for name in sorted(names):
        if not name.startswith("__"):
            add_member(game_type, name, getattr_static(cls, name, None))
    return game_type


def add_functions(module: ModuleType) -> None:
    """Let numba compile the functions of a rule module where rules call them."""
    for function in vars(module).values():
        if isfunction(function) and function.__module__ == module.__name__:
            overload(function, strict=False)(stand_in(function))


def add_member(game_type: type[GameType], name: str, member: Any) -> None:
    """Let numba know one option, table, property or method of a game."""
    if isinstance(member, property):
        overload_attribute(game_type, name, strict=False)(lambda self, rule=member.fget: rule)
    elif isfunction(member):
        overload_method(game_type, name, strict=False)(stand_in(member))
    elif not isinstance(member, (classmethod, staticmethod)):

        def read(self, name=name):
            value = constant(getattr(self.game, name))
            return lambda self: value

        overload_attribute(game_type, name, strict=False)(read)


def stand_in(function: FunctionType) -> Any:
    """Return what numba asks for a function's implementation, whatever the types of the arguments."""
    implementation = spelled_out(function)

    def resolve(*args):
        return implementation

    resolve.__signature__ = signature(function)  # type: ignore[attr-defined]  # numba compares the two
    return resolve


def spelled_out(function: FunctionType) -> FunctionType:
    """Return a function with each `yield from` turned into a loop, which numba understands."""
    is_generator = function.__code__.co_flags & CO_GENERATOR
    if not is_generator or all(found.opname != "GET_YIELD_FROM_ITER" for found in get_instructions(function)):
        return function
    source = ast.parse(dedent(getsource(function)))
    tree = ast.fix_missing_locations(SpellOut().visit(source))
    ast.increment_lineno(tree, function.__code__.co_firstlineno - 1)
    tree.body[0].decorator_list.clear()
    names: dict[str, Any] = {}
    exec(compile(tree, function.__code__.co_filename, "exec"), function.__globals__, names)
    return names[function.__name__]


class SpellOut(ast.NodeTransformer):
    """Turns `yield from items` into `for item in items: yield item`."""

    def visit_Expr(self, node: ast.Expr) -> ast.AST:  # the name is that of the class in ast
        if not isinstance(node.value, ast.YieldFrom):
            return node
        item = ast.Name("item_of_yield_from", ast.Store())
        body = ast.Expr(ast.Yield(ast.Name(item.id, ast.Load())))
        return ast.For(item, node.value.value, [body], [])


def constant(value: Any) -> Any:
    """Return an option or table as a constant that compiled code can use: tuples of ints become arrays."""
    if isinstance(value, tuple):
        array = np.array(value)
        if array.dtype.kind not in "iu" and array.size:
            raise RuleError(f"a table must hold whole numbers, in rows of one length; this one is {value!r:.60}")
        return array.astype(np.int64)
    return value


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
