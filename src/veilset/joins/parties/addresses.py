"""Addresses of parties: a host and a port in one text."""

from __future__ import annotations

import re

from veilset.errors import InvalidArgument

_ADDRESS = re.compile(r"(?:\[([0-9A-Fa-f:.%\w]+)\]|([^\s:\[\]/@]+)):([0-9]{1,5})", re.ASCII)
_LARGEST_PORT = 65535


def split_address(address: str) -> tuple[str, int]:
    """Host and port of an address.

    >>> split_address("clinic.example:7001"), split_address("[::1]:7001")
    (('clinic.example', 7001), ('::1', 7001))
    """
    match = _ADDRESS.fullmatch(address)
    if match is None or int(match[3]) > _LARGEST_PORT:
        raise InvalidArgument(
            f"{address!r} is not an address.", "Write host and port, such as clinic.example:7001 or [2001:db8::1]:7001."
        )
    return match[1] or match[2], int(match[3])


def joined_address(host: str, port: int) -> str:
    """Host and port in one text.

    >>> joined_address("::1", 7001)
    '[::1]:7001'
    """
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
