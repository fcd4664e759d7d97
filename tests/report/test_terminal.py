"""What reports say on a terminal of 80 columns."""

from __future__ import annotations

import numpy as np

from tests.support.errors import names
from tests.support.runs import run_of
from tests.support.shop import NASTY, audit_of, printed, shop_release
from tests.support.texts import screen_text
from veilset import api, report
from veilset.cli.flags import in_flags
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
    assert "sensitive occurrences" not in text
    assert text == snapshot


def test_print_release_that_lost_all_that_is_sensitive(snapshot) -> None:
    """Half of those with tea have hiv: the default removes hiv, and says first that this is why rho holds."""
    rows = [["tea", "hiv"], ["tea"], ["milk"], ["milk"], ["milk"]]
    data = Transactions.from_lists(rows, sensitive=["hiv"])
    run = run_of(api.anonymize(data, RhoUncertainty(rho="1/2")))
    assert run.release.all_sensitive_removed
    assert report.release_facts(run)["all_sensitive_removed"] is True
    first, _ = printed(report.print_release, run, spell=in_flags).split("Unavoidable")
    assert names(first, "--sensitive-weight")
    assert first == snapshot(name="first line")
    assert "sensitive_weight" in report.custodian_report(run)
    kept = run_of(api.anonymize(data, RhoUncertainty(rho="1/2"), sensitive_weight=3))
    assert not kept.release.all_sensitive_removed
    assert report.release_facts(kept)["all_sensitive_removed"] is False
    assert "larger sensitive_weight" not in report.custodian_report(kept)


def test_what_keeps_more_that_is_sensitive_is_what_the_method_has() -> None:
    rho = Transactions.from_lists([["tea", "hiv"], ["tea"], ["milk"]], sensitive=["hiv"])
    removed = api.anonymize(rho, RhoUncertainty(rho="1/2"), method="remove-sensitive")
    assert names(report.removed_sentence(removed), "method='top-down'")
    common = Transactions.from_lists([["tea", "flu"], ["tea", "flu"], ["tea"]], sensitive=["flu"])
    allowed = api.anonymize(common, Coherence(h="1/2", k=2, p=1), allow_sensitive=True)
    assert "larger h" in report.removed_sentence(allowed)
    assert "larger sensitive_weight" not in report.removed_sentence(allowed)
    assert report.removed_sentence(shop_release()) == ""


def test_suppressed_items_are_listed_by_what_is_lost() -> None:
    """c is held by four, all others that go by one."""
    data = Transactions.from_lists([["a"], *[["c", f"x{row}"] for row in range(4)], *[["d"]] * 9])
    release = api.anonymize(data, Coherence(k=5, p=1))
    assert set(release.suppressed) >= {"a", "c"}
    assert "suppressed: c, a, x0" in printed(report.print_release, run_of(release))
