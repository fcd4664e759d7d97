"""Every mutant is rejected: by certification, by publish, and, where its bytes get written all the same, by verify."""

import io
from fractions import Fraction

import pytest

from tests.support.errors import names, refused
from tests.support.forging import verified_all_the_same
from veilset import NotCertified, audit, publish
from veilset.publish import public
from veilset.run import certify
from veilset.testing import check_anonymizer
from veilset.testing.mutants import MUTANTS, RHO_MUTANTS, rho_unbroken, unbroken
from veilset.testing.mutants_anatomy import ANATOMY_MUTANTS, anatomy_unbroken
from veilset.testing.mutants_hiding import HIDING_MUTANTS, hiding_unbroken
from veilset.testing.mutants_partial import (
    PARTIAL_MUTANTS,
    RHO_PARTIAL_MUTANTS,
    partial_unbroken,
    rho_partial_unbroken,
)

MADE_FROM = {
    unbroken: MUTANTS,
    rho_unbroken: RHO_MUTANTS,
    hiding_unbroken: HIDING_MUTANTS,
    anatomy_unbroken: ANATOMY_MUTANTS,
    partial_unbroken: PARTIAL_MUTANTS,
    rho_partial_unbroken: RHO_PARTIAL_MUTANTS,
}


@pytest.mark.parametrize(
    ("mutant", "method"),
    [pytest.param(mutant, method, id=mutant.name) for method, mutants in MADE_FROM.items() for mutant in mutants],
)
def test_rejected_before_publishing(mutant, method, tmp_path):
    """What it is made from is accepted, but for data that no method can help."""
    release = certify(mutant.method(mutant.data, mutant.promise))
    assert not release.certified
    with pytest.raises(AssertionError):
        check_anonymizer(mutant.method, mutant.data, mutant.promise)
    with refused(NotCertified, "NO-GO"):
        publish(release, tmp_path / "out")
    assert list(tmp_path.iterdir()) == []
    if mutant.name != "ignores the empty set":
        assert certify(method(mutant.data, mutant.promise)).certified
        check_anonymizer(method, mutant.data, mutant.promise)


BY_THE_AUDITOR = [m for m in (*MUTANTS, *PARTIAL_MUTANTS, *RHO_PARTIAL_MUTANTS) if m.noticed_by == "auditor"]


@pytest.mark.parametrize("mutant", BY_THE_AUDITOR, ids=lambda m: m.name)
def test_verify_rejects_the_bytes(mutant, tmp_path, monkeypatch):
    """A custodian's tool that skips every check still cannot make `verify` believe its bytes."""
    found = verified_all_the_same(mutant.method(mutant.data, mutant.promise), tmp_path, monkeypatch)
    assert found.verdict == "broken"
    assert found.exit_code == 1
    assert found.audit.witnesses


def test_a_writer_that_puts_an_item_back_is_caught(tmp_path, monkeypatch):
    """The file is not what was certified: publish reads it back and writes nothing."""
    mutant = MUTANTS[0]
    release = certify(unbroken(mutant.data, mutant.promise))
    assert "figs" in release.suppressed
    honest = public.write_rows

    def dishonest(stream, *rows):
        text = io.BytesIO()
        honest(text, *rows)
        stream.write(text.getvalue().replace(b"bread\n", b"bread,figs\n", 1))

    monkeypatch.setattr(public, "write_rows", dishonest)
    with refused(NotCertified, "NO-GO", "data.csv"):
        publish(release, tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "mutant",
    [*RHO_MUTANTS, *HIDING_MUTANTS, *ANATOMY_MUTANTS, *PARTIAL_MUTANTS, *RHO_PARTIAL_MUTANTS],
    ids=lambda m: m.name,
)
def test_the_auditor_notices_or_the_account_of_edits_does(mutant):
    release = certify(mutant.method(mutant.data, mutant.promise))
    if mutant.name == "adds items elsewhere":  # what is hidden stays hidden
        assert release.audit.holds
        assert names(release.discrepancy, "Transaction 1")
    elif mutant in (*ANATOMY_MUTANTS, *PARTIAL_MUTANTS) and mutant.noticed_by == "account":
        assert release.discrepancy is not None
    elif mutant.noticed_by == "original":
        assert release.audit.holds
        assert release.in_original.witnesses
    else:
        assert release.audit.witnesses
        assert release.discrepancy is None


def test_a_rule_that_was_hidden_comes_back():
    """Of the five with figs two hold oil. Then figs go from two of the others, for the sake of the second rule."""
    mutant = next(mutant for mutant in HIDING_MUTANTS if "confidence" in mutant.name)
    first, _ = audit(mutant.data, mutant.promise, witnesses=0).leftovers
    assert (first.support, first.antecedent_support) == (2, 5)  # below one half: nothing to do
    (witness,) = audit(mutant.method(mutant.data, mutant.promise).custodian_data, mutant.promise).witnesses
    assert (witness.itemset, witness.sensitive, witness.confidence) == (("fig",), "oil", Fraction(2, 3))
