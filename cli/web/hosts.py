"""The host names that the server answers for.

A browser sends the host name of the address in the header `Host`. A page from elsewhere may point its own name to this
machine after it is loaded ("DNS rebinding"), and then read our answers as if they were its own. The header still has
its name. So the server answers only for names that nobody else can have: those of the loopback, the one it listens on,
and those that the user allows. Numeric addresses cannot be rebound.
"""

import re
import socket
from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_address

HOST = re.compile(r"(\[[0-9a-f:.]+(?:%[^\[\]/\\]*)?\]|[^\s:/\\?#@\[\]]+)(?::[0-9]*)?", re.IGNORECASE | re.ASCII)


@dataclass(frozen=True)
class Hosts:
    """The names to answer for besides the loopback's, in lower case, and the address that the server listens on."""

    names: frozenset[str] = frozenset()
    address: str = "127.0.0.1"

    def include(self, header: str) -> bool:
        """Return whether a request with this header `Host` is for us.

        >>> hosts = Hosts(frozenset({"games.example"}))
        >>> [hosts.include(header) for header in ("localhost:8000", "[::1]", "Games.Example.", "other.example")]
        [True, True, True, False]
        >>> Hosts(address="0.0.0.0").include("192.0.2.7:8000"), Hosts(address="127.0.0.1").include("192.0.2.7:8000")
        (True, False)
        """
        name = host_of(header)
        if name is None:
            return False
        address = address_of(name)
        if address is None:
            return name == "localhost" or name in self.names
        bound = address_of(self.address)
        is_bound = bound is not None and (bound.is_unspecified or address == bound)
        return is_bound or address.is_loopback or name in self.names

    @property
    def are_open(self) -> bool:
        """Whether the server answers for more than this machine's own names, so that other machines can reach it.

        >>> Hosts().are_open, hosts_of("localhost", "127.0.0.1").are_open, hosts_of("::1", "::1").are_open
        (False, False, False)
        >>> hosts_of("0.0.0.0", "0.0.0.0").are_open, hosts_of("127.0.0.1", "127.0.0.1", ["games.example"]).are_open
        (True, True)
        """
        return not all(map(is_own, (self.address, *self.names)))


def hosts_of(host: str, address: str, allowed: Sequence[str] = ()) -> Hosts:
    """Return the hosts of a server: *host* as the user wrote it, its address, and further names, each checked.

    If the server listens on all addresses, the machine's own name is added. Raise ValueError for an invalid name.
    """
    names = {checked_name(name) for name in (host, *allowed)}
    bound = address_of(address)
    if bound is not None and bound.is_unspecified:
        own = socket.gethostname().lower()
        names |= {own, f"{own}.local"}
    return Hosts(frozenset(names), address)


def checked_name(text: str) -> str:
    """Return a host name as the user wrote it; raise ValueError if it is invalid.

    >>> checked_name("Games.Example"), checked_name("::1")
    ('games.example', '::1')
    """
    name = host_of(f"[{text}]" if text.count(":") > 1 and not text.startswith("[") else text)
    if name is None:
        raise ValueError(f"no host {text!r}; give a name, or an address in numbers")
    return name


def is_own(name: str) -> bool:
    """Return whether a name or address leads every machine to itself."""
    address = address_of(name)
    return name == "localhost" if address is None else address.is_loopback


def host_of(header: str) -> str | None:
    """Return the name or address in a header `Host`, in lower case and without the port, or None.

    >>> host_of("LocalHost:8000"), host_of("[::1]:8000"), host_of("a b"), host_of("")
    ('localhost', '::1', None, None)
    """
    match = HOST.fullmatch(header)
    return match[1].lower().strip("[]").removesuffix(".") or None if match else None


def address_of(name: str) -> IPv4Address | IPv6Address | None:
    """Return a numeric address without its zone; None for any other name."""
    try:
        return ip_address(name.partition("%")[0])
    except ValueError:
        return None
