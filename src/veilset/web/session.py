"""Who may use a page: whoever opened the address that was printed in the terminal.

The address holds a secret. Opening it sets a cookie, and leads to the page. Cookies do not know ports: a browser would
send this one to any program that listens on this machine. So the page lies in a folder with a random name, and the
cookie is for this folder only.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field
from functools import partial
from hmac import compare_digest

HOST = "127.0.0.1"
_secret = partial(secrets.token_urlsafe, 32)


@dataclass(frozen=True)
class Session:
    """The secrets of one run.

    Parameters
    ----------
    port : int
        Where the page is served.
    """

    port: int
    token: str = field(default_factory=_secret, repr=False)
    cookie_value: str = field(default_factory=_secret, repr=False)
    csrf: str = field(default_factory=_secret, repr=False)
    folder: str = field(default_factory=lambda: f"/{secrets.token_hex(8)}/", repr=False)

    @property
    def host(self) -> str:
        """The only name that requests may use. Another one means that somebody else's name leads to this machine."""
        return f"{HOST}:{self.port}"

    @property
    def origin(self) -> str:
        """Where our own page comes from, as browsers write it."""
        return f"http://{self.host}"

    @property
    def address(self) -> str:
        """What to open: the only address that works without the cookie."""
        return f"{self.origin}/open?token={self.token}"

    @property
    def cookie(self) -> str:
        """The cookie as it is set: no script can read it, and no other site can make a browser send it."""
        return f"{self._cookie_name}={self.cookie_value}; Path={self.folder}; HttpOnly; SameSite=Strict"

    @property
    def _cookie_name(self) -> str:
        return f"veilset-{self.port}"

    def opens(self, token: str) -> bool:
        """Whether this is the secret of the printed address."""
        return compare_digest(token.encode(), self.token.encode())

    def knows(self, cookies: str) -> bool:
        """Whether a Cookie header has our cookie."""
        expected = f"{self._cookie_name}={self.cookie_value}".encode()
        return any(compare_digest(pair.strip().encode(), expected) for pair in cookies.split(";"))

    def sent(self, csrf: str) -> bool:
        """Whether a form came from our own page."""
        return compare_digest(csrf.encode(), self.csrf.encode())
