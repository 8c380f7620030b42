"""Symbolic ints: rules run on them once and so show what they do for all positions.

A bit is a *literal*: twice the number of a node, plus 1 for its complement. Node 0 is false, so literal 0 is false and
literal 1 is true. Nodes 1 to 64 are the bits of the position. Every other node is the AND or XOR of two earlier
literals::

    nodes    0      1 … 64             65                      66
             false  bit 0 … bit 63     AND of literals 2, 5    XOR of literals 2, 6

No node is made twice, and none is made if constants or equal literals decide the result.

If a rule tests whether such an int is 0, or uses it as a number, it asks for the truth of literals. `decisions` runs
the rule again for each answer. It returns the tree of all answers, with the result of the rule at the end of each
path.
"""

from collections.abc import Callable, Iterable
from operator import index
from typing import Any, NamedTuple

from retrograde.games.contract.game import POSITION_BITS
from retrograde.solver.runtime.work import NotApplicable

LANES = 64
"""Bits of a symbolic int."""
FALSE, TRUE = 0, 1
"""The literals of constants."""
MOST_NODES = 1 << 17
"""Nodes of a circuit, at most. Rules that need more are refused."""
MOST_WAYS = 1 << 12
"""Paths through a rule, at most. Rules with more are refused."""
MOST_QUESTIONS = 1 << 14
"""Questions on one path, at most. A rule that asks more may never end."""
AND, XOR = range(2)
"""Kinds of nodes."""


class Branch(NamedTuple):
    """A literal that a rule asks for, and the trees that follow for either answer."""

    literal: int
    if_true: "Tree"
    if_false: "Tree"


class Leaf(NamedTuple):
    """The result of a rule at the end of a path."""

    result: Any


Tree = Branch | Leaf


