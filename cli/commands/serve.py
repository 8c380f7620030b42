"""`retrograde serve`: a page to play on, and JSON for other programs."""

from collections.abc import Iterator
from contextlib import contextmanager

import click

from retrograde.cli.common import complete_variants
from retrograde.cli.render.known import how_answered, time_option

SECONDS = 3.0


@click.command()
@click.argument("variants", nargs=-1, metavar="[VARIANT…]", shell_complete=complete_variants)
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on.")
@click.option("--port", type=click.IntRange(0, 65535), default=8000, show_default=True, help="0 is any free one.")
@click.option("--allow-host", "allowed", multiple=True, metavar="NAME",
              help="Answer for this name too, as that of a proxy; may be given several times.")  # fmt: skip
@click.option(
    "--allow-solve",
    is_flag=True,
    help="Solve small games on request, and search others, though others can reach the page.",
)
@time_option(SECONDS, "for a move")
@click.option("--open", "to_open", is_flag=True, help="Open the page in the browser.")
def command(
    variants: tuple[str, ...],
    host: str,
    port: int,
    allowed: tuple[str, ...],
    allow_solve: bool,
    seconds: float,
    to_open: bool,
) -> None:
    """Serve a page to play on, and JSON, until Ctrl-C.

    All variants that have databases are served, or those given. Only this machine can reach the page, unless --host
    says otherwise. Needs the extra web: pip install '.[web]' where the sources are.

    Requests are answered for localhost, for --host and for each --allow-host; those for other names are turned away.
    Web pages from elsewhere may read GamesCrafters' and Lichess' APIs, and nothing else.

    The page solves small games on request, unless others can reach it (--host, --allow-host) or VARIANTs are given. A
    game that has no database can be played as well: the computer goes by its book and by its certificate, if there are,
    searches beyond, and tells what it has proved and how.

    \b
    Examples:
      retrograde serve --open
      retrograde serve connect4:4,4 chess:KRK --port 8080
      retrograde serve --allow-host games.example
    """
    from retrograde.games import RetrogradeError

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
            what = f"no database for {name}: {how_answered(oracle)}"
            click.echo(f"{what}; to solve it: retrograde solve {typed(oracle.game)}", err=True)
        with listening_errors(host, port):
            sock.listen()  # only now is the port known to be free
        shown = f"[{host}]" if ":" in host else host

        def listening() -> None:
            click.echo(f"http://{shown}:{true_port}/  (Ctrl-C ends)")
            if to_open:
                open_page(address, true_port)

        try:
            make_server(app, listening).run(sockets=[sock])
        finally:
            app.state.solves.close()
            app.state.library.close()


def open_page(address: str, port: int) -> None:
    """Open the page in the person's browser, which is not waited for; say so where there is none.

    Who listens on all addresses of a machine is found there by the one that stands for itself.
    """
    import threading
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
    """Raise RetrogradeError where a socket cannot be listened on."""
    from retrograde.games import RetrogradeError

    try:
        yield
    except (OSError, UnicodeError) as error:
        why = getattr(error, "strerror", None) or error
        raise RetrogradeError(f"cannot listen on {host} port {port}: {why}; try another --port") from error
