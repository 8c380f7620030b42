"""The attributes of a file's root: written, read, and checked against one another.

Anybody may have made a file. So nothing is read unless its type and size are as expected, and nothing is believed that
contradicts the rest.
"""

import json
import re
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from retrograde.databases.errors import NotADatabase, VersionTooNew, VersionTooOld
from retrograde.databases.layout import (
    BOOK,
    BOUNDS_VERSION,
    CERTIFICATE,
    CERTIFICATE_VERSION,
    FORMAT,
    MEASURED_VERSION,
    METRIC,
    OLDEST_VERSION,
    STORAGES,
    TUPLES_VERSION,
    VERSION,
    LegendRow,
)
from retrograde.games import Game
from retrograde.games.contract.game import METRICS, MOST_WORDS, POSITION_LIMIT
from retrograde.games.contract.text import printable

Attributes = dict[str, Any]
"""Attributes by name; each is a text or an int."""
LONGEST_TEXT = 1 << 16
"""The most bytes that an attribute may have."""
MOST_ATTRIBUTES = 64
TEXTS = (
    *("format", "game", "variant", "options", "rules", "metric", "made_with", "checks", "digest"),
    *("measures", "details", "storage"),
)
MEASURE = re.compile(r"[a-z][a-z0-9_]{0,30}")
"""The pattern of names of the legend's additional columns."""
MOST_MEASURES = 64
EXPECTATION = "expectation"
RESPONSE = ("low", "high", "waiting_low", "waiting_high")
"""The measures of expectations against a model of the opponent (a best response)."""
NUMBERS = (
    *("format_version", "positions", "stored", "start", "start_value", "start_remoteness", "start_row"),
    *("root", "at_least", "at_most", "leaves", "plies", "start_low", "start_high", "words"),
)
END_OF_FILE = slice(28, 36)
"""The bytes of the superblock that hold the length of the file."""


@dataclass(frozen=True)
class Header:
    """The attributes of a database file, each of them valid in itself."""

    version: int
    game: str
    variant: str
    options: dict[str, Any]
    rules: str
    metric: str
    made_with: str
    positions: int
    stored: int
    start: Any
    """The first position, an int or a tuple of ints; None if there is none."""
    start_outcome: tuple[int, int] | None
    """The start's value and remoteness."""
    checks: dict[str, int]
    """The checksum of each table."""
    digest: str
    """The digest of the whole file."""
    plies: int | None = None
    """The depth of an opening book, in plies from the start; None for a database."""
    measures: tuple[str, ...] = ()
    """The names of the legend's additional columns."""
    details: dict[str, Any] = field(default_factory=dict)
    """How the metric was computed."""
    start_row: int | None = None
    """The start's row in the legend, if value and remoteness do not identify it."""
    start_bounds: tuple[int, int] | None = None
    """The start's lower and upper bound, in a file of bounds."""
    storage: str = ""
    """The kind of storage, one of STORAGES; "" in older files, whose datasets tell."""

    @property
    def by_bounds(self) -> bool:
        """Whether measures are bounds of each slot, and no columns of the legend."""
        return bool(self.measures) and are_bounds(self.version, self.storage)


def read_header(file: h5py.File, path: Path, expected: str = FORMAT) -> tuple[Header, Attributes]:
    """Return the header of a file of format *expected*, and all attributes that are texts or ints."""
    facts = read_attributes(file)
    return header_of(facts, path, expected), facts


