"""Runs a notebook, and writes it with its outputs: python -m tests.helpers.notebook docs/notebook.ipynb NEW."""

import json
import sys
from pathlib import Path

SHOWN = ("text/html", "image/svg+xml", "text/plain")
"""What a notebook shows of a result, the first of them that there is."""


def with_outputs(notebook: dict) -> dict:
    """Run the cells of a notebook in IPython; return it with what they print and show."""
    from IPython.core.interactiveshell import InteractiveShell
    from IPython.utils.capture import capture_output

    shell = InteractiveShell.instance()
    cells = []
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            with capture_output() as captured:
                result = shell.run_cell("".join(cell["source"]), store_history=True)
            result.raise_error()
            cell = {
                **cell,
                "execution_count": result.execution_count,
                "outputs": list(outputs(captured, result, shell)),
            }
        cells.append(cell)
    return {**notebook, "cells": cells}


def outputs(captured, result, shell):
    """Yield what a cell has printed and what it returns, as notebooks keep them."""
    if captured.stderr:
        raise RuntimeError(captured.stderr)
    printed = captured.stdout if result.result is None else captured.stdout.partition("Out[")[0].rstrip("\n")
    if printed:
        yield {"name": "stdout", "output_type": "stream", "text": printed.splitlines(keepends=True)}
    if result.result is not None:
        found, _ = shell.display_formatter.format(result.result)
        kind = next(kind for kind in SHOWN if kind in found)
        data = {kind: found[kind].splitlines(keepends=True)}
        count = result.execution_count
        yield {"data": data, "execution_count": count, "metadata": {}, "output_type": "execute_result"}


if __name__ == "__main__":
    source, target = map(Path, sys.argv[1:])
    text = json.dumps(with_outputs(json.loads(source.read_text("utf-8"))), indent=1, ensure_ascii=False, sort_keys=True)
    target.write_text(text + "\n", encoding="utf-8")
