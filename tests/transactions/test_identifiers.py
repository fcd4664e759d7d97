"""Items that look like identifiers are found by their names, and by how few transactions hold them."""

from __future__ import annotations

import pytest

from veilset.io.kinds import IDENTIFYING, identifying, kind_of
from veilset.transactions import Identifiers, Transactions, generate

NAMES = {
    "dates or times": [
        "2024-01-03",
        "3.1.2024",
        "03/01/24",
        "3 Jan 2024",
        "January 3, 2024",
        "2024-01-03T10:15:00Z",
        "9:05",
    ],
    "e-mail addresses": ["ann@mail.org", "a.b+c@mail.example.com"],
    "UUIDs": ["550e8400-e29b-41d4-a716-446655440000", "550E8400E29B41D4A716446655440000"],
    "long numbers": ["1234567", "+43 660 1234567", "(0660) 123-4567", "P0012345", "4006381333931"],
}
ITEMS = ["milk", "7up", "1999", "123456", "E11.9", "1.2.3", "3.50", "6 in 1", "@home", "100 % juice", "deadbeef", "1/2"]


@pytest.mark.parametrize("kind", NAMES)
def test_names_of_a_kind(kind: str) -> None:
    data = Transactions.from_lists([NAMES[kind], ITEMS, ITEMS])
    (found,) = data.identifiers
    assert (found.kind, found.count) == (kind, len(NAMES[kind]))
    assert found.examples == data.in_order(NAMES[kind])[:2]


def test_a_field_of_a_table_is_of_the_same_kind() -> None:
    """Python's expressions and Arrow's find the same, but for numbers, which are numbers first in a column."""
    for kind, names in NAMES.items():
        assert {kind_of(name) for name in names if not name.isdigit()} == {kind}
    assert not {kind_of(item) for item in ITEMS} & {*IDENTIFYING}


def test_items_are_no_identifiers() -> None:
    assert Transactions.from_lists([ITEMS, ITEMS]).identifiers == ()
    assert Transactions.from_lists([[]]).identifiers == ()
    assert Transactions.from_lists([range(5000), range(100, 6000)]).identifiers == ()
    assert generate.grocery_pharmacy().identifiers == ()


def test_nearly_all_items_are_unique() -> None:
    rows = [["tea", f"note {number}"] for number in range(20)]
    assert Transactions.from_lists(rows).identifiers == (Identifiers("unique", 20, ("note 0", "note 1")),)
    assert Transactions.from_lists(rows[:19]).identifiers == ()
    common = [[f"item {number % 3}", f"note {number}"] for number in range(20)]
    assert Transactions.from_lists(common).identifiers == ()  # 20 of 23


def test_what_is_found_is_in_the_order_of_kinds() -> None:
    found = identifying([name for names in NAMES.values() for name in names])
    assert list(found) == list(IDENTIFYING)
    assert sum(map(len, found.values())) == sum(map(len, NAMES.values()))
