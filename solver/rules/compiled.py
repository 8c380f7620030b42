"""Compiles rules to machine code: numba sees each variant of a game as a type of its own.

On that type, options and tables are constants and the methods of the rules are functions. So numba compiles code made
for each variant. The type's name contains the variant and a digest of the sources. Numba's cache on disk therefore
finds the code in a later process, and misses it after the rules or the kernels change.

How a class of games becomes a numba type (`numba_type`):

1. `add_functions` registers the plain functions of each rule module.
2. `add_constants` registers the options and attributes that are numbers, and the fields.
3. `add_member` registers each table as an array, each property as an attribute and each method as a method.
4. `spell_out` rewrites what numba lacks: `yield from` becomes a loop, `super().name` becomes another member, and
   `expressions.py` rewrites expressions. It also rewrites loops over the cells of a field, which are then faster.
5. `constants.py` has what lists, dicts and sets become that stand outside a function.

Declared fields have types of their own (see `fields.py` beside this module).

The module uses only the public names of `numba.extending`, plus the class that numba requires for attributes. Two
simpler designs were tried and failed: kernels that close over jitted functions never hit the cache, and numba cannot
cache a jitted generator.
"""

import ast
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import fields
from dis import get_instructions
from functools import cache, partial
from inspect import CO_GENERATOR, Parameter, Signature, getattr_static, isfunction, signature
from types import CodeType, FunctionType, ModuleType
from typing import Any, ClassVar, NamedTuple, cast

from numba import types
from numba.cpython.unsafe.tuple import tuple_setitem
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

from retrograde.games.contract.fields import Cells, Field, fields_of
from retrograde.games.contract.fields.cells import LOOPS
from retrograde.games.contract.game import Game, RuleError, Traits, filled, replaced
from retrograde.games.contract.snapshot import module_of, source_of
from retrograde.games.contract.syntax import parse
from retrograde.games.identity.digest import rule_modules, rules_digest
from retrograde.solver.rules.constants import MOST_ROWS, constant
from retrograde.solver.rules.expressions import Expressions, has_calls_to_rewrite
from retrograde.solver.rules.fields import add_constants, add_kinds
from retrograde.solver.runtime.kernel import is_cached_for
from retrograde.solver.runtime.sources import rules_compiler_digest

TABLES = (tuple, list, dict, set, frozenset)
GAME = "game_of_static_method"
"""The name by which a static method gets the game."""
RULE_OPTIONS = {"_nrt": True, "no_cfunc_wrapper": True, "no_cpython_wrapper": True}
"""Numba's options for all rules.

Rules may create arrays (`_nrt`) even if the kernel that calls them may not. Only kernels call them, so wrappers for C
and Python are left out.
"""
GUARDED_OPTIONS = {"boundscheck": True, **RULE_OPTIONS}
"""Numba's options for rules in which an index outside an array raises IndexError.

Negative indices count from the end, as in Python.
"""


class GuardedGame(NamedTuple):
    """A game whose compiled rules check every array index, so that any number may be passed as a position."""

    game: Game


class GameType(types.Opaque):
    """Numba's view of one game with given options."""

    known: ClassVar[dict[tuple[str, ...], "GameType"]]
    """The types of one class of games, by their options."""
    guarded: ClassVar[bool]
    mro: ClassVar[tuple[type, ...]]
    """The method resolution order of the class: itself and its bases."""
    above: ClassVar[set[str]]
    """The names under which members that rules reach by `super()` are registered."""

    def __init__(self, game: Game):
        self.game = game
        module = type(game).__module__  # cached code may import the module by this name
        options = ", ".join(options_of(game))
        name = f"{'guarded ' * self.guarded}{type(game).__qualname__}({options}) of {module}"
        super().__init__(f"{name} {rules_digest(game, contract=True)} {rules_compiler_digest()}")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, types.Opaque) and self.name == other.name

    def __hash__(self) -> int:
        return hash(self.name)

    def __reduce__(self) -> Any:  # numba's cache needs the name only, to distinguish games
        return types.Opaque, (self.name,)


@typeof_impl.register(Game)
def _(game: Any, context: Any) -> GameType:
    return type_of(game, guarded=False)


