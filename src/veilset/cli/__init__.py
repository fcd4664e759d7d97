"""The command line: only parsing and showing. One command, one file."""

from veilset.cli.app import app, main
from veilset.cli.apply import apply
from veilset.cli.audit import audit
from veilset.cli.demo import demo
from veilset.cli.generate import generate
from veilset.cli.join import join
from veilset.cli.mine import mine
from veilset.cli.publish import publish
from veilset.cli.sensitive import sensitive
from veilset.cli.taxonomy import taxonomy
from veilset.cli.verify import verify

__all__ = [
    "app",
    "apply",
    "audit",
    "demo",
    "generate",
    "join",
    "main",
    "mine",
    "publish",
    "sensitive",
    "taxonomy",
    "verify",
]
