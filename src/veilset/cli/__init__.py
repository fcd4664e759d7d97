"""The command line: only parsing and showing."""

from veilset.cli.app import main

__all__ = ["main"]
