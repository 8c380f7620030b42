"""The essence of a piece of source: its syntax tree as nested tuples, the same in every version of Python.

It leaves out comments, layout, docstrings, annotations of arguments and locals, and import statements. A `Resolver`
replaces each name that is not local to the piece by its answer. So it does not matter how the piece imports things.
"""

import ast
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple, Protocol

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
IMPORTS = (ast.Import, ast.ImportFrom)
ARGUMENTS = ("posonlyargs", "args", "vararg", "kwonlyargs", "kwarg")
NO_PART = {"annotation", "returns", "type_comment", "kind", "ctx"}
"""Fields of syntax trees that decide nothing."""

LOCAL = None


class ImportTarget(NamedTuple):
    """What an import statement binds: a module's name, and the name in it or None for the module itself."""

    module: str
    name: str | None


Scope = Mapping[str, ImportTarget | None]
"""Names bound in a function, a class or a comprehension: LOCAL, or what they import."""


class Resolver(Protocol):
    """Answers for names from outside a piece of source; each answer is a nested tuple."""

    def resolve(self, names: list[str]) -> tuple[Any, int]:
        """Return (the answer for a global name, how many of *names* it covers).

        The names after the first are attributes of the one before.
        """

    def resolve_import(self, target: ImportTarget, names: list[str]) -> tuple[Any, int]:
        """Return the same for a name that a function has imported; *names* are its attributes."""

    def member(self, name: str) -> Any:
        """Return the answer for an attribute of the object itself (`self.name`)."""

    def inherited(self, name: str) -> Any:
        """Return the answer for an attribute of super()."""

    def itself(self) -> Any:
        """Return the answer for the object itself, where it is passed on."""

    def attribute(self, name: str) -> Any:
        """Return the answer for an attribute of any other object."""


class Essence:
    """Takes the essence of syntax trees. *members* are the names that the class around them binds."""

    def __init__(self, resolver: Resolver, members: Iterable[str] = ()):
        self.resolver = resolver
        self.scopes: list[Scope] = []
        self.selves: set[str] = set()
        self.members = frozenset(members)

    def of(self, node: Any) -> Any:
        """Return the essence of a syntax tree, or of a list of them."""
        if isinstance(node, list):
            return tuple(self.of(item) for item in node if not is_nothing(item))
        if not isinstance(node, ast.AST):
            return ascii(node)
        if isinstance(node, (ast.Name, ast.Attribute)):
            return self.of_name(node)
        if isinstance(node, FUNCTIONS):
            return self.of_function(node)
        if isinstance(node, ast.ClassDef):
            return self.of_class(node)
        if isinstance(node, COMPREHENSIONS):
            return self.of_comprehension(node)
        if isinstance(node, ast.AnnAssign) and self.scopes:
            return "Assign", ("targets", self.of([node.target])), ("value", self.of(node.value))
        return type(node).__name__, *self.of_fields(node)

    def of_fields(self, node: ast.AST, *but: str) -> Iterator[tuple[str, Any]]:
        for name, value in ast.iter_fields(node):
            skip = name in but or (name in NO_PART and not isinstance(node, ast.AnnAssign))
            if value not in (None, []) and not skip:
                yield name, self.of(value)

    def of_method(self, node: Any, kind: str) -> Any:
        """Return the essence of a method; its first argument is the object itself or the class, unless *kind* is
        staticmethod."""
        first = next(iter([*node.args.posonlyargs, *node.args.args]), None)
        self.selves = {first.arg} if first and kind != "staticmethod" else set()
        return self.of_function(node)

    # Scopes

    def of_function(self, node: Any) -> Any:
        outside = tuple(self.of_fields(node, "name", "body", "args"))
        arguments = node.args
        defaults = self.of(arguments.defaults), self.of([default for default in arguments.kw_defaults if default])
        names = tuple((field, names_of(getattr(arguments, field))) for field in ARGUMENTS)
        required = tuple(default is None for default in arguments.kw_defaults)
        nested = () if not self.scopes or isinstance(node, ast.Lambda) else (node.name,)
        bound = {name: LOCAL for _, group in names for name in group} | dict(bindings(node.body))
        return "Function", nested, outside, names, required, defaults, self.inside(bound, node.body)

    def of_class(self, node: ast.ClassDef) -> Any:
        outside = tuple(self.of_fields(node, "name", "body"))
        nested = (node.name,) if self.scopes else ()
        bound = dict(bindings(node.body))
        body = []
        for statement in node.body:
            if isinstance(statement, FUNCTIONS):  # does not see the names of the class
                body.append((statement.name, self.of_function(statement)))
            elif isinstance(statement, ast.AnnAssign):
                body.append((self.inside(bound, statement.annotation), self.inside(bound, [statement])))
                body.append(self.inside(bound, statement.target))
            elif not is_nothing(statement):
                body.append(self.inside(bound, statement))
        return "Class", nested, outside, tuple(body)

    def of_comprehension(self, node: Any) -> Any:
        first = self.of(node.generators[0].iter)  # is evaluated outside
        bound: dict[str, ImportTarget | None] = {}
        for generator in node.generators:
            bound |= dict(bindings([generator.target]))
        results = [value for name, value in ast.iter_fields(node) if name != "generators"]
        rest = [
            (part.target, part.iter if number else ast.Pass(), *part.ifs, ast.Constant(part.is_async))
            for number, part in enumerate(node.generators)
        ]
        return type(node).__name__, first, self.inside(bound, [[*part] for part in rest]), self.inside(bound, results)

    def inside(self, bound: Scope, node: Any) -> Any:
        """Return the essence of a node inside a scope."""
        self.scopes.append(bound)
        hidden, self.selves = self.selves, self.selves - bound.keys() if len(self.scopes) > 1 else self.selves
        result = self.of(node)
        self.selves = hidden
        self.scopes.pop()
        return result

    # Names

    def of_name(self, node: ast.Name | ast.Attribute) -> Any:
        """Return the essence of a name with its attributes, such as `a.b.c`."""
        attributes: list[str] = []
        value: ast.expr = node
        while isinstance(value, ast.Attribute):
            attributes.insert(0, value.attr)
            value = value.value
        # Case: an attribute of super()
        if isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id == "super" and attributes:
            found = self.resolver.inherited(attributes[0]), self.of(value)
            return self.with_attributes(found, attributes[1:])
        # Case: an attribute of another expression
        if not isinstance(value, ast.Name):
            return self.with_attributes(self.of(value), attributes)
        name = value.id
        # Case: the object itself, or one of its members
        if name in self.selves:
            if not attributes:
                return self.resolver.itself()
            return self.with_attributes(self.resolver.member(attributes[0]), attributes[1:])
        # Case: a local name, or one that a function has imported
        scope = next((scope for scope in reversed(self.scopes) if name in scope), None)
        if scope is not None:
            target = scope[name]
            if target is LOCAL:
                return self.with_attributes(("Name", name), attributes)
            found, used = self.resolver.resolve_import(target, attributes)
            return self.with_attributes(found, attributes[used:])
        # Case: a name of the class body
        if name in self.members and not self.scopes:
            return self.with_attributes(self.resolver.member(name), attributes)
        # Case: a global name
        found, used = self.resolver.resolve([name, *attributes])
        return self.with_attributes(found, attributes[used - 1 :])

    def with_attributes(self, value: Any, names: list[str]) -> Any:
        for name in names:
            value = "Attribute", value, self.resolver.attribute(name)
        return value