class Circuit:
    """All nodes, and the answers on the current path through a rule.

    A rule *asks* whether a literal is true. The question is new if the path has asked neither for this literal nor for
    its complement before.
    """

    def __init__(self) -> None:
        no_inputs = (AND, FALSE, FALSE)
        self.nodes: list[tuple[int, int, int]] = [no_inputs] * (1 + LANES)  # false, and the bits of the position
        """For each node: (AND or XOR, and the literals of its two inputs)."""
        self.known: dict[tuple[int, int, int], int] = {}
        """The literal of each node with inputs, so that no node is made twice."""
        self.answers_ahead: list[bool] = []
        """Answers to the next new questions on this path. Once they are used up, a new question is answered True."""
        self.answers: dict[int, bool] = {}
        """Answers on this path, by literal and by its complement."""
        self.questions = 0
        """Questions on this path, repeated ones included."""
        self.paths = 0
        """Paths run so far through the rule."""

    def position(self) -> "Symbol":
        """Return a position with all bits unknown."""
        return Symbol(self, [2 * (1 + bit) if bit < POSITION_BITS else FALSE for bit in range(LANES)])

    def find_or_add(self, kind: int, a: int, b: int) -> int:
        """Return the literal of the node (kind, a, b); add the node if it is new."""
        key = (kind, a, b) if a < b else (kind, b, a)  # AND and XOR are symmetric
        literal = self.known.get(key)
        if literal is None:
            if len(self.nodes) == MOST_NODES:
                raise NotApplicable(f"its rules take more than {MOST_NODES:,} operations on the bits of a position")
            literal = self.known[key] = 2 * len(self.nodes)
            self.nodes.append(key)
        return literal

    def and_(self, a: int, b: int) -> int:
        """Return the literal of `a AND b`."""
        # Constants, complements and equal literals decide the result without a node.
        if a == FALSE or b == FALSE or a == b ^ 1:
            return FALSE
        if a in (TRUE, b):
            return b
        return a if b == TRUE else self.find_or_add(AND, a, b)

    def or_(self, a: int, b: int) -> int:
        """Return the literal of `a OR b`."""
        return self.and_(a ^ 1, b ^ 1) ^ 1

    def xor(self, a: int, b: int) -> int:
        """Return the literal of `a XOR b`."""
        if a < 2 or b < 2:
            return a ^ b  # one is FALSE or TRUE: the result is the other one, or its complement
        if a >> 1 == b >> 1:
            return (a ^ b) & 1  # equal literals give FALSE, complements TRUE
        # Complements move out of the node, so that it is shared.
        return self.find_or_add(XOR, a & ~1, b & ~1) ^ ((a ^ b) & 1)

    def any_of(self, literals: Iterable[int]) -> int:
        """Return the literal of the OR of several literals."""
        any_true = FALSE
        for literal in literals:
            any_true = self.or_(any_true, literal)
        return any_true

    def ask(self, literal: int) -> bool:
        """Return whether a literal is true on the current path. The first answer to a new question is True."""
        if literal < 2:
            return bool(literal)
        self.questions += 1
        if self.questions > MOST_QUESTIONS:
            raise NotApplicable(f"a rule asks for more than {MOST_QUESTIONS:,} bits of a position, or does not end")
        if literal not in self.answers:
            answer = self.answers_ahead.pop(0) if self.answers_ahead else True
            self.answers[literal], self.answers[literal ^ 1] = answer, not answer
        return self.answers[literal]

    def decisions(self, rules: Callable[["Symbol"], Any]) -> Tree:
        """Run a rule on an unknown position along all paths; return the tree of decisions.

        For `lambda position: 7 if position & 1 else 8`, that is Branch(literal of bit 0, Leaf(7), Leaf(8)). Raise
        NotApplicable if the rule needs a known position.
        """
        self.paths = 0
        return self.tree_after(rules, [])

    def tree_after(self, rules: Callable[["Symbol"], Any], given: list[bool]) -> Tree:
        """Return the tree of all paths that begin with the answers *given*.

        Runs the rule once for each path.
        """
        self.paths += 1
        if self.paths > MOST_WAYS:
            raise NotApplicable(f"a rule branches into more than {MOST_WAYS:,} ways")
        # Step 1: Run the rule. Beyond the answers given, each new question is answered True.
        self.answers_ahead, self.answers, self.questions = list(given), {}, 0
        try:
            result = rules(self.position())
        except Exception as error:  # rules raise anything if they need an int
            what = f"{type(error).__name__}: {error}"
            raise NotApplicable(f"a rule cannot be run on bits that are not known ({what})") from error
        # Step 2: Build the tree from its leaf up. On the path so far each new question was answered True. For each of
        # them, last first, also find the tree below the answer False.
        questions = list(self.answers)[::2]  # every second one is a complement
        answers = [self.answers[literal] for literal in questions]
        tree: Tree = Leaf(result)
        for number in reversed(range(len(given), len(questions))):
            if_false = self.tree_after(rules, [*answers[:number], False])
            tree = Branch(questions[number], tree, if_false)
        return tree


