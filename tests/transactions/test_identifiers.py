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
        "Jan 2024",
        "september 2023",
        "January 3, 2024",
        "2024-01-03T10:15:00Z",
        "9:05",
    ],
    "e-mail addresses": ["ann@mail.org", "a.b+c@mail.example.com"],
    "UUIDs": ["550e8400-e29b-41d4-a716-446655440000", "550E8400E29B41D4A716446655440000"],
    "long numbers": [
        "1234567",
        "+43 660 1234567",
        "(0660) 123-4567",
        "P0012345",
        "4006381333931",
        "MRN123456",
        "P-100123",
        "K123456x",
    ],
}
ITEMS = [
    "milk",
    "7up",
    "1999",
    "123456",
    "E11.9",
    "1.2.3",
    "3.50",
    "6 in 1",
    "@home",
    "100 % juice",
    "deadbeef",
    "1/2",
    "market 2024",
    "85123A",
    "B-52",
    "ABCDE123456",
]


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


NAMES_OF_PEOPLE = [
    f"{first} {last}" for first in ("Ann", "Bo", "Cy", "Di-Ann") for last in ["Lee", "Poe", "Ray", "Sue", "Ulm"]
]


@pytest.mark.parametrize("times", [1, 2])
def test_a_name_on_nearly_every_transaction_that_few_others_hold(times: int) -> None:
    rows = [[name, f"E{n % 4}", f"I{n % 7}"] for n, name in enumerate(NAMES_OF_PEOPLE * times)]
    rows += [["E1"], ["E2", "rare code 9"]]  # neither hides them
    (found,) = Transactions.from_lists(rows).identifiers
    assert (found.kind, found.count) == (("unique", "rare")[times - 1], len(NAMES_OF_PEOPLE))
    assert {*found.examples} <= {*NAMES_OF_PEOPLE}


def test_short_numbers_on_every_transaction() -> None:
    rows = [[str(100_003 + n * 37), "tea", "milk"[: n % 4 + 1]] for n in range(30)]
    (found,) = Transactions.from_lists(rows).identifiers
    assert (found.kind, found.count) == ("unique", 30)


CODES = ["J45", "E11", "I10", "N39", "F32"]


@pytest.mark.parametrize("shape", ["{}", "P-{}", "{}/x"])
def test_numbers_of_patients_who_return(shape: str) -> None:
    patients = [shape.format(10_015 + 22 * number) for number in range(60)]
    rows = [[patients[n % 60], *CODES[n % 5 : n % 5 + 1 + n % 3]] for n in range(300)]
    rows += [[patients[7]], ["E11", "I10"], [patients[3], patients[4], "J45"]]  # the exceptions do not hide them
    (found,) = Transactions.from_lists(rows).identifiers
    assert (found.kind, found.count) == ("recurring", 60)
    assert {*found.examples} <= {*patients}


def test_numbers_that_recur_are_products() -> None:
    """Where baskets hold several of them, or nothing else; with fewer digits, they are anything."""
    products = [f"{85_123 + number}A" for number in range(60)]
    several = [[*products[n % 50 : n % 50 + 2 + n % 7], "POST"] for n in range(300)]
    alone = [[product] for product in products] * 5
    short = [[str(1000 + n % 60), CODES[n % 5]] for n in range(300)]
    few = [[str(10_000 + n % 19), CODES[n % 5]] for n in range(300)]
    for rows in (several, alone, short, few):
        assert Transactions.from_lists(rows).identifiers == ()


def test_rare_items_here_and_there_are_no_identifiers() -> None:
    names = NAMES_OF_PEOPLE
    none = [["tea", f"item {n % 5}"] for n in range(len(names))]
    several = [[*names[n : n + 2], "tea"] for n in range(0, len(names), 2)]
    for rows in ([[name, "tea"] for name in names[:19]], [[name, "tea"] for name in names] + none, several * 2):
        assert Transactions.from_lists(rows).identifiers == ()
    assert generate.pos_like(transactions=2000, items=3000, average_length=6, maximum_length=40).identifiers == ()


def test_what_is_found_is_in_the_order_of_kinds() -> None:
    found = identifying([name for names in NAMES.values() for name in names])
    assert list(found) == list(IDENTIFYING)
    assert sum(map(len, found.values())) == sum(map(len, NAMES.values()))
