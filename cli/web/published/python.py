"""Python for the browser: Pyodide's core, from a copy that a person names, and the modules that answer the page.

    python/pyodide.mjs, …      Pyodide's core, as its authors released it; the largest file packed
    python/rules.zip           the sources of games, databases, and whatever the module `browser` imports

A site takes one release of Pyodide only, since its Python and its interfaces change.
"""

import subprocess
import sys
import tarfile
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import IO, cast
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from retrograde import databases, games
from retrograde.cli.web.published import absent
from retrograde.cli.web.published.written import write_packed
from retrograde.games import RetrogradeError

VERSION = "314.0.7"
CORE = {
    "pyodide.mjs": "6f1d60f7bf529beb300f0f47983c921d3982363640ba20af0e38efdddbc66109",
    "pyodide.asm.mjs": "f7cdc8ece80678ceb712f8e65ebe6d3a83203a180c399865f49612a051693635",
    "pyodide.asm.wasm": "cc36e3cab04fdfc9a63ff13eb52eae2b911bf46c025cc7b281f394bd3de1d5e6",
    "python_stdlib.zip": "fa1957e5777068fc4f7437f96d860ae2fbe9c19732ba06c84e004ec16dd7dd7a",
    "pyodide-lock.json": "5dc2fc119108bc148c7457dc86e7675b5c87e1cafd420b9c34c1eaef7b36c010",
}
"""The files of Pyodide's core, and their SHA-256."""
PACKED = "pyodide.asm.wasm"
WHOLE = games, databases
"""Packages whose modules all go to the browser, since rules may import any."""
LOADED = f"""
import sys
sys.path.insert(0, {str(Path(absent.__file__).parent)!r})
import absent
absent.install()
import retrograde.cli.web.published.browser
for name, module in sys.modules.items():
    if name.startswith("retrograde"):
        print(name, module.__file__, sep="\\t")
"""
"""A program that prints the modules that the browser needs, and their files."""

LICENCES = f"""\
This site runs Python in the browser. Its folder python/ holds copies of:

Pyodide {VERSION}, https://github.com/pyodide/pyodide
    Mozilla Public License 2.0, https://www.mozilla.org/MPL/2.0/
CPython 3.14 with its standard library, https://www.python.org, in Pyodide
    Python Software Foundation License 2, https://docs.python.org/3.14/license.html
retrograde (rules.zip), which wrote this site
    MIT License
"""


class NotPyodide(RetrogradeError):
    """The folder or package is not the release of Pyodide that a site needs."""


def core_of(source: Path) -> Iterator[tuple[str, bytes]]:
    """Yield the files of Pyodide's core from a folder or an npm package; raise NotPyodide unless they are as pinned."""
    advice = f"get it with: npm pack pyodide@{VERSION}"
    try:
        for name, digest in CORE.items():
            if source.is_dir():
                content = (source / name).read_bytes()
            else:
                with tarfile.open(source) as package:
                    content = cast(IO[bytes], package.extractfile(f"package/{name}")).read()
            if sha256(content).hexdigest() != digest:
                raise NotPyodide(f"{name} in {str(source)!r} is not that of Pyodide {VERSION}; {advice}")
            yield name, content
    except (OSError, KeyError, tarfile.TarError) as error:
        raise NotPyodide(f"{str(source)!r} is not Pyodide {VERSION} ({error}); {advice}") from error


def write_python(site: Path, source: Path) -> None:
    """Write Python into a site."""
    folder = site / "python"
    folder.mkdir()
    for name, content in core_of(source):
        if name == PACKED:
            write_packed(folder / f"{name}.gz", content)
        else:
            (folder / name).write_bytes(content)
    write_rules(folder / "rules.zip")
    (site / "LICENCES.txt").write_text(LICENCES, encoding="utf-8")


def write_rules(path: Path) -> None:
    """Write the modules that the browser needs, always as the same bytes."""
    with ZipFile(path, "w", ZIP_DEFLATED, compresslevel=9) as zipped:
        for name, file in sorted(sources().items()):
            zipped.writestr(ZipInfo(name), file.read_bytes(), ZIP_DEFLATED)  # a ZipInfo without the file's time


def sources() -> dict[str, Path]:
    """Return the modules that the browser needs: their files by their names in the archive."""
    found = {"absent.py": Path(absent.__file__)}
    for package in WHOLE:
        folder = Path(str(package.__file__)).parent
        inside = package.__name__.replace(".", "/")
        found |= {f"{inside}/{path.relative_to(folder).as_posix()}": path for path in folder.rglob("*.py")}
    command = [sys.executable, "-P", "-c", LOADED]  # -P: import nothing from the folder that a person is in
    for line in subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines():
        name, file = line.split("\t")
        ending = "/__init__.py" if Path(file).name == "__init__.py" else ".py"
        found[name.replace(".", "/") + ending] = Path(file)
    return found
