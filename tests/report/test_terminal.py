"""What reports say on a terminal of 80 columns."""

from __future__ import annotations

import numpy as np

from tests.support.errors import names
from tests.support.runs import run_of
from tests.support.shop import NASTY, audit_of, shop_release
from tests.support.texts import screen_text
from veilset import api, report
from veilset.models import Coherence, RhoUncertainty
from veilset.transactions import Transactions, read


def test_print_reading(tmp_path, monkeypatch, snapshot) -> None:
    monkeypatch.chdir(tmp_path)
    many = ",".join(f"item {number}" for number in range(12))
    (tmp_path / "baskets.csv").write_text(f"milk,insulin\n\n{many}\nmilk\n")
    assert screen_text(report.print_reading, read("baskets.csv", sensitive=["insulin"])) == snapshot


def test_print_reading_of_merged_lines(tmp_path, monkeypatch, snapshot) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "long.csv").write_text("id,item,who\n1,milk,ann\n2,beer,ann\n3,milk,bob\n")
    merged = read("long.csv", long=("id", "item"), person="who")
    assert screen_text(report.print_reading, merged) == snapshot(name="by person")
    assert screen_text(report.print_reading, read("long.csv", long=("id", "item"))) == snapshot(name="by id")


def test_print_reading_without_a_file(snapshot) -> None:
    assert screen_text(report.print_reading, Transactions.from_lists([[], ["[bold]"]])) == snapshot


def test_print_audit(snapshot) -> None:
    promise = Coherence(h=0.4, k=20, p=2)
    rng = np.random.default_rng(7)
    rows = [[f"item {item}" for item in rng.choice(30, size=3, replace=False)] for _ in range(100)]
    audit = api.audit(Transactions.from_lists(rows), promise)
    text = screen_text(report.print_audit, audit, merged=False)
    for number in (audit.found, audit.found - 20, audit.found_by_size[0], audit.checked, 100, 20):
        assert names(text, f"{number:,}")
    assert text == snapshot


def test_print_audit_states(snapshot) -> None:
    assert screen_text(report.print_audit, shop_release().audit, merged=False) == snapshot(name="holds")
    infeasible = audit_of([["s"], ["s"], ["a"]], ("s",), h=0.5, k=2, p=2)
    assert screen_text(report.print_audit, infeasible, merged=False) == snapshot(name="infeasible")


def test_print_audit_of_rho_uncertainty(snapshot) -> None:
    rows = [["hiv", "flu", "ale"], ["hiv", "flu"], ["flu", "ale"], ["ale"], ["ale"], ["cough"]]
    data = Transactions.from_lists(rows, sensitive=["hiv", "flu", "cough"])
    audit = api.audit(data, RhoUncertainty(rho="1/2"), witnesses=1)
    text = screen_text(report.print_audit, audit, merged=False)
    assert "p=" not in text
    assert text == snapshot(name="broken")
    audit = api.audit(data.without(["hiv"]), RhoUncertainty(rho=1))
    assert screen_text(report.print_audit, audit, merged=True) == snapshot(name="holds")


def test_print_release_of_rho_uncertainty(snapshot) -> None:
    rows = [["hiv", "ale"], ["hiv", "flu"], ["ale"]]
    data = Transactions.from_lists(rows, sensitive=["hiv", "flu"])
    release = api.anonymize(data, RhoUncertainty(rho="1/2"), method="remove-sensitive")
    assert screen_text(report.print_release, run_of(release)) == snapshot(name="suppressed")
    options = {"suppressed": ["flu"], "generalized": {"ale": "beer"}}
    coarser = api.anonymize(data, RhoUncertainty(rho=1), method="replay", **options)
    assert screen_text(report.print_release, run_of(coarser)) == snapshot(name="coarser")


def test_print_release(snapshot) -> None:
    release = shop_release(NASTY)
    before = api.audit(release.original, release.promise)
    text = screen_text(report.print_release, run_of(release, before=before))
    assert "\x1b[2J" not in text
    assert text == snapshot(name="with what was at risk")
    assert screen_text(report.print_release, run_of(release)) == snapshot(name="without")


def test_print_release_of_harmless_data(snapshot) -> None:
    data = Transactions.from_lists([["a"], ["a"]])
    text = screen_text(report.print_release, run_of(api.anonymize(data, Coherence(k=2, p=1))))
    assert "sensitive" not in text
    assert text == snapshot