def header_of(facts: Attributes, path: Path, expected: str = FORMAT) -> Header:
    """Return the header that the attributes of a file of format *expected* make.

    Raise NotADatabase, VersionTooNew, VersionTooOld, or ValueError if an attribute is missing or impossible.
    """
    if facts.get("format") == BOOK != expected:
        raise NotADatabase(
            f"{str(path)!r} is an opening book, which has the first plies alone; what is in it: retrograde info FILE"
        )
    if facts.get("format") != expected:
        raise NotADatabase(f"{str(path)!r} is an HDF5 file, but no database of retrograde")
    version = int_attribute(facts, "format_version", 1)
    if version < OLDEST_VERSION:
        raise VersionTooOld(f"{str(path)!r} has format {version}, which is no longer read; solve the game again")
    if version > VERSION:
        raise VersionTooNew(
            f"the database {str(path)!r} has format version {version}, and this retrograde reads up "
            f"to {VERSION}; install a newer one"
        )
    # Since version 8 a file says how it is stored, and how many words a position has.
    storage, several_words = "", version == TUPLES_VERSION
    if version == VERSION:
        storage = text_attribute(facts, "storage", "|".join(STORAGES))
        several_words = int_attribute(facts, "words", 1, MOST_WORDS) > 1
    # The start's attributes come together, or not at all.
    start: Any = None
    outcome = None
    if facts.keys() & {"start", "start_value", "start_remoteness"}:
        most = POSITION_LIMIT - 1
        start = ints_attribute(facts, "start") if several_words else int_attribute(facts, "start", 0, most)
        outcome = int_attribute(facts, "start_value", 1, 4), int_attribute(facts, "start_remoteness", -1)
    # All other attributes, each checked by itself.
    header = Header(
        version=version,
        game=text_attribute(facts, "game", r"[^:]+"),
        variant=text_attribute(facts, "variant", r"[^:]+(:.+)?"),
        options=object_attribute(facts, "options"),
        rules=text_attribute(facts, "rules", r"[0-9a-f]{32}"),
        metric=text_attribute(facts, "metric"),
        made_with=text_attribute(facts, "made_with"),
        positions=int_attribute(facts, "positions", 1),
        stored=int_attribute(facts, "stored", 1),
        start=start,
        start_outcome=outcome,
        checks=object_attribute(facts, "checks"),
        digest=text_attribute(facts, "digest", r"[0-9a-f]{64}"),
        plies=int_attribute(facts, "plies", 0) if expected == BOOK else None,
        storage=storage,
        **(measure_fields(facts, version, storage, start) if is_measured(facts, version) else {}),
    )
    # Checks of attributes against one another.
    if header.variant.partition(":")[0] != header.game:
        raise ValueError(f"the variant is {header.variant!r}, and the game {header.game!r}")
    metrics = metrics_of(version, storage, bool(header.measures))
    if header.metric not in metrics:
        raise ValueError(f"the metric is {header.metric!r}; known is {' or '.join(map(repr, metrics))}")
    if header.stored > header.positions:
        raise ValueError(f"there are {header.stored:,} records of {header.positions:,} positions")
    return header


def metrics_of(version: int, storage: str, has_measures: bool) -> tuple[str, ...]:
    """Return the metrics that a file of this version and storage may have, with measures in its legend or without."""
    if version == CERTIFICATE_VERSION or storage == "replies":
        return (CERTIFICATE,)
    if not has_measures:
        return (METRIC,)
    # METRICS[0], remoteness, is written as METRIC.
    return (EXPECTATION,) if are_bounds(version, storage) else METRICS[1:]


def are_bounds(version: int, storage: str) -> bool:
    """Return whether the measures of a file of this version and storage are bounds of each slot."""
    return storage == "bounds" if storage else version != MEASURED_VERSION


def is_measured(facts: Attributes, version: int) -> bool:
    """Return whether a file of this version has measures."""
    return version in (MEASURED_VERSION, BOUNDS_VERSION) or (
        version in (TUPLES_VERSION, VERSION) and "measures" in facts
    )


def measure_fields(facts: Attributes, version: int, storage: str, start: object) -> dict[str, Any]:
    """Return the header's fields about measures: names, details, and the start's row or bounds; raise ValueError if
    impossible."""
    names = json.loads(text_attribute(facts, "measures"))
    sound = isinstance(names, list) and all(isinstance(name, str) and MEASURE.fullmatch(name) for name in names)
    all_names = [*LegendRow._fields[:5], *(names if sound else ())]  # of the legend's columns
    if not sound or not 0 < len(names) <= MOST_MEASURES or len(set(all_names)) < len(all_names):
        raise ValueError(f"its attribute measures is {facts['measures']!r:.60}")
    details = object_attribute(facts, "details")
    model = details.get("against", "")
    if "against" in details and (tuple(names) != RESPONSE or not isinstance(model, str) or model != printable(model)):
        raise ValueError(f"it is of a best response to {model!r:.60}, and has not the measures of one")
    fields = {"measures": tuple(names), "details": details}
    if not are_bounds(version, storage):
        return fields if start is None else fields | {"start_row": int_attribute(facts, "start_row", 0)}
    # Bounds by slot: the start's bounds are attributes, and there is no row for it.
    scale = details.get("scale")
    if tuple(names) != RESPONSE[:2] or not isinstance(scale, int) or not 0 < scale <= 1 << 60:
        raise ValueError(f"its bounds are {names!r:.60}, in parts of {scale!r:.60}")
    if start is None:
        return fields
    low, high = (int_attribute(facts, f"start_{name}", -(1 << 61)) for name in names)
    return fields | {"start_bounds": (low, high)}