@typeof_impl.register(GuardedGame)
def _(guarded: Any, context: Any) -> GameType:
    return type_of(guarded.game, guarded=True)


def type_of(game: Game, guarded: bool) -> GameType:
    """Return the numba type of a game; variants of one family (`Game.family`) share it and are compiled once."""
    game_type = numba_type(cast(Any, type(game)), guarded)
    options = options_of(game)
    if options not in game_type.known:
        # A variant with weights of its own has a type of its own.
        family = game.family if type(game.family) is type(game) and "feature_weights" not in vars(game) else game
        family_type = game_type.known.get(options_of(family)) or game_type(family)
        game_type.known[options] = game_type.known[options_of(family)] = family_type
    return game_type.known[options]


def options_of(game: Game) -> tuple[str, ...]:
    """Return all options of a game as text, and its weights if they are not those of its class."""
    options = tuple(f"{field.name}={getattr(game, field.name)!r}" for field in fields(cast(Any, game)))
    return (*options, f"weights={game.feature_weights}") if "feature_weights" in vars(game) else options


def prepare(game: Game) -> None:
    """Register a game's class with numba, so that kernels accept the game as an argument."""
    numba_type(cast(Any, type(game)), False)  # mypy thinks that classes cannot be hashed


def is_cached(game: Game, kernels: Iterable[Any]) -> bool:
    """Return whether the cache on disk has machine code of one of these kernels for the rules of a game."""
    prepare(game)
    return any(is_cached_for(kernel, type_of(game, guarded=False)) for kernel in kernels)


@cache
def numba_type(cls: type, guarded: bool) -> type[GameType]:
    """Return the numba type of a class of games, with its options, tables and rules registered."""
    add_kinds()
    mro = cls.__mro__[:-1]  # without `object`
    # An opaque type: compiled code never reads the Python object, since all members are constants or functions.
    game_type = type(cls.__name__, (GameType,), {"known": {}, "guarded": guarded, "mro": mro, "above": set()})
    register_model(game_type)(models.OpaqueModel)
    unbox(game_type)(lambda typ, obj, c: NativeValue(c.context.get_dummy_value()))
    for base in mro:
        if base is not Game:
            for module in rule_modules(module_of(base)):
                if module.__name__ != Game.__module__:  # its functions are for Python
                    add_functions(module)
    names = {name for base in mro for name in vars(base)} | {field.name for field in fields(cls)}
    members = {name: getattr_static(cls, name, None) for name in sorted(names) if not name.startswith("__")}
    constants = {name for name, member in members.items() if isinstance(member, int | Field)}
    # Numeric options and fields are constants of the type, for which numba compiles no function.
    add_constants(game_type, lambda typ, name: constant(getattr(typ.game, name), name) if name in constants else None)
    for name in members:
        if name not in constants:
            add_member(game_type, name)
    return game_type


@cache
def add_functions(module: ModuleType) -> None:
    """Register the functions of a rule module with numba, so that rules may call them; they check array indices."""
    for function in vars(module).values():
        if isfunction(function) and function.__module__ == module.__name__:
            overload(function, strict=False, jit_options=GUARDED_OPTIONS)(stand_in(function))


def add_member(game_type: type[GameType], name: str, after: int = -1) -> None:
    """Register a table, property or method of a game with numba.

    With *after*, it is the member that `super()` finds in the class at that index of `game_type.mro`.
    """
    mro = game_type.mro
    # The first class behind *after* that defines the name, as Python looks it up. None if only an instance has it.
    member = next((vars(base)[name] for base in mro[after + 1 :] if name in vars(base)), None)
    registered_name = name_above(after, name)
    if isinstance(member, property):
        rule = stand_in(cast(FunctionType, member.fget), game_type)
        overload_attribute(game_type, registered_name, strict=False, jit_options=RULE_OPTIONS)(lambda self: rule(self))
    elif isfunction(member) or isinstance(member, (classmethod, staticmethod)):
        rule = stand_in(cast(FunctionType, getattr(member, "__func__", member)), game_type, type(member))
        options = GUARDED_OPTIONS if game_type.guarded else RULE_OPTIONS
        overload_method(game_type, registered_name, strict=False, jit_options=options)(rule)
    else:

        def read(self):
            value = constant(getattr(self.game if after < 0 else super(mro[after], self.game), name), name)
            return lambda self: value

        overload_attribute(game_type, registered_name, strict=False, jit_options=RULE_OPTIONS)(read)


