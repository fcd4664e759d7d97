"""Notes of reading: items that look like identifiers, on the terminal and on the custodian's page."""

from __future__ import annotations

from pathlib import Path

from tests.support.runs import run_of
from tests.support.shop import NASTY
from tests.support.texts import page_text, screen_text
from veilset import api, report
from veilset.models import Coherence
from veilset.transactions import Transactions, read


def test_identifiers_are_shown(tmp_path: Path, monkeypatch, snapshot) -> None:
    monkeypatch.chdir(tmp_path)
    lines = [f"{number},2024-01-{number % 28 + 1:02},{'note' if number else NASTY} {number}" for number in range(30)]
    (tmp_path / "visits.csv").write_text("\n".join(["id,day,note", *lines]))
    for column in ("day", "note"):
        data = read("visits.csv", long=("id", column))
        assert screen_text(report.print_reading, data) == snapshot(name=column)


def test_numbers_of_patients_are_shown_where_each_line_is_a_visit(tmp_path: Path, monkeypatch, snapshot) -> None:
    monkeypatch.chdir(tmp_path)
    codes = ["J45", "E11,I10", "N39"]
    lines = [f"{100_015 + 22 * (number % 60)},{codes[number % 3]}" for number in range(300)]
    (tmp_path / "mrn.csv").write_text("\n".join(lines))
    assert screen_text(report.print_reading, read("mrn.csv")) == snapshot


def test_identifiers_are_on_the_custodians_page(snapshot) -> None:
    rows = [["tea", "ann@mail.org", "0660 1234567", "2024-01-03"], ["tea", "2024-01-04", "2024-01-05"]]
    html = report.custodian_report(
        run_of(api.anonymize(Transactions.from_lists(rows), Coherence(k=1, p=1)), before=None)
    )
    assert page_text(html).partition("How the original was read")[2] == snapshot


def test_nothing_is_said_of_items() -> None:
    data = Transactions.from_lists([["tea", "7up", "1999"], ["tea", "7up", "1999"]])
    assert report.reading_facts(data, secret=False) == {"notes": [], "identifiers": []}
