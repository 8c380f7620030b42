"""Logs of typed entries, from which a killed solve resumes, and the codec that they share with checkpoints.

An entry is a NamedTuple of numbers, texts, arrays, containers and other NamedTuples. In the journal it becomes its
arrays, one after another, and a JSON text that refers to them by number and shape::

    SpilledBlock(0, 64, [array])    ->    | array | {"SpilledBlock": [0, 64, [{"array": [0, 5000]}]]} |

An entry may name frames of scratch files. They are synced to disk before the entry is written.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from retrograde.solver.runtime.array_type import Array
from retrograde.solver.runtime.journal import Log
from retrograde.solver.runtime.scratch import Frame, Scratch

CONTAINERS: dict[str, Any] = {"tuple": tuple, "set": set, "dict": dict}


def encode(value: Any) -> tuple[Array, ...]:
    """Return a value as arrays: those that it contains, and a JSON text for all else.

    >>> array, text = encode({"done": (3, np.array([[7, 8]]))})
    >>> array, text.tobytes()
    (array([7, 8]), b'{"dict":[["done",{"tuple":[3,{"array":[0,1,2]}]}]]}')
    """
    arrays: list[Array] = []

    def to_json(value: Any) -> Any:
        """Return what stands for a value in the JSON text; arrays go to *arrays*."""
        if isinstance(value, np.ndarray):
            arrays.append(value.ravel())
            return {"array": [len(arrays) - 1, *value.shape]}  # its number, and its shape
        if isinstance(value, list):
            return [to_json(item) for item in value]
        if is_dataclass(value):
            return {type(value).__name__: [to_json(getattr(value, field.name)) for field in fields(value)]}
        if isinstance(value, (dict, tuple, set)):
            items = map(list, value.items()) if isinstance(value, dict) else value
            return {type(value).__name__: [to_json(item) for item in items]}
        return value

    text = json.dumps(to_json(value), separators=(",", ":"), default=int)  # `int` for NumPy's integers
    return *arrays, np.frombuffer(text.encode(), np.uint8)


def decode(arrays: Sequence[Array], kinds: Iterable[type]) -> Any:
    """Return the value that `encode` has turned into arrays; *kinds* are the classes that may be in it."""
    makers = {kind.__name__: kind for kind in (*kinds, Frame)}

    def from_json(value: Any) -> Any:
        """Return the value that stands in the JSON text: the inverse of `to_json`."""
        if isinstance(value, list):
            return [from_json(item) for item in value]
        if not isinstance(value, dict):
            return value
        ((name, items),) = value.items()
        if name == "array":
            return arrays[items[0]].reshape(items[1:])
        items = [from_json(item) for item in items]
        return CONTAINERS[name](items) if name in CONTAINERS else makers[name](*items)

    return from_json(json.loads(arrays[-1].tobytes()))


def frames_in(value: Any) -> Iterator[Frame]:
    """Yield all frames in a value: in lists, tuples, values of dicts and fields of dataclasses, to any depth.

    Of an object with `all_frames`, they are what that method yields.
    """
    if isinstance(value, Frame):
        yield value
    elif hasattr(value, "all_frames"):
        yield from value.all_frames()
    elif isinstance(value, (list, tuple, dict)) or is_dataclass(value):
        content = vars(value) if is_dataclass(value) else value
        for item in content.values() if isinstance(content, dict) else content:
            yield from frames_in(item)


class EntryLog:
    """A log of typed entries of some *kinds*, which may name frames in a *scratch* folder."""

    def __init__(self, log: Log, scratch: Scratch, *kinds: type):
        self.log, self.scratch, self.kinds = log, scratch, kinds

    def read(self) -> Iterator[Any]:
        """Yield the entries of earlier solves since the last restart, once."""
        for arrays in self.log.since_restart():
            yield decode(arrays, self.kinds)
        self.log.resumed.clear()

    def add(self, entry: Any) -> None:
        """Write an entry, after the frames that it names, so that both survive a power cut."""
        self.scratch.sync(frames_in(entry))
        self.log.add(encode(entry))
        self.log.settle()

    def restart(self, entry: Any) -> None:
        """Write an entry that makes all earlier ones void."""
        self.log.resumed.clear()
        self.log.add(())
        self.add(entry)

    def settle(self) -> None:
        """Make all entries of the journal survive a power cut, before files that they replace are deleted."""
        self.log.settle()
