"""The program in C that reads databases, compiled where there are a compiler and the libraries."""

import shutil
import subprocess
from pathlib import Path

from tests.helpers.lacking import lacking
from tests.helpers.paths import ROOT

READER = ROOT / "docs" / "reader.c"
LIBRARIES = (
    "#define H5Dread_chunk_vers 1\n#include <hdf5.h>\n#include <zstd.h>\nint main(void) { return H5open() < 0; }\n"
)


def build(source: Path, program: Path) -> "subprocess.CompletedProcess[str]":
    """Compile a source with the two libraries."""
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if not compiler:
        lacking("there is no compiler for C here")
    asked = ["pkg-config", "--cflags", "--libs", "hdf5"]
    known = subprocess.run(asked, capture_output=True, text=True) if shutil.which("pkg-config") else None
    flags = known.stdout.split() if known and not known.returncode else ["-lhdf5"]
    command = [compiler, "-std=gnu11", "-Wall", "-Wextra", "-Werror", "-O1", "-o", program, source, *flags, "-lzstd"]
    return subprocess.run(list(map(str, command)), capture_output=True, text=True)


def compiled(folder):
    """Return a function that asks the program of a database for positions, and returns its lines."""
    (folder / "libraries.c").write_text(LIBRARIES, encoding="utf-8")
    if build(folder / "libraries.c", folder / "libraries").returncode:
        lacking("libhdf5 or libzstd cannot be compiled against; on Debian: apt-get install libhdf5-dev libzstd-dev")
    built = build(READER, folder / "program")
    assert not built.returncode, built.stderr

    def ask(path, positions):
        lines = "".join(f"{position}\n" for position in positions)
        done = subprocess.run([folder / "program", path], input=lines, capture_output=True, text=True, timeout=60)
        assert not done.returncode, done.stderr
        return done.stdout.splitlines()

    return ask
