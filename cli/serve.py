"""`retrograde serve`: a page to play on, and JSON for other programs."""

import click

from retrograde.cli.common import complete_variants


@click.command()
@click.argument("variants", nargs=-1, metavar="[VARIANT…]", shell_complete=complete_variants)
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on.")
@click.option("--port", type=click.IntRange(0, 65535), default=8000, show_default=True, help="0 is any free one.")
@click.option("--allow-host", "allowed", multiple=True, metavar="NAME",
              help="Answer for this name too, as that of a proxy; may be given several times.")  # fmt: skip
def command(variants: tuple[str, ...], host: str, port: int, allowed: tuple[str, ...]) -> None:
    """Serve a page to play on, and JSON, until Ctrl-C.

    All variants that have databases are served, or those given. Only this machine can reach the page, unless --host
    says otherwise. Needs the extra: pip install 'retrograde[web]'

    Requests are answered for localhost, for --host, and for each --allow-host, by whatever name this machine is
    reached. Web pages from elsewhere may read GamesCrafters' and Lichess' APIs, and nothing else.

    \b
    Examples:
      retrograde serve
      retrograde serve connect4:4,4 chess:KRK --port 8080
      retrograde serve --host 0.0.0.0 --allow-host games.example
    """
    from retrograde.games import RetrogradeError

    try:
        from retrograde.cli.web.app import make_app
        from retrograde.cli.web.hosts import hosts_of
        from retrograde.cli.web.listen import bound_socket, make_server
    except ModuleNotFoundError as error:
        raise RetrogradeError(f"the page needs {error.name}; get it with: pip install 'retrograde[web]'") from error

    try:
        sock = bound_socket(host, port)
    except (OSError, UnicodeError) as error:
        why = getattr(error, "strerror", None) or error
        raise RetrogradeError(f"cannot listen on {host} port {port}: {why}; try another --port") from error
    with sock:
        address, true_port = sock.getsockname()[:2]
        try:
            hosts = hosts_of(host, address, allowed)
        except ValueError as error:
            raise click.UsageError(str(error), click.get_current_context()) from error
        app = make_app(variants, hosts)
        shown = f"[{host}]" if ":" in host else host
        try:
            listening = lambda: click.echo(f"http://{shown}:{true_port}/  (Ctrl-C ends)")  # noqa: E731
            make_server(app, listening).run(sockets=[sock])
        finally:
            app.state.library.close()
