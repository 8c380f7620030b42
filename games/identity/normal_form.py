"""The normal form of source: its syntax tree as nested tuples, the same in every version of Python.

It leaves out comments, layout, docstrings, annotations of arguments and locals, and import statements. A `Resolver`
replaces each name that is not local by its answer, so it does not matter how the source imports things. Here `heap` is
local, and the resolver answers `("int", "3")` for `helpers.MOST`::

    heap - helpers.MOST      -->      ("BinOp", ("left", ("Name", "heap")), ("op", ("Sub",)), ("right", ("int", "3")))

Digests cover these tuples, so they must not change.
"""

import ast
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple, Protocol

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
IMPORTS = (ast.Import, ast.ImportFrom)
ARGUMENTS = ("posonlyargs", "args", "vararg", "kwonlyargs", "kwarg")
IGNORED_FIELDS = {"annotation", "returns", "type_comment", "kind", "ctx"}
"""Fields of syntax trees that decide nothing."""

LOCAL = None


class ImportTarget(NamedTuple):
    """What an import statement binds: a module's name, and the name in it or None for the module itself."""

    module: str
    name: str | None


Scope = Mapping[str, ImportTarget | None]
"""Names bound in a function, a class or a comprehension: LOCAL, or what they import."""


class Resolver(Protocol):
    """Answers for names from outside a piece of source, as nested tuples.

    *names* are such as `["shapes", "bar", "width"]` for `shapes.bar.width`; an answer comes with the names that it does
    not cover.
    """

    def resolve_global(self, names: list[str]) -> tuple[Any, list[str]]:
        """Answer for a global name and its attributes."""

    def resolve_import(self, target: ImportTarget, names: list[str]) -> tuple[Any, list[str]]:
        """Answer for a name that a function has imported; *names* are only its attributes."""

    def resolve_member(self, name: str) -> Any:
        """Answer for an attribute of the object itself (`self.name`)."""

    def resolve_inherited(self, name: str) -> Any:
        """Answer for an attribute of super()."""

    def resolve_self(self) -> Any:
        """Answer for the object itself, where it is passed on."""

    def resolve_attribute(self, name: str) -> Any:
        """Answer for an attribute of any other object."""


