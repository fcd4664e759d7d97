"""What reports say on a terminal of 80 columns."""

from __future__ import annotations

import numpy as np

from tests.shop import NASTY, audit_of, printed, shop_release
from veilset import api, report
from veilset.models import Coherence, RhoUncertainty
from veilset.transactions import Transactions, read


def test_print_reading(tmp_path) -> None:
    path = tmp_path / "baskets.csv"
    path.write_text("milk,insulin\n\n" + ",".join(f"item {number}" for number in range(12)) + "\nmilk\n")
    text = printed(report.print_reading, read(path, sensitive=["insulin"]))
    assert "baskets.csv: basket CSV (names, one transaction a line), delimiter ',', no header" in text
    assert "one line = one person" in text
    assert "1: insulin*, milk 2:" in text
    assert "… (12 items)" in text
    assert "14 different items, 1 of them sensitive (marked *)" in text


def test_print_reading_of_merged_lines(tmp_path) -> None:
    path = tmp_path / "long.csv"
    path.write_text("id,item,who\n1,milk,ann\n2,beer,ann\n3,milk,bob\n")
    merged = read(path, long=("id", "item"), person="who")
    assert "lines of one person merged" in printed(report.print_reading, merged)
    by_id = read(path, long=("id", "item"))
    assert "one transaction = one person" in printed(report.print_reading, by_id)


def test_print_reading_without_a_file() -> None:
    text = printed(report.print_reading, Transactions.from_lists([[], ["[bold]"]]))
    assert "made in memory one transaction = one person 1: (empty) 2: [bold] 2 transactions" in text


def test_print_audit() -> None:
    promise = Coherence(h=0.4, k=20, p=2)
    rng = np.random.default_rng(7)
    rows = [[f"item {item}" for item in rng.choice(30, size=3, replace=False)] for _ in range(100)]
    data = Transactions.from_lists(rows)
    audit = api.audit(data, promise)
    text = printed(report.print_audit, audit, merged=False)
    assert f"DOES NOT HOLD There are {audit.found:,} ways" in text
    assert "What an attacker knows People left What they learn" in text
    assert f"… and {audit.found - 20:,} more ways." in text
    assert f"{audit.found_by_size[0]:,} of 1 item" in text
    assert f"{audit.checked:,} sets of items counted in 100 transactions." in text
    assert "at least 20" in text


def test_print_audit_states() -> None:
    release = shop_release()
    assert "HOLDS An attacker who knows" in printed(report.print_audit, release.audit, merged=False)
    infeasible = audit_of([["s"], ["s"], ["a"]], ("s",), h=0.5, k=2, p=2)
    text = printed(report.print_audit, infeasible, merged=False)
    assert "INFEASIBLE Someone who knows nothing" in text
    assert "(nothing) 3 s, 66.7% sure" in text


def test_print_audit_of_rho_uncertainty() -> None:
    rows = [["hiv", "flu", "ale"], ["hiv", "flu"], ["flu", "ale"], ["ale"], ["ale"], ["cough"]]
    data = Transactions.from_lists(rows, sensitive=["hiv", "flu", "cough"])
    audit = api.audit(data, RhoUncertainty(rho="1/2"), witnesses=1)
    text = printed(report.print_audit, audit, merged=False)
    assert "DOES NOT HOLD 2 sensitive items can be inferred; for example, who knows 'hiv' of someone" in text
    assert (
        "What an attacker knows People left What they learn hiv 2 flu, 100% sure … and 1 more sensitive item." in text
    )
    assert "p=" not in text
    text = printed(report.print_audit, api.audit(data.without(["hiv"]), RhoUncertainty(rho=1)), merged=True)
    assert "HOLDS An attacker who knows any part of someone's transaction in this file" in text
    assert "50% less than 100%" in text


def test_print_release_of_rho_uncertainty() -> None:
    rows = [["hiv", "ale"], ["hiv", "flu"], ["ale"]]
    data = Transactions.from_lists(rows, sensitive=["hiv", "flu"])
    release = api.anonymize(data, RhoUncertainty(rho="1/2"), method="remove-sensitive")
    text = printed(report.print_release, release)
    assert "Had to go 1 item whatever the method (40% of all occurrences): hiv" in text
    assert "Changed 2 items suppressed, 2 of them sensitive: flu, hiv (method remove-sensitive" in text
    assert "0% of sensitive occurrences kept" in text
    coarser = api.anonymize(
        data, RhoUncertainty(rho=1), method="given", suppressed=["flu"], generalized={"ale": "beer"}
    )
    assert "Had to go nothing: no sensitive item is so common" in printed(report.print_release, coarser)


def test_print_release() -> None:
    release = shop_release(NASTY)
    before = api.audit(release.original, release.promise)
    text = printed(report.print_release, release, before=before)
    assert "At risk before There is 1 way to break this promise" in text
    assert "Had to go 1 item whatever the method (8.3% of all occurrences): <script>" in text
    assert "Changed 1 item suppressed: <script>alert('x')</script>\"&[red]\\x1b[2J (method auto" in text
    assert "Cost 8.3% of all item occurrences, 20% of the different items and 0% of the itemsets held by 2" in text
    assert "GO An attacker who knows up to 2 published public items" in text
    assert "\x1b[2J" not in text
    assert "At risk before" not in printed(report.print_release, release)


def test_print_release_of_harmless_data() -> None:
    data = Transactions.from_lists([["a"], ["a"]])
    text = printed(report.print_release, api.anonymize(data, Coherence(k=2, p=1)))
    assert "Had to go nothing: no item gives anybody away by itself Changed nothing (method auto" in text
    assert "sensitive" not in text
