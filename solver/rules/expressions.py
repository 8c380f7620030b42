"""Rewrites expressions that numba lacks: generator expressions, sorting by a key, members named by their class.

`any(wins(row) for row in self.rows)` becomes a call of a new function, which gets the local names that the expression
uses. So the expression is evaluated where, when and as often as Python would do it::

    any_of_items_0(self)        def any_of_items_0(self):
                                    for row in self.rows:
                                        item_of_loop = wins(row)
                                        if item_of_loop: return True
                                    return False
"""

import ast
import dis
from collections.abc import Callable
from types import CodeType
from typing import Any, cast

from retrograde.games.contract.syntax import parse

ITEM, OTHER = "item_of_loop", "without_items"
REDUCTIONS = {
    "any": ("pass", f"if {ITEM}: return True", "return False"),
    "all": ("pass", f"if not {ITEM}: return False", "return True"),
    "sum": (f"total = {OTHER}", f"total += {ITEM}", "return total"),
    "next": ("pass", f"return {ITEM}", f"return {OTHER}"),
    "min": ("best, none = 0, True", f"if none or {ITEM} < best: best, none = {ITEM}, False", "return best"),
    "max": ("best, none = 0, True", f"if none or {ITEM} > best: best, none = {ITEM}, False", "return best"),
}
"""The new function's statements for each reduction: (before the loop, with each item, behind the loop)."""
KEYWORDS = {"sum": "start", "min": "default", "max": "default"}
BY_KEY = {
    "min": "min([({key}, number, {item}) for number, {item} in enumerate({items})])[2]",
    "max": "max([({key}, -number, {item}) for number, {item} in enumerate({items})])[2]",
    "sorted": "[{item} for _, _, {item} in sorted([({key}, {sign}number, {item}) "
    "for number, {item} in enumerate({items})], reverse={reverse})]",
}
"""The same calls without `key=`. Items are numbered because the first of several items with equal keys counts."""


def has_calls_to_rewrite(code: CodeType) -> bool:
    """Return whether code has an expression that `Expressions` rewrites; members named by their class do not count."""
    nested = [constant for constant in code.co_consts if isinstance(constant, CodeType)]
    keywords = {word for words in code.co_consts if isinstance(words, tuple) for word in words if isinstance(word, str)}
    return (
        not {"any", "all", "reversed"}.isdisjoint(code.co_names)
        or not {"key", "default"}.isdisjoint(keywords)
        or dis.opmap["SET_ADD"] in code.co_code[::2]  # a set comprehension; opcodes are the even bytes
        or any(inner.co_name == "<genexpr>" or has_calls_to_rewrite(inner) for inner in nested)
    )


class Expressions(ast.NodeTransformer):
    """Rewrites the expressions of one function of a rule module.

    *game* is the function's name for the game, or for its class if *of_class*; "" if it has neither. *member* is
    `member_of_class` of `compiled.py`.
    """

    def __init__(self, definition: Any, game: str, of_class: bool, member: Callable[[str, str, bool], str]):
        self.game, self.of_class, self.member = game, of_class, member
        self.local = names_bound_in(definition)
        self.tables: set[str] = set()
        """The names of lists, dicts and sets outside the function that become tables."""
        self.reductions: list[Any] = []
        """The functions that generator expressions have become."""

    # Members named by their class. The module ast prescribes the names of methods.

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        registered = self.member_in(node)
        return parse_at(node, f"{self.game}.{registered}") if registered else self.generic_visit(node)

    def member_in(self, node: ast.Attribute, with_game: bool = False) -> str:
        """Return the game's name for an attribute of a class, as in `Chess.squares`; "" for any other attribute.
        *with_game*: it is a method that is called with the game."""
        match node.value:
            case ast.Call(ast.Name("type"), [ast.Name(game)]) | ast.Attribute(ast.Name(game), "__class__"):
                return self.member("", node.attr, with_game) if game == self.game and not self.of_class else ""
            case ast.Name(self.game):
                return self.member("", node.attr, with_game) if self.of_class else ""
            case ast.Name(name) if name not in self.local and self.game:
                return self.member(name, node.attr, with_game)
        return ""

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        # An array would be added item by item. Numba refuses a list.
        self.tables -= {side.id for side in (node.left, node.right) if isinstance(side, ast.Name)}
        return self.generic_visit(node)

    # Generator expressions

    def visit_GeneratorExp(self, node: ast.GeneratorExp) -> Any:
        return self.visit(parse_at(node, f"[{ast.unparse(node)[1:-1]}]"))

    def visit_SetComp(self, node: ast.SetComp) -> Any:
        return self.visit(parse_at(node, f"set([{ast.unparse(node)[1:-1]}])"))

    def visit_Call(self, node: ast.Call) -> Any:
        """Replace a call that numba lacks (a method of the class, `reversed`, `key=`, `any` and so on) by code that it
        has."""
        keywords = {keyword.arg or "": keyword.value for keyword in node.keywords}
        match node:
            case ast.Call(ast.Attribute() as method, [ast.Name(self.game), *_]) if self.game:
                if registered := self.member_in(method, with_game=True):
                    node.func = parse_at(node, f"{self.game}.{registered}")
                    del node.args[0]
            case ast.Call(ast.Name("reversed"), [items], []) if "reversed" not in self.local:
                return self.visit(parse_at(node, f"[{ITEM} for {ITEM} in {ast.unparse(items)}][::-1]"))
            case ast.Call(ast.Name(kind), [items]) if kind in BY_KEY and "key" in keywords and kind not in self.local:
                if text := without_key(kind, items, **keywords):
                    return self.visit(parse_at(node, text))
            case ast.Call(ast.Name(kind), [items, *others]) if kind in REDUCTIONS and kind not in self.local:
                known_words = {*keywords} <= {KEYWORDS.get(kind)}
                most_others = 1 if kind in ("sum", "next") else 0  # further arguments that are not keywords
                if known_words and len(others) <= most_others:
                    return self.reduction(node, kind, items, [*others, *keywords.values()])
        return self.generic_visit(node)

    def reduction(self, node: ast.Call, kind: str, items: ast.expr, other: list[ast.expr]) -> ast.AST:
        """Return a call of a new function (`source_of_reduction`) in place of the call *node* of any, sum and the like.

        Return *node* itself if numba can compile it. *other* is its further argument, if any.
        """
        if not isinstance(items, ast.GeneratorExp) and (kind in ("any", "all") or (other and kind in ("min", "max"))):
            items = parse_at(node, f"({ITEM} for {ITEM} in {ast.unparse(items)})")
        if not isinstance(items, ast.GeneratorExp) or any(isinstance(part, ast.NamedExpr) for part in ast.walk(items)):
            return self.generic_visit(node)
        if kind in ("min", "max") and isinstance(items.elt, ast.Tuple) and not other:  # numba knows min() of tuples
            return self.generic_visit(node)
        # The new function gets the local names in the expression. The first iterable is evaluated outside of the loops.
        outside = items.generators[0].iter
        free = (names_read_in(items) - names_bound_in(items)) | (names_read_in(outside) - names_bound_in(outside))
        arguments = sorted(free & self.local | {self.game} - {""})
        name = f"{kind}_of_items_{len(self.reductions)}"
        (function,) = parse(source_of_reduction(name, arguments, kind, items, bool(other))).body
        # The new function may have such expressions itself.
        self.local |= {OTHER}
        self.reductions.append(self.visit(set_line(function, node)))
        last = ast.unparse(other[0]) if other else "0"
        return cast(ast.AST, self.visit(parse_at(node, f"{name}({', '.join([*arguments, last])})")))


