"""What methods make of transactions in memory and on the in-process engine, compared."""

import pytest

from veilset import Infeasible, anonymize, audit
from veilset.engines import Local

_TOLD = (
    *("method", "options", "suppressed", "generalized", "stands_for", "listed_from", "undecided", "notes"),
    *("loss", "recoded"),
)


def same(data, promise, pieces, method, **options):
    """Anonymizes here and on an engine, and compares; gives the two releases, None where neither is possible."""
    held = Local(pieces=pieces).read(data)
    try:
        here = anonymize(data, promise, method=method, **options)
    except Infeasible as error:
        with pytest.raises(Infeasible) as there:
            anonymize(held, promise, method=method, **options)
        assert str(there.value) == str(error)
        return None
    there = anonymize(held, promise, method=method, **options)
    released = there.custodian_data.to_transactions()
    assert released.names == here.custodian_data.names
    assert released.sensitive == here.custodian_data.sensitive
    assert sorted(released.to_lists()) == sorted(here.custodian_data.to_lists())
    for told in _TOLD:
        assert getattr(there, told) == getattr(here, told), told
    assert _strategies(there) == _strategies(here)
    assert there.certified
    assert audit(released, promise).holds
    return here, there


def _strategies(release):
    return [(one.name, one.loss, one.note, one.state) for one in release.attempts]