def text_attribute(facts: Attributes, name: str, pattern: str = ".*") -> str:
    """Return a text attribute that matches *pattern*, without control characters; raise ValueError if it does not."""
    value = facts.get(name)
    has_controls = isinstance(value, str) and (value != printable(value) or "\n" in value)
    if not isinstance(value, str) or has_controls or not re.fullmatch(pattern, value):
        raise ValueError(f"its attribute {name} is {value!r:.60}" if name in facts else f"it has no attribute {name}")
    return value


def int_attribute(facts: Attributes, name: str, least: int, most: int = (1 << 62) - 1) -> int:
    """Return an int attribute from *least* to *most*; raise ValueError if it is none."""
    value = facts.get(name)
    if not isinstance(value, int) or not least <= value <= most:
        raise ValueError(f"its attribute {name} is {value!r:.60}" if name in facts else f"it has no attribute {name}")
    return value


def position_attribute(facts: Attributes, name: str) -> Any:
    """Return a position, stored as an int or as a JSON list of ints; raise ValueError if it is none."""
    is_tuple = isinstance(facts.get(name), str)
    return ints_attribute(facts, name) if is_tuple else int_attribute(facts, name, 0, POSITION_LIMIT - 1)


def ints_attribute(facts: Attributes, name: str) -> tuple[int, ...]:
    """Return a position that is a tuple, stored as a JSON list; raise ValueError if it is none."""
    value = json.loads(text_attribute(facts, name))
    if not isinstance(value, list) or not all(type(one) is int and 0 <= one < POSITION_LIMIT for one in value):
        raise ValueError(f"its attribute {name} is {value!r:.60}")
    return tuple(value)


def object_attribute(facts: Attributes, name: str) -> dict[str, Any]:
    """Return an attribute that is a JSON object; raise ValueError if it is none."""
    value = json.loads(text_attribute(facts, name))
    if not isinstance(value, dict):
        raise ValueError(f"its attribute {name} is {value!r:.60}")
    return value


def read_attributes(file: h5py.File) -> Attributes:
    """Return the known attributes of the root that are ints or texts of fixed length; ignore all others."""
    root = h5py.h5g.open(file.id, b"/")
    if h5py.h5a.get_num_attrs(root) > MOST_ATTRIBUTES:
        raise ValueError(f"it has more than {MOST_ATTRIBUTES} attributes")
    attributes = {}
    for name in (*TEXTS, *NUMBERS):
        if h5py.h5a.exists(root, name.encode()):
            value = read_attribute(h5py.h5a.open(root, name.encode()))
            if value is not None:
                attributes[name] = value
    return attributes


def read_attribute(attribute: h5py.h5a.AttrID) -> str | int | None:
    """Return an attribute that is one int or one text of fixed length; None for any other."""
    kind, space = attribute.get_type(), attribute.get_space()
    if space.get_simple_extent_type() != h5py.h5s.SCALAR or kind.get_size() > LONGEST_TEXT:
        return None
    if kind.get_class() == h5py.h5t.STRING and not kind.is_variable_str():
        content = np.empty((), f"S{kind.get_size()}")
        attribute.read(content, kind)
        return bytes(content.item()).decode()
    if kind.get_class() == h5py.h5t.INTEGER and kind.get_size() <= 8:
        whole = np.empty((), np.int64)
        attribute.read(whole)
        return whole.item()
    return None


def options_text(game: Game) -> str:
    """Return all options of a game as JSON."""
    return json.dumps(asdict(game), sort_keys=True, ensure_ascii=False)  # type: ignore[call-overload]  # a dataclass


def write_attributes(file: h5py.File, attributes: Attributes) -> None:
    """Write ints as 64 bits and texts as UTF-8 of fixed length, so that all lie in the object header."""
    for name, value in attributes.items():
        if isinstance(value, str):
            content = value.encode()
            file.attrs.create(name, np.bytes_(content), dtype=h5py.string_dtype("utf-8", max(len(content), 1)))
        else:
            file.attrs.create(name, np.int64(value))


def check_length(beginning: bytes, length: int) -> None:
    """Raise ValueError if the file is shorter or longer than its superblock says."""
    expected = int.from_bytes(beginning[END_OF_FILE], "little")
    if length != expected:
        raise ValueError(f"it has {length:,} bytes, and says that it has {expected:,}")
