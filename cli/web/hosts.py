"""The hosts that the server answers for.

A browser sends in the header `Host` the name that stands in the address. A page from elsewhere may let its own name
point to this machine after it has been loaded ("DNS rebinding"), and would then read what is served as if it were its
own; the header still tells its name. So only names are answered that nobody else can have: those of the loopback, the
one that was listened to, and those that a person allows. An address in numbers cannot be rebound.
"""

import re
import socket
from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_address

HOST = re.compile(r"(\[[0-9a-f:.]+(?:%[^\[\]/\\]*)?\]|[^\s:/\\?#@\[\]]+)(?::[0-9]*)?", re.IGNORECASE | re.ASCII)


@dataclass(frozen=True)
class Hosts:
    """The names to answer for beside the loopback's, in small letters, and the address that is listened to."""

    names: frozenset[str] = frozenset()
    address: str = "127.0.0.1"

    def include(self, header: str) -> bool:
        """Tell whether a request with such a header `Host` is meant for us.

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
        known = bound is not None and (bound.is_unspecified or address == bound)
        return known or address.is_loopback or name in self.names

    @property
    def are_open(self) -> bool:
        """Whether more than this machine's own names and addresses are answered for, so that others may ask.

        >>> Hosts().are_open, hosts_of("localhost", "127.0.0.1").are_open, hosts_of("::1", "::1").are_open
        (False, False, False)
        >>> hosts_of("0.0.0.0", "0.0.0.0").are_open, hosts_of("127.0.0.1", "127.0.0.1", ["games.example"]).are_open
        (True, True)
        """
        return not all(map(is_own, (self.address, *self.names)))


def hosts_of(host: str, address: str, allowed: Sequence[str] = ()) -> Hosts:
    """Return the hosts of a server: *host* as a person said it, the address that came of it, and more names.

    Where all addresses of the machine are listened to, its own name is one more. Raises ValueError where one is none.
    """
    names = {checked_name(name) for name in (host, *allowed)}
    bound = address_of(address)
    if bound is not None and bound.is_unspecified:
        own = socket.gethostname().lower()
        names |= {own, f"{own}.local"}
    return Hosts(frozenset(names), address)


def checked_name(text: str) -> str:
    """Return the name of a host as a person says it; raise ValueError where it is none.

    >>> checked_name("Games.Example"), checked_name("::1")
    ('games.example', '::1')
    """
    name = host_of(f"[{text}]" if text.count(":") > 1 and not text.startswith("[") else text)
    if name is None:
        raise ValueError(f"no host {text!r}; give a name, or an address in numbers")
    return name


def is_own(name: str) -> bool:
    """Tell whether a name or an address is one that leads every machine to itself."""
    address = address_of(name)
    return name == "localhost" if address is None else address.is_loopback


def host_of(header: str) -> str | None:
    """Return the name or the address in a header `Host`, in small letters and without a port; None where there is none.

    >>> host_of("LocalHost:8000"), host_of("[::1]:8000"), host_of("a b"), host_of("")
    ('localhost', '::1', None, None)
    """
    match = HOST.fullmatch(header)
    return match[1].lower().strip("[]").removesuffix(".") or None if match else None


def address_of(name: str) -> IPv4Address | IPv6Address | None:
    """Return the address that is written in numbers, without its zone; None for any other name."""
    try:
        return ip_address(name.partition("%")[0])
    except ValueError:
        return None
