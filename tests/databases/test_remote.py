"""Databases by their address: read from a host of files, kept on disk, fetched whole."""

import os
import shutil
import threading
from functools import partialmethod
from http.server import BaseHTTPRequestHandler

import h5py
import pytest

import retrograde as package
from retrograde.databases import NoDatabase, NotADatabase, remote
from retrograde.databases.remote import Unreachable
from tests.databases.test_plain import compare, positions_of
from tests.helpers.command_line import retrograde
from tests.helpers.hosting import Handler, Host

pytestmark = pytest.mark.long
pytest.importorskip("aiohttp", reason="addresses need the extra remote")


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("RETROGRADE_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


@pytest.fixture
def host(tmp_path, solved, home):
    (tmp_path / "host").mkdir()
    for variant in ("connect4:4,4", "chess:KRK", "chess:KK"):
        shutil.copy(solved(variant), tmp_path / "host")
    with Host(tmp_path / "host") as host:
        yield host


CONNECT = "connect4,width=4,height=4.h5"


def test_a_database_is_read_in_parts_and_these_are_kept(host, home, solved, monkeypatch):
    monkeypatch.setattr(remote, "BLOCK", 1 << 12)
    with package.open(solved("connect4:4,4")) as usual, package.open(f"{host.url}/{CONNECT}") as other:
        positions = positions_of(usual.database, 60)
        assert str(other.database.file.path) == f"{host.url}/{CONNECT}"
        compare(usual.database, other.database, positions)
    assert len(host.asked) > 4
    fetched = len(host.asked)
    with package.open(f"{host.url}/{CONNECT}") as again:
        assert [again.database.get(position) for position in positions[:60]]
    assert not [one for one in host.asked[fetched:] if one.startswith("GET")]  # only the version is asked for
    # A block that has changed on disk is fetched again.
    for block in home.glob(".remote/*/*"):
        content = bytearray(block.read_bytes())
        content[len(content) // 2] ^= 1
        block.write_bytes(content)
    with package.open(f"{host.url}/{CONNECT}") as again, package.open(solved("connect4:4,4")) as usual:
        compare(usual.database, again.database, positions[:20])
    assert [one for one in host.asked[fetched:] if one.startswith("GET")]


def test_no_thread_collects_garbage_of_h5py_while_this_one_waits_for_bytes(host, monkeypatch):
    """It would wait for the lock that this thread holds, and this thread for its bytes."""
    waited = []
    with package.open(f"{host.url}/{CONNECT}") as solution:
        file = solution.database.file._remote
        fetch = file.files.cat_file

        def fetch_while_another_thread_allocates(*args, **options):
            cycle = [h5py.h5s.create_simple((1,))]
            cycle.append(cycle)
            del cycle
            other = threading.Thread(target=lambda: [[] for _ in range(100_000)], daemon=True)
            other.start()
            other.join(20)
            waited.append(other.is_alive())
            return fetch(*args, **options)

        monkeypatch.setattr(file.files, "cat_file", fetch_while_another_thread_allocates)
        shutil.rmtree(file.folder)
        file.blocks.clear()
        solution.database.file.check()
    assert waited and not any(waited)


def test_a_database_that_has_changed_is_read_anew(host, tmp_path, solved, home):
    with package.open(f"{host.url}/{CONNECT}") as solution:
        assert solution.variant == "connect4:width=4,height=4"
    shutil.copy(solved("tictactoe"), tmp_path / "host" / CONNECT)
    os.utime(tmp_path / "host" / CONNECT, (10**9, 10**9))
    with package.open(f"{host.url}/{CONNECT}") as solution:
        assert solution.variant == "tictactoe"


def test_buckets_are_read(tmp_path, host, monkeypatch):
    pytest.importorskip("s3fs", reason="s3: needs the extra remote")
    for name, value in (("ENDPOINT_URL", host.url), ("ACCESS_KEY_ID", "a"), ("SECRET_ACCESS_KEY", "b")):
        monkeypatch.setenv(f"AWS_{name}", value)
    (tmp_path / "host" / "bucket").mkdir()
    (tmp_path / "host" / CONNECT).rename(tmp_path / "host" / "bucket" / CONNECT)
    with package.open(f"s3://bucket/{CONNECT}") as solution:
        assert solution.value(solution.start).remoteness == 16


@pytest.mark.parametrize("ranges", [True, False])
def test_an_ending_finds_the_others_beside_it(tmp_path, host, solved, ranges):
    host.server.ranges = ranges
    with package.open(solved("chess:KRK")) as usual, package.open(f"{host.url}/chess,KRK.h5") as other:
        position = usual.game.read("8/8/8/8/8/2k5/1R6/K7 b")
        assert other.moves(position) == usual.moves(position)  # one of which takes the rook
        assert other.line(position) == usual.line(position)


def test_commands_take_addresses(host):
    address = f"{host.url}/{CONNECT}"
    assert retrograde("query", address, "--json").stdout.startswith('{"variant": "connect4:width=4,height=4"')
    assert address in retrograde("info", address, "--json").stdout
    assert "\n16. " in retrograde("play", address, "--first", "perfect", "--second", "perfect").stdout


def test_fetch_checks_what_it_puts_into_the_home(host, home, tmp_path, solved):
    said = retrograde("fetch", f"{host.url}/{CONNECT}").stdout
    assert said == f"{home / CONNECT}: connect4:width=4,height=4, 161,029 positions, whole\n"
    assert (home / CONNECT).read_bytes() == solved("connect4:4,4").read_bytes()
    assert "exists; to replace it" in retrograde("fetch", f"{host.url}/{CONNECT}", status=1).output
    content = bytearray((home / CONNECT).read_bytes())
    content[len(content) // 2] ^= 1
    (tmp_path / "host" / "other.h5").write_bytes(content)
    (home / CONNECT).unlink()
    told = retrograde("fetch", f"{host.url}/other.h5", status=1).output
    assert f"{host.url}/other.h5" in told and "is damaged" in told and ".part" not in told
    assert [path.name for path in home.iterdir()] == []
    assert "is no address of a database" in retrograde("fetch", "nim.h5", status=1).output


def test_what_is_wrong_is_said(host, tmp_path, home, monkeypatch):
    with pytest.raises(NoDatabase, match="the server has no such file"):
        package.open(f"{host.url}/nim.h5")
    (tmp_path / "host" / "page.h5").write_text("<html>")
    with pytest.raises(NotADatabase, match="is no database of retrograde"):
        package.open(f"{host.url}/page.h5")
    with package.open(f"{host.url}/chess,KRK.h5") as solution:
        shutil.rmtree(home / ".remote")
        solution.database.file._remote.blocks.clear()

        def fail(*_, **__):
            raise TimeoutError("the line is down")

        monkeypatch.setattr(solution.database.file._remote.files, "cat_file", fail)
        with pytest.raises(Unreachable, match=r"cannot read 'http.*KRK.h5': the line is down; try again later"):
            solution.database.file.check()
    with pytest.raises(NoDatabase, match="or does not answer"):
        package.open("http://127.0.0.1:9/a.h5")


@pytest.mark.parametrize("status", [401, 403, 500, 503])
def test_a_server_that_refuses_a_file_is_told_by_its_status(status, host, home, monkeypatch):
    refuse = partialmethod(BaseHTTPRequestHandler.send_error, status)
    for method in ("do_GET", "do_HEAD"):
        monkeypatch.setattr(Handler, method, refuse)
    for command in (["fetch"], ["query"]):
        said = retrograde(*command, f"{host.url}/{CONNECT}", status=1).stderr
        assert f"the server refuses it, with status {status}" in said
