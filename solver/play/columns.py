"""Columns of positions for data-frame libraries: a value is a category, and a missing remoteness is null.

Nothing here is imported unless the person has the library and asks for it.
"""

from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from retrograde.games.contract.game import RetrogradeError, Value

NAMES = ("tier", "position", "value", "remoteness")
"""The names of the columns."""
CATEGORIES = [value.name.lower() for value in Value if value]
"""The names of values, from worst to best: the category `value` - 1."""

Columns = dict[str, NDArray[Any]]
"""Arrays by the names of the columns: values are numbers of `Value`, a missing remoteness is -1."""


class NoLibrary(RetrogradeError, ImportError):
    """A library that was asked for is not installed."""


def import_library(library: str) -> Any:
    """Import a library; raise NoLibrary if it is not installed."""
    try:
        return import_module(library)
    except ModuleNotFoundError as error:
        raise NoLibrary(f"{library} is not installed; get it with: pip install {library}") from error


def pandas_frame(columns: Columns) -> Any:
    """Return a data frame of pandas. Values are an ordered Categorical, and remoteness is a nullable Int32."""
    pandas = import_library("pandas")
    remoteness = columns["remoteness"]
    return pandas.DataFrame(
        {
            "tier": columns["tier"],
            "position": one_dimensional(columns["position"]),
            "value": pandas.Categorical.from_codes(columns["value"].astype(np.int8) - 1, CATEGORIES, ordered=True),
            "remoteness": pandas.arrays.IntegerArray(remoteness, remoteness < 0),
        }
    )


def polars_frame(columns: Columns) -> Any:
    """Return a data frame of polars. Values are an Enum, from worst to best, and a missing remoteness is null."""
    polars = import_library("polars")
    names = polars.Series([None, *CATEGORIES], dtype=polars.Enum(CATEGORIES))
    remoteness = polars.col("remoteness")
    frame = polars.DataFrame({**columns, "position": one_dimensional(columns["position"])})
    return frame.with_columns(
        value=names.gather(columns["value"]), remoteness=polars.when(remoteness >= 0).then(remoteness)
    )


def one_dimensional(positions: NDArray[Any]) -> Any:
    """Return positions as a column: an array of ints, or a list of tuples."""
    return positions if positions.ndim == 1 else positions.tolist()


def arrow_schema(of_tuples: bool) -> Any:
    """Return the schema of Arrow tables; *of_tuples* if positions are tuples."""
    arrow = import_library("pyarrow")
    position = arrow.list_(arrow.int64()) if of_tuples else arrow.int64()
    kinds = (arrow.int64(), position, arrow_categories(), arrow.int32())
    return arrow.schema(list(zip(NAMES, kinds, strict=True)))


def arrow_batch(columns: Columns, schema: Any) -> Any:
    """Return columns as a record batch of Arrow."""
    arrow = import_library("pyarrow")
    remoteness, positions = columns["remoteness"], one_dimensional(columns["position"])
    arrays = [columns["tier"], positions, arrow_values(columns["value"]), arrow.array(remoteness, mask=remoteness < 0)]
    return arrow.record_batch(arrays, schema=schema)


def arrow_categories() -> Any:
    """Return Arrow's type of values: an ordered dictionary of names."""
    arrow = import_library("pyarrow")
    return arrow.dictionary(arrow.int8(), arrow.string(), ordered=True)


def arrow_values(values: NDArray[Any]) -> Any:
    """Return values as an array of Arrow's type of values; UNDECIDED is null."""
    arrow = import_library("pyarrow")
    codes = arrow.array(values.astype(np.int8) - 1, mask=values == Value.UNDECIDED)
    return arrow.DictionaryArray.from_arrays(codes, arrow.array(CATEGORIES), ordered=True)
