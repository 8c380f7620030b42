"""`retrograde serve`: serves a page to play on, and JSON for other programs."""

import errno
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from shlex import quote

import click

from retrograde.cli import options
from retrograde.cli.render.oracles import solve_advice, source_text, time_option
from retrograde.databases.location import SUFFIX
from retrograde.databases.remote import is_address
from retrograde.games import RetrogradeError

SECONDS = 3.0
NOT_OURS = errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT
"""Errors that mean that an address is not one of this machine."""


@click.command()
@click.argument("variants", nargs=-1, metavar="[VARIANT…]", shell_complete=options.complete_variants)
@click.option("--host", metavar="NAME", default="127.0.0.1", show_default=True, help="The address to listen on.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    metavar="N",
    default=8000,
    show_default=True,
    help="The port; 0 for any free one.",
)
@click.option("--allow-host", "allowed", multiple=True, metavar="NAME",
              help="Also answer for this host name, such as that of a proxy; may be repeated.")  # fmt: skip
@click.option(
    "--allow-solve",
    is_flag=True,
    help="Solve small games on request, and search others, even if other machines can reach the page.",
)
@time_option(SECONDS, "for a move")
@click.option("--open", "to_open", is_flag=True, help="Open the page in the browser.")
def command(
    variants: tuple[str, ...], host: str, port: int, allowed: tuple[str, ...], allow_solve: bool, seconds: float,
    to_open: bool,
) -> None:  # fmt: skip
    """Serve a page to play on, and JSON, until Ctrl-C.

    The server offers the given VARIANTs, or all that have databases. Only this machine can reach the page, unless you
    pass --host. Needs the extra web: pip install '.[web]' in the folder of the sources.

    The server answers requests for the host names localhost, --host and each --allow-host, and refuses all others. Web
    pages of other sites may read the APIs of GamesCrafters and Lichess, and nothing else.

    The page solves small games on request, unless other machines can reach it (--host, --allow-host) or VARIANTs are
    given. You can also play games without a database: the computer looks into the game's book and certificate, searches
    if these do not have the position, and shows the source of each answer.

    \b
    Examples:
      retrograde serve --open
      retrograde serve connect4:4,4 chess:KRK --port 8080
      retrograde serve --allow-host games.example
    """
    for text in variants:
        if text.endswith(SUFFIX) or is_address(text):
            remedy = "name the variant, and the folder of its database by the variable RETROGRADE_HOME"
            remedy = f"first fetch it with: retrograde fetch {quote(text)}" if is_address(text) else remedy
            what = f"serve takes variants, whose databases are in the database folder, not {text!r}; {remedy}"
            raise click.UsageError(what, click.get_current_context())
    try:
        from retrograde.cli.web.app import make_app
        from retrograde.cli.web.hosts import hosts_of
        from retrograde.cli.web.listen import bound_socket, make_server
    except ModuleNotFoundError as error:
        raise RetrogradeError(f"the page needs {error.name}; get it with: pip install fastapi uvicorn") from error

    with listening_errors(host, port):
        sock = bound_socket(host, port)
    with sock:
        address, true_port = sock.getsockname()[:2]
        try:
            hosts = hosts_of(host, address, allowed)
        except ValueError as error:
            raise click.UsageError(str(error), click.get_current_context()) from error
        app = make_app(variants, hosts, allow_solve, seconds)
        from retrograde.games.catalog import typed

        for name, oracle in app.state.library.searched.items():
            advice = solve_advice(oracle.game, f"retrograde solve {typed(oracle.game)}")
            click.echo(f"no database for {name}: {source_text(oracle)}{advice}", err=True)
        with listening_errors(host, port):
            sock.listen()  # only this shows that the port is free
        host_in_url = f"[{host}]" if ":" in host else host

        def listening() -> None:
            click.echo(f"http://{host_in_url}:{true_port}/  (Ctrl-C ends)")
            if to_open:
                open_page(address, true_port)

        try:
            make_server(app, listening).run(sockets=[sock])
        finally:
            app.state.solves.close()
            app.state.library.close()


def open_page(address: str, port: int) -> None:
    """Open the page in the user's browser, or print the address if there is none; the loopback for all addresses."""
    import webbrowser

    itself = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(address, address)
    url = f"http://{f'[{itself}]' if ':' in itself else itself}:{port}/"

    def show() -> None:
        try:
            shown = webbrowser.open(url)
        except (webbrowser.Error, OSError):
            shown = False
        if not shown:
            click.echo(f"no browser was found to open; type in the address: {url}", err=True)

    threading.Thread(target=show, daemon=True).start()


@contextmanager
def listening_errors(host: str, port: int) -> Iterator[None]:
    """Raise RetrogradeError if the server cannot listen on a socket."""
    try:
        yield
    except (OSError, UnicodeError) as error:
        why = getattr(error, "strerror", None) or error
        is_of_host = isinstance(error, socket.gaierror | UnicodeError) or getattr(error, "errno", 0) in NOT_OURS
        remedy = "name a host of this machine with --host" if is_of_host else "try another --port"
        raise RetrogradeError(f"cannot listen on {host} port {port}: {why}; {remedy}") from error