def is_nothing(item: Any) -> bool:
    """Return whether a statement decides nothing: text, an import, or an annotation without a value."""
    if isinstance(item, ast.Expr):
        return isinstance(item.value, ast.Constant) and isinstance(item.value.value, str)
    return isinstance(item, IMPORTS) or (isinstance(item, ast.AnnAssign) and item.value is None)


def names_of(arguments: Any) -> tuple[str, ...]:
    """Return the names of arguments, given as a list, as one, or as None."""
    listed = arguments if isinstance(arguments, list) else [arguments] if arguments else []
    return tuple(argument.arg for argument in listed)


def bindings(nodes: Any) -> Iterator[tuple[str, ImportTarget | None]]:
    """Yield the names that statements or targets bind in their own scope, and what they import by them.

    Names that are declared global or nonlocal are left out.
    """
    found: dict[str, ImportTarget | None] = {}
    shared: set[str] = set()
    left = list(nodes) if isinstance(nodes, list) else [nodes]
    while left:
        node = left.pop()
        if isinstance(node, (*FUNCTIONS, ast.ClassDef)):
            if not isinstance(node, ast.Lambda):
                found[node.name] = LOCAL
            continue
        if isinstance(node, COMPREHENSIONS):  # of what is within, only := binds outside
            left += [inner.target for inner in ast.walk(node) if isinstance(inner, ast.NamedExpr)]
            continue
        if isinstance(node, (ast.Global, ast.Nonlocal)):
            shared.update(node.names)
        for name, target in bound_by(node):
            found[name] = LOCAL if name in found else target
        left += ast.iter_child_nodes(node)
    yield from ((name, target) for name, target in found.items() if name not in shared)


def bound_by(node: ast.AST) -> Iterator[tuple[str, ImportTarget | None]]:
    """Yield the names that a node itself binds."""
    if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
        yield node.id, LOCAL
    elif isinstance(node, ast.Import):
        for alias in node.names:
            whole = alias.name if alias.asname else alias.name.partition(".")[0]
            yield alias.asname or whole, ImportTarget(whole, None)
    elif isinstance(node, ast.ImportFrom):
        module = "." * node.level + (node.module or "")
        yield from ((alias.asname or alias.name, ImportTarget(module, alias.name)) for alias in node.names)
    elif isinstance(node, (ast.ExceptHandler, ast.MatchAs, ast.MatchStar)) and node.name:
        yield node.name, LOCAL
    elif isinstance(node, ast.MatchMapping) and node.rest:
        yield node.rest, LOCAL
