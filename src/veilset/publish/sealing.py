"""What may be said in public of a promise: all of it, or, where the promise is itself the secret, a seal.

A list of hidden patterns would tell what it hides. Instead of it the certificate has a commitment, an HMAC of the
promise under a key from the recipe's secret seed: it says nothing to anybody without the seed, and the custodian cannot
exchange the list afterwards. It is as secret as the seed: who can guess that can try patterns out.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from dataclasses import replace

from veilset.models import Audit, Promise, Sealed
from veilset.transactions import Counted


def public_promise(promise: Promise, data: Counted, seed: str) -> Promise:
    """The promise as a certificate about *data* says it; *seed* is the recipe's.

    >>> from veilset import HiddenPatterns, Transactions
    >>> data = Transactions.from_lists([["tea"], ["milk"]])
    >>> told = public_promise(HiddenPatterns([["tea", "milk"]], min_support=1), data, "a secret")
    >>> told.parameters()["of"], told.parameters()["count"], len(told.parameters()["commitment"])
    ('hidden-patterns', 1, 64)
    """
    if promise.secret:
        return Sealed(of=promise.name, count=promise.secrets, commitment=_commitment(promise, seed))
    return promise.restricted_to(data)


def _commitment(promise: Promise, seed: str) -> str:
    # A key of its own: what is computed from the seed for the order of the rows does not help here.
    key = hashlib.shake_256(b"veilset commitment\0" + seed.encode()).digest(32)
    # One text for one promise: in JSON it is clear where a name ends, whatever is in it.
    text = json.dumps([promise.name, promise.parameters()], sort_keys=True, separators=(",", ":"))
    return hmac.new(key, text.encode("ascii"), hashlib.sha256).hexdigest()


def public_audit(answer: Audit, promise: Promise) -> Audit:
    """The auditor's answer as a public report tells it, where *promise* is what is said in public."""
    if not answer.promise.secret:
        return replace(answer, promise=promise)
    secrets, empty = answer.promise.secrets, answer.excludes_nothing
    return sealed_audit(promise, answer.transactions, secrets=secrets, empty=empty)


def sealed_audit(promise: Promise, transactions: int, *, secrets: int, empty: bool) -> Audit:
    """All that may be told in public of an audit that found a sealed promise kept; *empty*: it excludes nothing."""
    return Audit(
        promise=promise,
        holds=True,
        witnesses=(),
        found=0,
        found_by_size=(),
        margins={},
        checked=secrets,  # how many sets were counted besides would tell how large the patterns are
        feasible=True,
        transactions=transactions,
        vacuous=empty,
    )