class Symbol:
    """An int of 64 bits, two's complement, whose bits are literals. It supports the operators of int."""

    __slots__ = ("bits", "circuit")

    def __init__(self, circuit: Circuit, bits: list[int]):
        self.circuit, self.bits = circuit, bits

    def bits_of(self, other: Any) -> list[int]:
        """Return the literals of another int's bits."""
        if isinstance(other, Symbol):
            return other.bits
        number = index(other)
        return [number >> bit & 1 for bit in range(LANES)]  # 0 and 1 are the literals FALSE and TRUE

    def by_bits(self, other: Any, rule: Callable[[int, int], int]) -> "Symbol":
        """Combine two ints bit by bit with *rule*."""
        return Symbol(self.circuit, list(map(rule, self.bits, self.bits_of(other))))

    def __and__(self, other: Any) -> "Symbol":
        return self.by_bits(other, self.circuit.and_)

    def __or__(self, other: Any) -> "Symbol":
        return self.by_bits(other, self.circuit.or_)

    def __xor__(self, other: Any) -> "Symbol":
        return self.by_bits(other, self.circuit.xor)

    __rand__, __ror__, __rxor__ = __and__, __or__, __xor__

    def __invert__(self) -> "Symbol":
        return Symbol(self.circuit, [bit ^ 1 for bit in self.bits])

    def __lshift__(self, by: Any) -> "Symbol":
        by = min(index(by), LANES)
        return Symbol(self.circuit, [FALSE] * by + self.bits[: LANES - by])

    def __rshift__(self, by: Any) -> "Symbol":
        by = min(index(by), LANES)
        return Symbol(self.circuit, self.bits[by:] + self.bits[-1:] * by)

    def __rlshift__(self, other: int) -> int:
        return other << index(self)

    def __rrshift__(self, other: int) -> int:
        return other >> index(self)

    def sum(self, other: Any, carry: int) -> "Symbol":
        """Return the sum of this int, another, and a carry bit."""
        circuit, out = self.circuit, []
        for a, b in zip(self.bits, self.bits_of(other), strict=True):
            if a == b == carry == FALSE:  # as for most bits of a count
                out.append(FALSE)
                continue
            # A full adder: sum = a XOR b XOR carry; the next carry is set if two of the three are.
            half_sum = circuit.xor(a, b)
            out.append(circuit.xor(half_sum, carry))
            carry = circuit.or_(circuit.and_(a, b), circuit.and_(half_sum, carry))
        return Symbol(circuit, out)

    def __add__(self, other: Any) -> "Symbol":
        return self.sum(other, FALSE)

    __radd__ = __add__

    def __sub__(self, other: Any) -> "Symbol":
        return self.sum(~Symbol(self.circuit, self.bits_of(other)), TRUE)

    def __rsub__(self, other: Any) -> "Symbol":
        return Symbol(self.circuit, self.bits_of(other)) - self

    def __neg__(self) -> "Symbol":
        return 0 - self

    def __mul__(self, other: Any) -> "Symbol":
        """Multiply by a known int that is not negative."""
        number = index(other)
        total = Symbol(self.circuit, [FALSE] * LANES)
        for bit in range(number.bit_length()):
            if number >> bit & 1:
                total = total + (self << bit)
        return total if number >= 0 else NotImplemented

    __rmul__ = __mul__

    def bit_count(self) -> "Symbol":
        """Return the number of ones of an int that is not negative."""
        # Add neighbours in pairs until one sum is left. (LANES is a power of two.)
        sums = [Symbol(self.circuit, [bit] + [FALSE] * (LANES - 1)) for bit in self.bits]
        while len(sums) > 1:
            sums = [a + b for a, b in zip(sums[::2], sums[1::2], strict=True)]
        return sums[0]

    def as_int(self, literal: int) -> "Symbol":
        """Return an int that is 1 where a literal is true, else 0."""
        return Symbol(self.circuit, [literal] + [FALSE] * (LANES - 1))

    def __eq__(self, other: object) -> "Symbol":  # type: ignore[override]  # a truth that is not known
        return self.as_int(self.circuit.any_of(self.by_bits(other, self.circuit.xor).bits) ^ 1)

    def __ne__(self, other: object) -> "Symbol":  # type: ignore[override]  # as above
        return self.as_int(self.circuit.any_of(self.by_bits(other, self.circuit.xor).bits))

    __hash__ = None  # type: ignore[assignment]  # an unknown value cannot be hashed

    def __lt__(self, other: Any) -> "Symbol":
        """Compare by the sign of the difference, which must not overflow."""
        return self.as_int((self - other).bits[-1])

    def __ge__(self, other: Any) -> "Symbol":
        return self.as_int((self - other).bits[-1] ^ 1)

    def __gt__(self, other: Any) -> "Symbol":
        return Symbol(self.circuit, self.bits_of(other)) < self

    def __le__(self, other: Any) -> "Symbol":
        return Symbol(self.circuit, self.bits_of(other)) >= self

    def __bool__(self) -> bool:
        """Ask whether the int is not 0: a branch of the rule."""
        return self.circuit.ask(self.circuit.any_of(self.bits))

    def __index__(self) -> int:
        """Ask for each bit, and return the number: up to a branch for each bit."""
        number = sum(self.circuit.ask(literal) << bit for bit, literal in enumerate(self.bits))
        return number - (1 << LANES if number >> (LANES - 1) else 0)  # the top bit is the sign
