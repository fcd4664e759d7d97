"""Which addresses are public: those of other people's machines on the internet, and nothing else.

Protects the machine and its network from results that point inwards: at a router, a printer, a database without a
password, the metadata service of a cloud. What is not known to be public is refused.
"""

from __future__ import annotations

import socket
from collections.abc import Callable, Sequence
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

from veilset.errors import VeilsetError

Address = IPv4Address | IPv6Address
Resolve = Callable[[str, int], Sequence[str]]
"""The addresses of a host at a port."""

# The special-purpose registries of IANA, which Python's `is_global` follows only in its later versions.
_NOT_PUBLIC = [
    IPv4Network(block)
    for block in (
        "0.0.0.0/8",
        "10.0.0.0/8",
        "100.64.0.0/10",  # carriers' NAT; some clouds keep services there
        "127.0.0.0/8",
        "169.254.0.0/16",  # link-local, and the metadata of most clouds
        "172.16.0.0/12",
        "192.0.0.0/24",
        "192.0.2.0/24",
        "192.31.196.0/24",
        "192.52.193.0/24",
        "192.88.99.0/24",  # relays of 6to4
        "192.168.0.0/16",
        "192.175.48.0/24",
        "198.18.0.0/15",
        "198.51.100.0/24",
        "203.0.113.0/24",
        "224.0.0.0/3",  # multicast, reserved, broadcast
    )
]
_PUBLIC_6 = IPv6Network("2000::/3")  # all that is assigned; IPv4-mapped addresses, NAT64, local ones lie outside
_NOT_PUBLIC_6 = [
    IPv6Network(block)
    for block in (
        "2001::/23",  # Teredo (which holds an IPv4 address), ORCHID, benchmarking
        "2001:db8::/32",
        "2002::/16",  # 6to4, which holds an IPv4 address
        "2620:4f:8000::/48",
        "3fff::/20",
    )
]


class NotPublic(VeilsetError):
    """An address that is not one of the public internet, so that it is not asked."""


def is_public(address: Address) -> bool:
    """Whether an address is one of the public internet.

    >>> [is_public(ip_address(text)) for text in ("1.1.1.1", "10.0.0.1", "::ffff:1.1.1.1", "2606:4700::1111")]
    [True, False, False, True]
    """
    if isinstance(address, IPv4Address):
        return not any(address in block for block in _NOT_PUBLIC) and address.is_global
    if address.scope_id is not None or address not in _PUBLIC_6:
        return False
    return not any(address in block for block in _NOT_PUBLIC_6) and address.is_global


def public_addresses(host: str, port: int, resolve: Resolve) -> list[str]:
    """The addresses of a host; an error if only one of them is not public: whoever names it may mean that one."""
    found = [ip_address(text) for text in resolve(host, port)]
    inner = [str(address) for address in found if not is_public(address)]
    if inner or not found:
        why = f"has the address {inner[0]}, which is not public" if inner else "has no address"
        raise NotPublic(f"{host!r} {why}.", "Only pages on the public internet are fetched.")
    return [str(address) for address in found]


def resolved(host: str, port: int) -> list[str]:
    """The addresses of a host, as the system finds them, in its order."""
    entries = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(entry[4][0]) for entry in entries))