def name_above(level: int, name: str) -> str:
    """Return the name under which `super().name`, said in class number *level* of the MRO, is registered.

    Level -1, below all classes, is for the game's own member, which keeps its name.
    """
    return f"{name}_above_{level}" if level >= 0 else name


def register_above(game_type: type[GameType], name: str, level: int) -> str:
    """Register the member that `super().name` means in class number *level* of the MRO; return its registered name."""
    registered_name = name_above(level, name)
    if registered_name not in game_type.above and level >= 0:
        game_type.above.add(registered_name)
        add_member(game_type, name, level)
    return registered_name


def register_value(game_type: type[GameType], name: str, value: Any) -> str:
    """Register a value that all variants of the game share, as an attribute; return its name."""
    if name not in game_type.above:
        game_type.above.add(name)
        overload_attribute(game_type, name, strict=False, jit_options=RULE_OPTIONS)(lambda self: lambda self: value)
    return name


def stand_in(function: FunctionType, game_type: type[GameType] | None = None, kind: type = FunctionType) -> Any:
    """Return what `overload` takes: a function with the arguments of *function*, which returns the function to compile.

    *game_type* is None for a function of a module. *kind* may be `staticmethod` or `classmethod`.
    """

    def resolve(*args, **named):  # rewrite only now: functions that are never compiled may use all of Python
        if hasattr(function, "compiled_for"):
            return function.compiled_for(args[0].game)  # made from the fields of the game
        return spell_out(function, game_type, kind)  # type: ignore[arg-type]  # a class can be hashed

    arguments = [*signature(function).parameters.values()]
    if kind is staticmethod:
        arguments.insert(0, Parameter(GAME, Parameter.POSITIONAL_OR_KEYWORD))
    resolve.__signature__ = Signature(arguments)  # type: ignore[attr-defined]  # numba compares the two
    return resolve


@cache
def spell_out(function: FunctionType, game_type: type[GameType] | None, kind: type = FunctionType) -> FunctionType:
    """Return a function rewritten in the part of Python that numba compiles; see `SpellOut` and `Expressions`.

    In a method, `super().name` becomes a registered member of the game. A static method gets the game as its first
    argument. *game_type* is None for a function of a module. Raise RuleError if there is no source, or if `super()`
    stands in a class that is no base of the game.
    """
    # Step 1: look for what numba lacks. Most functions need no change.
    code = function.__code__
    opcodes = [instruction.opname for instruction in get_instructions(code)]
    yields_from = code.co_flags & CO_GENERATOR and "GET_YIELD_FROM_ITER" in opcodes
    names = names_in(code)
    cells = cells_named_in(code, game_type) if game_type else set()
    tables = tables_in(function, names)
    classes = game_type and names_class(function, names, game_type)
    if not (yields_from or cells or tables or classes or kind is not FunctionType or has_calls_to_rewrite(code)):
        return function
    # Step 2: rewrite the syntax tree.
    definition = definition_of(function)
    if kind is staticmethod:
        definition.args.args.insert(0, ast.arg(GAME))
    level = level_of_super(function, game_type) if game_type and "__class__" in code.co_freevars else 0
    game = definition.args.args[0].arg if game_type and definition.args.args else ""
    member = partial(member_of_class, function, game_type) if game_type else lambda *_: ""
    spelling = SpellOut(definition, game, kind is classmethod, member)
    spelling.level, spelling.cells, spelling.tables = level, cells, {*tables}
    tree = strip_annotations(spelling.visit(definition))
    if game_type:
        for name in sorted(spelling.above):
            register_above(game_type, name, level)
    # Step 3: compile the new definition with the old globals and file name.
    *_, owner, name = ["", *function.__qualname__.split(".")]
    module = ast.Module([*spelling.reductions, tree], [])
    # The qualified name is `Class.method`: put the method into a class of the same name.
    if owner.isidentifier():  # so that Python mangles names like `self.__name`
        module = parse(f"class {owner}: pass")
        module.body[0].body = [*spelling.reductions, tree]
    defined: dict[str, Any] = {}
    scope = function.__globals__
    if spelling.tables or spelling.reductions:
        scope = scope | {name: tables[name] for name in spelling.tables}
    exec(compile(ast.fix_missing_locations(module), code.co_filename, "exec"), scope, defined)
    defined = dict(vars(defined[owner])) if owner in defined else defined
    # Step 4: register the new functions with numba too.
    for reduction in spelling.reductions:
        new_function = scope[reduction.name] = defined[reduction.name]
        options = GUARDED_OPTIONS if game_type is None or game_type.guarded else RULE_OPTIONS
        # Numba calls this lambda with the types of the arguments, and compiles what it returns.
        overload(new_function, strict=False, jit_options=options)(
            eval(f"lambda {', '.join(signature(new_function).parameters)}: made", {"made": new_function})
        )
    spelled = defined[name]
    spelled.__defaults__, spelled.__kwdefaults__ = function.__defaults__, function.__kwdefaults__
    return cast(FunctionType, spelled)