def source_of_reduction(name: str, arguments: list[str], kind: str, items: ast.GeneratorExp, has_other: bool) -> str:
    """Return the source of a function that computes `sum`, `any` and the like of a generator expression.

    *has_other*: the call has a second argument, from which `sum` starts, or which is the result if there are no items.

    >>> (call,) = ast.parse("sum(2 * p for row in board for p in row if p)").body
    >>> print(source_of_reduction("total_of", ["board"], "sum", call.value.args[0], False))
    def total_of(board, without_items):
     total = without_items
     for row in board:
      for p in row:
       if p:
        item_of_loop = 2 * p
        total += item_of_loop
     return total
    """
    before, step, behind = REDUCTIONS[kind]
    if kind in ("min", "max"):
        behind = f"return {OTHER} if none else best" if has_other else f"assert not none; {behind}"
    elif kind == "next" and not has_other:
        behind = "raise ValueError"
    heads = []
    for loop in items.generators:
        heads.append(f"for {ast.unparse(loop.target)} in {ast.unparse(loop.iter)}:")
        heads += [f"if {ast.unparse(condition)}:" for condition in loop.ifs]
    nested = [" " * depth + head for depth, head in enumerate(heads)]
    inner = " " * len(heads)
    body = [before, *nested, f"{inner}{ITEM} = {ast.unparse(items.elt)}", inner + step, behind]
    return "\n ".join([f"def {name}({', '.join([*arguments, OTHER])}):", *body])


def without_key(kind: str, items: ast.expr, key: ast.expr, reverse: ast.expr = ast.Constant(False)) -> str:  # noqa: B008
    """Return a call of `sorted`, `min` or `max` with a key, rewritten without it as BY_KEY says; "" if impossible."""
    match key, reverse:  # the key is a lambda of one argument, or a function's name
        case ast.Lambda(ast.arguments([], [ast.arg(item)], None, [], [], None, [])), ast.Constant(bool()):
            text = ast.unparse(key.body)
        case ((ast.Name() | ast.Attribute()), ast.Constant(bool())):
            item, text = ITEM, f"{ast.unparse(key)}({ITEM})"
        case _:
            return ""
    sign = "-" if reverse.value else ""
    return BY_KEY[kind].format(key=text, item=item, items=ast.unparse(items), sign=sign, reverse=reverse.value)


def names_bound_in(tree: ast.AST) -> set[str]:
    """Return all names that a tree gives a value: variables, arguments, and targets of loops."""
    nodes = [*ast.walk(tree)]
    stored = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    return stored | {node.arg for node in nodes if isinstance(node, ast.arg)}


def names_read_in(tree: ast.AST) -> set[str]:
    """Return all names that a tree reads."""
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}


def parse_at(node: ast.AST, text: str) -> Any:
    """Return the syntax tree of an expression, with the line number of a node."""
    return set_line(cast(Any, parse(text, mode="eval")).body, node)


def set_line(tree: ast.AST, node: ast.AST) -> Any:
    """Give a tree the line number of a node, and return it."""
    for part in ast.walk(tree):
        ast.copy_location(part, node)
    return tree
