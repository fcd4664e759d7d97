"""The command line: only parsing and showing. One command, one file."""

from veilset.cli.app import app, main
from veilset.cli.apply import apply
from veilset.cli.audit import audit
from veilset.cli.demo import demo
from veilset.cli.generate import generate
from veilset.cli.join import join
from veilset.cli.join_parties import keygen, log, party, revoke
from veilset.cli.mine import mine
from veilset.cli.publish import publish
from veilset.cli.search import search
from veilset.cli.search_evaluate import evaluate
from veilset.cli.search_expose import expose
from veilset.cli.search_forget import forget
from veilset.cli.search_profile import profile
from veilset.cli.search_query import query
from veilset.cli.search_serve import serve, wrapper
from veilset.cli.sensitive import sensitive
from veilset.cli.taxonomy import taxonomy
from veilset.cli.verify import verify

__all__ = [
    "app",
    "apply",
    "audit",
    "demo",
    "evaluate",
    "expose",
    "forget",
    "generate",
    "join",
    "keygen",
    "log",
    "main",
    "mine",
    "party",
    "profile",
    "publish",
    "query",
    "revoke",
    "search",
    "sensitive",
    "serve",
    "taxonomy",
    "verify",
    "wrapper",
]
