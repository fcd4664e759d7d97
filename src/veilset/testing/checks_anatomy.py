"""What the batteries have to know of l-diverse anatomies."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator
from fractions import Fraction
from itertools import combinations
from typing import Any

from veilset.exact import at_least
from veilset.models import Audit, LDiverseAnatomy, Margin, Witness
from veilset.release import Release
from veilset.testing import oracles
from veilset.testing import oracles_anatomy as brute
from veilset.testing.contract import Contract, as_sets
from veilset.transactions import Transactions

_Columns = tuple[tuple[str, ...], ...]


def _cut(data: Transactions) -> tuple[_Columns, list[int]]:
    """Columns and buckets; data that has none, or a single column, is published whole."""
    if data.anatomy is None or len(data.anatomy.columns) < 2:
        return ((data.names,) if data.names else ()), list(range(len(data)))
    return data.anatomy.columns, data.anatomy.buckets.tolist()


def _holds(data: Transactions, sensitive: Collection[str], promise: LDiverseAnatomy) -> bool:
    return brute.is_l_diverse(as_sets(data), *_cut(data), promise.l, promise.empty, sensitive, items=promise.items)


def _check_findings(data: Transactions, promise: LDiverseAnatomy, answer: Audit) -> None:
    """Mixed columns, empty transactions, then each bucket and column where something is too probable, worst first."""
    rows, (columns, buckets) = as_sets(data), _cut(data)
    # Of data that was not cut, nobody says that it has columns of sensitive items.
    mixed = [] if len(columns) < 2 else brute.mixed_columns(columns, data.sensitive)
    empty = 0 if len(columns) < 2 else rows.count(frozenset())
    broken = brute.anatomy_breaches(
        rows, columns, buckets, promise.l, promise.empty, data.sensitive, items=promise.items
    )
    found = len(broken) + len(mixed) + bool(empty)
    assert answer.found == found, f"{answer.found} were found, not {found}."
    first, rest = answer.witnesses[: len(mixed)], list(answer.witnesses[len(mixed) :])
    assert [w.column for w in first] == [columns[number] for number in mixed], f"{first} do not tell of mixed columns."
    assert all(w.sensitive in w.column and w.bucket is None for w in first), f"{first} do not name a sensitive item."
    if empty:
        told, *rest = rest
        assert (told.support, told.bucket, told.column) == (empty, None, ()), f"{told}: {empty} transactions are empty."
    assert [_place(witness, columns) for witness in rest] == sorted(broken, key=lambda pair: (-broken[pair], *pair)), (
        f"{rest}\nare not {broken}, the worst first."
    )
    for witness in rest:
        sure, many = _believed(witness, data, promise)
        place = _place(witness, columns)
        assert sure == broken[place], f"{witness} is not what is most probable there."
        assert (witness.confidence, witness.support) == (at_least(sure), many), f"{witness}: not {sure}, by {many}."
    assert (answer.found_by_size, answer.reach) == ((), None), "Sizes and reach say nothing here."
    assert answer.checked == len(set(buckets)) * len(columns), f"{answer.checked} is not the number of groups."
    _check_margins(data, promise, answer)


def _place(found: Witness | Margin, columns: _Columns) -> tuple[int, int]:
    """Its bucket and its column; what is published whole has no column to name."""
    whole = len(columns) == 1
    assert bool(found.column) != whole, f"{found} does not name its column, or names one where there are none."
    return (found.bucket or 0) - 1, 0 if whole else columns.index(found.column)


def _believed(found: Witness | Margin, data: Transactions, promise: LDiverseAnatomy) -> tuple[Fraction, int]:
    """How probable is what was found, a value, an item or a sensitive item, and how many of the bucket have it."""
    rows, (columns, buckets) = as_sets(data), _cut(data)
    bucket, column = _place(found, columns)
    held = [row.intersection(columns[column]) for row, at in zip(rows, buckets, strict=True) if at == bucket]
    if found.sensitive is not None:
        assert any(found.sensitive in value for value in held), f"{found}: nobody has {found.sensitive} there."
        secret = [items for items in columns if set(items) <= set(data.sensitive)]
        members = [row for row, at in zip(rows, buckets, strict=True) if at == bucket]
        many = sum(bool(value) for row in members for value in brute.values_of(row, secret))
        return brute.sensitive_shares(rows, columns, buckets, data.sensitive)[bucket], many
    sensitive = () if len(columns) < 2 else data.sensitive
    values = brute.anatomy_groups(rows, columns, buckets, promise.empty, sensitive).get((bucket, column), {})
    value = frozenset(found.itemset)
    sure = values.get(value, Fraction(0)), held.count(value)
    if len(value) != 1 or not promise.items:
        return sure
    # A single item may be a whole value, or part of several.
    with_it = sum((probable for other, probable in values.items() if value <= other), Fraction(0))
    limited = value <= brute.limited_items(rows, columns, promise.l)
    return max(sure, (with_it, sum(value <= other for other in held))) if limited else sure


def _check_margins(data: Transactions, promise: LDiverseAnatomy, answer: Audit) -> None:
    rows, (columns, buckets) = as_sets(data), _cut(data)
    whole = len(columns) < 2
    secret = () if whole else data.sensitive
    groups = brute.anatomy_groups(rows, columns, buckets, promise.empty, secret)
    values = {(*place, value): sure for place, held in groups.items() for value, sure in held.items()}
    items = {} if whole else brute.item_shares(rows, columns, buckets, promise.empty, secret)
    shares = {} if whole else brute.sensitive_shares(rows, columns, buckets, secret)

    def check(name: str, all_: dict[Any, Fraction], at: Callable[[Margin], Any]) -> None:
        margin = answer.margins.get(name)
        assert (margin is None) == (not all_), f"{margin} is the largest of {all_}."
        if margin is not None:
            most = max(all_.values())
            assert all_.get(at(margin)) == most, f"{margin} is not where the largest of {all_} is."
            assert margin.value == _within(most, promise), f"{margin} is not the largest of {all_}."

    check("largest_probability", values, lambda margin: (*_place(margin, columns), frozenset(margin.itemset)))
    check("largest_item_share", items, lambda margin: (*_place(margin, columns), *margin.itemset))
    check("largest_sensitive_share", shares, lambda margin: _place(margin, columns)[0])
    common = answer.margins.get("unlimited_items", Margin(0, ()))
    expected = set().union(*rows) - brute.limited_items(rows, columns, promise.l) - set(secret)
    assert set(common.itemset) == (expected if promise.items and not whole else set()), f"{common} are not {expected}."
    assert common.value == len(common.itemset)
    guess = answer.margins.get("surest_guess")
    assert guess is None or not whole, "There is no other column to guess."
    most = max([*values.values(), *shares.values()], default=Fraction(0))
    assert guess is None or guess.value <= _within(most, promise), f"{guess} is surer than {most}."
    if whole:
        return
    rules = dict(_rules_within(data, columns))
    within = answer.margins.get("surest_within_column", Margin(0, ()))
    assert within.value == max(rules.values(), default=0), f"{within} is not the surest of {rules}."
    if rules:
        there = rules.get((within.column, frozenset(within.itemset), within.sensitive or ""))
        assert there == within.value, f"{within} is not where that is met."


def _within(share: Fraction, promise: LDiverseAnatomy) -> Fraction:
    """Rounded up to millionths, as margins are, but not above the bound that it is within."""
    return min(at_least(share), 1 / promise.l) if share <= 1 / promise.l else at_least(share)


def _rules_within(
    data: Transactions, columns: tuple[tuple[str, ...], ...]
) -> Iterator[tuple[tuple[tuple[str, ...], frozenset[str], str], Fraction]]:
    for column in columns:
        rows = [row.intersection(column) for row in as_sets(data)]
        secret = set(data.sensitive).intersection(column)
        for (known, sensitive), count in oracles.sensitive_rules(rows, secret).items():
            yield (column, known, sensitive), Fraction(*count)


def _check_release(release: Release, promise: LDiverseAnatomy) -> None:
    """Nothing is lost but what goes together: in each column every value is as frequent as it was.

    So is, then, every set of items of one column. Only transactions without public items may be withheld, and others
    that the release lists.
    """
    original, data = release.original, release.custodian_data
    assert not (release.suppressed or release.generalized), "Nothing need be taken out."
    assert release.kept is None, "Nothing need be taken out."
    assert data.anatomy is not None, "There are no columns and buckets."
    assert len(data.anatomy.columns) > 1, "Who knows a column must not know all."
    withheld = set(release.withheld)
    left = [row for number, row in enumerate(as_sets(original)) if number not in withheld]
    assert len(data) == len(left), f"{len(data)} transactions are not {len(left)}."
    for column in data.anatomy.columns:
        before, after = (Counter(row.intersection(column) for row in each) for each in (left, as_sets(data)))
        assert before == after, f"{before - after} are missing from {column}."


def _may_give_up(data: Transactions, promise: LDiverseAnatomy) -> bool:
    """Whether some two columns are too few: a method that joins columns may come to these.

    It may also take all sensitive items for one column; if there are no others, that is the only one.
    """
    secret = set(data.sensitive)
    rows = [row for row in as_sets(data) if row - secret]
    names = set().union(*rows)
    halves = (set(half) for size in range(1, len(names)) for half in combinations(sorted(names), size))
    pairs = [(half, names - half) for half in halves if not brute.mixed_columns([half, names - half], secret)]
    if not data.public or not pairs:
        return True
    one = [0] * len(rows)
    return any(
        not brute.is_l_diverse(rows, pair, one, promise.l, promise.empty, secret, items=promise.items) for pair in pairs
    )


L_DIVERSE_ANATOMY = Contract(
    holds=_holds,
    check_findings=_check_findings,
    sensitive_may_go=False,
    may_give_up=_may_give_up,
    check_release=_check_release,
)