def names_in(code: CodeType) -> set[str]:
    """Return the names of globals and attributes in code, that of nested functions included."""
    nested = (names_in(inner) for inner in code.co_consts if isinstance(inner, CodeType))
    return {*code.co_names}.union(*nested)


def tables_in(function: FunctionType, names: set[str]) -> dict[str, Any]:
    """Return, by name, the compiled forms of module tables that a function uses. Tables are lists, dicts, sets, and
    tuples of rows that differ in length. Numba takes other tuples as they are."""
    tables = {}
    for name in names:
        value = function.__globals__.get(name)
        if isinstance(value, TABLES):
            try:
                table = constant(value, name)
            except RuleError:
                if isinstance(value, tuple) and len(value) > MOST_ROWS:
                    raise
                continue  # a table of texts, say: numba complains where compiled code needs it
            if not isinstance(value, tuple) or isinstance(table, tuple):
                tables[name] = table
    return tables


def names_class(function: FunctionType, names: set[str], game_type: type[GameType]) -> bool:
    """Return whether a function may name a member by a class of the game, as in `Chess.squares`, or by `super()`."""
    of_classes = any(function.__globals__.get(name) in game_type.mro for name in names)
    return of_classes or "type" in names or "__class__" in {*names, *function.__code__.co_freevars}


def member_of_class(function: FunctionType, game_type: type[GameType], owner: str, name: str, with_game: bool) -> str:
    """Register what *function* means by `owner.name`, where "" as *owner* is the game's class. Return its name, or ""
    if the game has no such member. *with_game*: it is a method that is called with the game."""
    cls: Any = function.__globals__.get(owner) if owner else game_type.mro[0]
    home = next((base for base in cls.__mro__ if name in vars(base)), None) if cls in game_type.mro else None
    if home not in game_type.mro:
        return ""
    level, member = game_type.mro.index(home), vars(home)[name]
    if isinstance(member, (*TABLES, int)) and not with_game:
        return register_value(game_type, f"{name}_of_class_{level}", constant(member, name))
    callable_kinds: Any = FunctionType
    if not with_game:  # a class method of another class than the game's own would see that class
        callable_kinds = staticmethod if owner else (staticmethod, classmethod)
    if isinstance(member, callable_kinds):
        return register_above(game_type, name, level - 1)  # seen from one class before, the next that has it is *home*
    return ""


def cells_named_in(code: CodeType, game_type: type[GameType]) -> set[str]:
    """Return the names of a game's fields of cells over which code may loop."""
    fields = fields_of(game_type.mro[0]) if LOOPS.keys() & {*code.co_names} else {}
    return {name for name, field in fields.items() if isinstance(field, Cells) and name in code.co_names}


def level_of_super(function: FunctionType, game_type: type[GameType]) -> int:
    """Return the index, in the game's MRO, of the class in whose body a method says `super()`."""
    closure = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
    owner = closure["__class__"].cell_contents
    if owner not in game_type.mro:
        what = f"super() in {function.__qualname__}() is said for {owner.__name__}, and a game of another kind has it"
        raise RuleError(what)
    return game_type.mro.index(owner)