class Normalizer:
    """Returns the normal form of syntax trees. *members* are the names that the class around them binds."""

    def __init__(self, resolver: Resolver, members: Iterable[str] = ()):
        self.resolver = resolver
        self.scopes: list[Scope] = []
        self.selves: set[str] = set()
        """Names of the object itself: the first argument of the method being read, unless an inner scope hides it."""
        self.members = frozenset(members)

    def normalize(self, node: Any) -> Any:
        """Return the normal form of a syntax tree, a list of trees, or a plain value in a tree, such as a name."""
        if isinstance(node, list):
            return tuple(self.normalize(item) for item in node if not decides_nothing(item))
        if not isinstance(node, ast.AST):
            return ascii(node)
        if isinstance(node, (ast.Name, ast.Attribute)):
            return self.normalize_name(node)
        if isinstance(node, FUNCTIONS):
            return self.normalize_function(node)
        if isinstance(node, ast.ClassDef):
            return self.normalize_class(node)
        if isinstance(node, COMPREHENSIONS):
            return self.normalize_comprehension(node)
        if isinstance(node, ast.AnnAssign) and self.scopes:  # the annotation of a local decides nothing
            return "Assign", ("targets", self.normalize([node.target])), ("value", self.normalize(node.value))
        return type(node).__name__, *self.fields_of(node)

    def fields_of(self, node: ast.AST, *but: str) -> Iterator[tuple[str, Any]]:
        """Yield (name, normal form) for the fields of a node that decide something, except those named in *but*."""
        for name, value in ast.iter_fields(node):
            is_ignored = name in but or (name in IGNORED_FIELDS and not isinstance(node, ast.AnnAssign))
            if value not in (None, []) and not is_ignored:
                yield name, self.normalize(value)

    def normalize_method(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> Any:
        """Like `normalize`; the method's first argument is the object or the class, unless it is a staticmethod."""
        first = next(iter([*node.args.posonlyargs, *node.args.args]), None)
        is_static = "staticmethod" in map(ast.unparse, node.decorator_list)
        self.selves = {first.arg} if first and not is_static else set()
        return self.normalize_function(node)

    # Scopes

    def normalize_function(self, node: Any) -> Any:
        """Return the normal form of a function: what stands outside it, its arguments with defaults, and its body."""
        outside = tuple(self.fields_of(node, "name", "body", "args"))
        arguments = node.args
        keyword_defaults = [default for default in arguments.kw_defaults if default]
        defaults = self.normalize(arguments.defaults), self.normalize(keyword_defaults)
        names = tuple((field, names_of(getattr(arguments, field))) for field in ARGUMENTS)
        required = tuple(default is None for default in arguments.kw_defaults)
        # The name of a function within another counts, since the outer one refers to it.
        nested = () if not self.scopes or isinstance(node, ast.Lambda) else (node.name,)
        bound = {name: LOCAL for _, group in names for name in group} | dict(bindings(node.body))
        return "Function", nested, outside, names, required, defaults, self.normalize_inside(bound, node.body)

    def normalize_class(self, node: ast.ClassDef) -> Any:
        """Return the normal form of a class: what stands outside it, and the statements of its body that decide
        something."""
        outside = tuple(self.fields_of(node, "name", "body"))
        nested = (node.name,) if self.scopes else ()
        bound = dict(bindings(node.body))
        body = []
        for statement in node.body:
            if isinstance(statement, FUNCTIONS):  # does not see the names of the class
                body.append((statement.name, self.normalize_function(statement)))
            elif isinstance(statement, ast.AnnAssign):
                annotation = self.normalize_inside(bound, statement.annotation)
                body.append((annotation, self.normalize_inside(bound, [statement])))
                body.append(self.normalize_inside(bound, statement.target))
            elif not decides_nothing(statement):
                body.append(self.normalize_inside(bound, statement))
        return "Class", nested, outside, tuple(body)

    def normalize_comprehension(self, node: Any) -> Any:
        """Return the normal form of a comprehension, whose targets are local names."""
        first = self.normalize(node.generators[0].iter)  # is evaluated outside
        bound: dict[str, ImportTarget | None] = {}
        for generator in node.generators:
            bound |= dict(bindings([generator.target]))
        results = [value for name, value in ast.iter_fields(node) if name != "generators"]
        # `Pass` stands in place of the first iterable, which is in `first` already.
        loops = [
            [part.target, part.iter if number else ast.Pass(), *part.ifs, ast.Constant(part.is_async)]
            for number, part in enumerate(node.generators)
        ]
        return type(node).__name__, first, self.normalize_inside(bound, loops), self.normalize_inside(bound, results)

    def normalize_inside(self, bound: Scope, node: Any) -> Any:
        """Return the normal form of a node inside a scope that binds some names."""
        self.scopes.append(bound)
        outer_selves = self.selves
        if len(self.scopes) > 1:  # inside the method itself, its first argument still is the object
            self.selves = outer_selves - bound.keys()
        result = self.normalize(node)
        self.selves = outer_selves
        self.scopes.pop()
        return result

    # Names

    def normalize_name(self, node: ast.Name | ast.Attribute) -> Any:
        """Return the normal form of a name with its attributes, such as `a.b.c`."""
        attributes: list[str] = []
        value: ast.expr = node
        while isinstance(value, ast.Attribute):
            attributes.insert(0, value.attr)
            value = value.value
        found, left = self.resolve(value, attributes)
        for name in left:
            found = "Attribute", found, self.resolver.resolve_attribute(name)
        return found

    def resolve(self, value: ast.expr, attributes: list[str]) -> tuple[Any, list[str]]:
        """Return (the normal form of a value with some of its attributes, the attributes left). For `shapes.bar.width`
        these are that of `shapes.bar` and ["width"]."""
        # Case: an attribute of super()
        if isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id == "super" and attributes:
            return (self.resolver.resolve_inherited(attributes[0]), self.normalize(value)), attributes[1:]
        # Case: an attribute of another expression
        if not isinstance(value, ast.Name):
            return self.normalize(value), attributes
        name = value.id
        # Case: the object itself, or one of its members
        if name in self.selves:
            if not attributes:
                return self.resolver.resolve_self(), []
            return self.resolver.resolve_member(attributes[0]), attributes[1:]
        # Case: a local name, or one that a function has imported
        scope = next((scope for scope in reversed(self.scopes) if name in scope), None)
        if scope is not None:
            target = scope[name]
            return (("Name", name), attributes) if target is LOCAL else self.resolver.resolve_import(target, attributes)
        # Case: a name of the class body
        if name in self.members and not self.scopes:
            return self.resolver.resolve_member(name), attributes
        return self.resolver.resolve_global([name, *attributes])


def decides_nothing(item: Any) -> bool:
    """Return whether a statement decides nothing: text, an import, or an annotation without a value."""
    if isinstance(item, ast.Expr):
        return isinstance(item.value, ast.Constant) and isinstance(item.value.value, str)
    return isinstance(item, IMPORTS) or (isinstance(item, ast.AnnAssign) and item.value is None)


def names_of(arguments: Any) -> tuple[str, ...]:
    """Return the names of arguments, given as a list, as one, or as None."""
    listed = arguments if isinstance(arguments, list) else [arguments] if arguments else []
    return tuple(argument.arg for argument in listed)


def bindings(nodes: Any) -> Iterator[tuple[str, ImportTarget | None]]:
    """Yield the names that statements or targets bind in their own scope, and what they import by them."""
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
