"""``veilset search``: personalised search with a profile that stays at home."""

from __future__ import annotations

import os
import sys
from getpass import getpass
from pathlib import Path
from typing import Annotated

from cyclopts import App, Parameter

from veilset.cli.app import app
from veilset.errors import InvalidArgument, UnreadableInput
from veilset.search.homes import expanded
from veilset.search.store import Store

search = App(name="search", help="Search with a profile that stays at home; choose what leaves it.", sort_key=7.6)
app.command(search)

StoreFile = Annotated[
    Path | None,
    Parameter(name="--store", help="File with the profile. Default: veilset/search.db in your data folder."),
]
PassphraseFile = Annotated[
    Path | None,
    Parameter(help="File whose first line is the passphrase. Without it, the terminal asks for one if needed."),
]


def store_path(given: Path | None) -> Path:
    """Where the profile is: what was given, or the place that the desktop's conventions name."""
    if given is not None:
        return given
    data = os.environ.get("XDG_DATA_HOME") or "~/.local/share"
    return expanded(data) / "veilset" / "search.db"


def opened_store(given: Path | None, passphrase_file: Path | None = None) -> Store:
    """The store that a command works on; its passphrase is asked for if it has one and no file does."""
    path = store_path(given)
    if passphrase_file is not None:
        return Store.open(path, passphrase=read_passphrase(passphrase_file))
    if Store.is_sealed(path):
        return Store.open(path, passphrase=asked_passphrase(f"Passphrase of {path}: "))
    return Store.open(path)


def asked_passphrase(prompt: str) -> str:
    """What somebody types at the terminal, unseen."""
    if not sys.stdin.isatty():
        raise InvalidArgument("A passphrase is needed, and there is no terminal to ask.", "Use --passphrase-file FILE.")
    return getpass(prompt)


def read_passphrase(path: Path) -> str:
    """The first line of a file."""
    try:
        with path.open(encoding="utf-8") as file:
            passphrase = file.readline().rstrip("\r\n")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise UnreadableInput(f"{str(path)!r} cannot be read: {reason}.", "Check --passphrase-file.") from None
    if not passphrase:
        raise InvalidArgument(f"The first line of {str(path)!r} is empty.", "Write the passphrase there.")
    return passphrase