def strip_annotations(definition: ast.FunctionDef) -> ast.FunctionDef:
    """Remove annotations, defaults and decorators, whose names may be unknown here; return the definition."""
    arguments = definition.args
    for argument in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
        argument.annotation = None
    arguments.defaults, arguments.kw_defaults = [], [None] * len(arguments.kwonlyargs)
    definition.returns = None
    definition.decorator_list = []
    return definition


def definition_of(function: FunctionType) -> Any:
    """Return the syntax tree of a function from the source of its module; raise RuleError if it is not there."""
    with suppress(OSError):
        for node in ast.walk(parse(source_of(module_of(function)))):
            if isinstance(node, ast.FunctionDef) and node.name == function.__name__:
                line = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
                if line == function.__code__.co_firstlineno:
                    return node
    raise RuleError(f"{function.__qualname__}() of {function.__module__} has no source; define it where it can be read")


LOOP_OVER_BITS = """
{left} = cells
while {left}:
    cell = ({left} & -{left}).bit_length() - 1
    {left} &= {left} - 1
"""


class SpellOut(Expressions):
    """Rewrites loops and `super()` in one function.

    `yield from items` becomes `for item in items: yield item`, and `super().name` becomes `self.name_above_…`. A loop
    `for cell in self.cells.empty(position)` becomes `while left`, which takes one cell after the other from a set.
    """

    level: int
    """The index of the method's class in the game's MRO."""
    cells: set[str]
    """Names of fields of cells."""
    loops = 0

    def __init__(self, *given: Any):
        super().__init__(*given)
        self.above: set[str] = set()
        """The names that follow `super()`."""

    def visit_For(self, node: ast.For) -> Any:  # noqa: N802  # ast prescribes this method's name
        """Replace a loop over the cells of a field by a loop over the bits of their set."""
        self.generic_visit(node)
        match node.iter:
            case ast.Call(ast.Attribute(ast.Attribute(ast.Name(self.game), field), loop)) if (
                field in self.cells and loop in LOOPS
            ):
                left, self.loops = f"cells_left_{self.loops}", self.loops + 1
                begin, over = cast(Any, parse(LOOP_OVER_BITS.format(left=left)).body)
                begin.value = node.iter
                begin.value.func.attr = LOOPS[loop]
                over.body[0].targets = [node.target]
                over.body += node.body
                over.orelse = node.orelse
                return [begin, over]
        return node

    def visit_Expr(self, node: ast.Expr) -> ast.AST:  # noqa: N802  # ast prescribes this method's name
        self.generic_visit(node)
        if not isinstance(node.value, ast.YieldFrom):
            return node
        item = ast.Name("item_of_yield_from", ast.Store())
        body = ast.Expr(ast.Yield(ast.Name(item.id, ast.Load())))
        return self.visit_For(ast.For(item, node.value.value, [body], []))

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:  # noqa: N802
        match node.value:
            case ast.Call(ast.Name("super"), [], []):
                self.above.add(node.attr)
                node.value, node.attr = ast.Name(self.game, ast.Load()), name_above(self.level, node.attr)
        return super().visit_Attribute(node)


# Tuples of ints: numba needs their length when it compiles


@overload(replaced)
def compiled_replaced(position, place, number):
    if isinstance(position, types.BaseTuple):
        return lambda position, place, number: tuple_setitem(position, place, number)
    return None


@overload(filled)
def compiled_filled(game, number):
    return eval(f"lambda game, number: ({'number, ' * Traits.of(game.game).width})")


# Two methods of Python's ints that numba lacks


@intrinsic
def count_ones(typingctx, number):
    """Return the number of ones of an int, by LLVM's instruction."""

    def codegen(context, builder, signature, args):
        return builder.ctpop(args[0])

    return number(number), codegen


@intrinsic
def count_leading_zeros(typingctx, number):
    """Return the number of zeros above the highest one of an int, by LLVM's instruction."""

    def codegen(context, builder, signature, args):
        return builder.ctlz(args[0], context.get_constant(types.boolean, False))

    return number(number), codegen


@overload_method(types.Integer, "bit_count")
def compiled_bit_count(number):
    return lambda number: count_ones(number)


@overload_method(types.Integer, "bit_length")
def compiled_bit_length(number):
    bits = number.bitwidth
    return lambda number: bits - count_leading_zeros(number)
