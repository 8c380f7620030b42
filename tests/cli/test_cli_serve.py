"""`retrograde serve --open`: the page is in the browser once it is served."""

import os
import subprocess
import sys
import time
import webbrowser
from queue import Queue

import pytest

from retrograde.cli.commands.serve import open_page
from tests.helpers.command_line import COMMAND, LATE, environment, retrograde

pytest.importorskip("uvicorn")

BROWSER = """\
import sys, urllib.request
with urllib.request.urlopen(sys.argv[1]) as answer, open("seen.txt", "w") as file:
    file.write(f"{sys.argv[1]} {answer.status}")
"""


@pytest.mark.skipif(os.name == "nt", reason="there the system decides which browser it is")
@pytest.mark.thorough
def test_the_browser_finds_the_page_served(tmp_path):
    (tmp_path / "browser.py").write_text(BROWSER)
    browser = f"{sys.executable} {tmp_path / 'browser.py'} %s"
    serve = [*COMMAND, "serve", "--port", "0", "--open"]
    with subprocess.Popen(
        serve, cwd=tmp_path, env=environment(tmp_path) | {"BROWSER": browser}, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            url = process.stdout.readline().split()[0]
            end = time.monotonic() + LATE
            while not (seen := (tmp_path / "seen.txt")).exists() or not seen.read_text():
                assert time.monotonic() < end
                time.sleep(0.05)
        finally:
            process.terminate()
    assert seen.read_text() == f"{url} 200"


@pytest.mark.parametrize(
    ("address", "url"),
    [
        ("127.0.0.1", "http://127.0.0.1:80/"),
        ("0.0.0.0", "http://127.0.0.1:80/"),
        ("::", "http://[::1]:80/"),
        ("192.0.2.7", "http://192.0.2.7:80/"),
    ],
)
def test_the_address_is_one_that_a_browser_can_open(address, url, monkeypatch):
    asked: Queue[str] = Queue()
    monkeypatch.setattr(webbrowser, "open", lambda url: asked.put(url) or True)
    open_page(address, 80)
    assert asked.get(timeout=LATE) == url


def test_where_there_is_no_browser_it_is_said(monkeypatch, capfd):
    asked: Queue[str] = Queue()

    def fail(url):
        asked.put(url)
        raise webbrowser.Error("could not locate runnable browser")

    monkeypatch.setattr(webbrowser, "open", fail)
    open_page("127.0.0.1", 80)
    asked.get(timeout=LATE)
    said, end = "", time.monotonic() + LATE
    while not said and time.monotonic() < end:
        said = capfd.readouterr().err
    assert said == "no browser was found to open; type in the address: http://127.0.0.1:80/\n"


@pytest.mark.parametrize(
    ("source", "remedy"),
    [("home/nim.h5", "by the variable RETROGRADE_HOME"), ("http://127.0.0.1:9/nim.h5", "retrograde fetch http://127")],
)
def test_a_file_or_an_address_is_not_served(source, remedy):
    said = retrograde("serve", source, status=2).stderr
    assert "serve takes variants, whose databases are in the database folder" in said and remedy in said


def test_a_host_that_is_not_of_this_machine_is_not_a_question_of_the_port():
    said = retrograde("serve", "--host", "nosuchhost.invalid", status=1).stderr
    assert "name a host of this machine with --host" in said and "--port" not in said
