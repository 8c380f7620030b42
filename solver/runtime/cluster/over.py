"""Wraps what a caller gives as an executor: one of Dask's, its client, or any other."""

import sys
from concurrent.futures import Executor
from typing import Any


def executor_over(given: Any) -> Executor:
    """Return an executor for what was given: one of Dask's or its client is wrapped, any other returned."""
    distributed = sys.modules.get("distributed")
    client = getattr(given, "_client", given)
    if distributed is not None and isinstance(client, distributed.Client):
        from retrograde.solver.runtime.cluster.dask import DaskExecutor

        return DaskExecutor(client)
    if not isinstance(given, Executor):
        raise TypeError(f"{given!r} is no executor; give a concurrent.futures.Executor or a dask.distributed.Client")
    return given
