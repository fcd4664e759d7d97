"""What the batteries have to know of l-diverse anatomies."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator
from fractions import Fraction
from itertools import combinations

from veilset.models import Audit, LDiverseAnatomy, Margin, Witness
from veilset.release import Release
from veilset.testing import oracles
from veilset.testing import oracles_anatomy as brute
from veilset.testing.contract import Contract, as_sets
from veilset.transactions import Transactions

_Value = tuple[int, int, frozenset[str]]
_Pair = tuple[int, int]


def _cut(data: Transactions) -> tuple[tuple[tuple[str, ...], ...], list[int]]:
    """Columns and buckets; data that has none, or a single column, is published whole."""
    if data.anatomy is None or len(data.anatomy.columns) < 2:
        return ((data.names,) if data.names else ()), list(range(len(data)))
    return data.anatomy.columns, data.anatomy.buckets.tolist()


def _holds(data: Transactions, sensitive: Collection[str], promise: LDiverseAnatomy) -> bool:
    return brute.is_l_diverse(as_sets(data), *_cut(data), promise.l, promise.empty, sensitive)


def _check_findings(data: Transactions, promise: LDiverseAnatomy, answer: Audit) -> None:
    """Mixed columns, then the commonest value of each bucket and column where it is too common, the worst first."""
    columns, buckets = _cut(data)
    # Of data that was not cut, nobody says that it has columns of sensitive items.
    mixed = [] if len(columns) < 2 else brute.mixed_columns(columns, data.sensitive)
    breaches = brute.anatomy_breaches(as_sets(data), columns, buckets, promise.l, promise.empty, data.sensitive)
    broken: dict[_Pair, Fraction] = {}
    for bucket, column, _, count, size in breaches:
        broken[bucket, column] = max(broken.get((bucket, column), Fraction(0)), Fraction(count, size))
    assert answer.found == len(broken) + len(mixed), f"{answer.found} were found, not {len(broken) + len(mixed)}."
    first, rest = answer.witnesses[: len(mixed)], answer.witnesses[len(mixed) :]
    assert [w.column for w in first] == [columns[number] for number in mixed], f"{first} do not tell of mixed columns."
    assert all(w.sensitive in w.column and w.bucket is None for w in first), f"{first} do not name a sensitive item."
    met = {(bucket, column, value): (count, size) for bucket, column, value, count, size in breaches}
    told = [_told(witness, columns) for witness in rest]
    assert [(bucket, column) for bucket, column, _ in told] == sorted(
        broken, key=lambda pair: (-broken[pair], *pair)
    ), f"{rest}\nare not {broken}, the worst first."
    for witness, value in zip(rest, told, strict=True):
        assert value in met, f"{witness} is allowed."
        count, size = met[value]
        assert (witness.support, witness.confidence) == (count, Fraction(count, size)), (
            f"{witness}: not {count}/{size}."
        )
        assert witness.confidence == broken[value[:2]], f"{witness} is not the commonest value."
    assert (answer.found_by_size, answer.reach) == ((), None), "Sizes and reach say nothing here."
    assert answer.checked == len(set(buckets)) * len(columns), f"{answer.checked} is not the number of groups."
    _check_margins(data, promise, answer)


def _told(found: Witness | Margin, columns: tuple[tuple[str, ...], ...]) -> _Value:
    """Its bucket, its column and its value; what is published whole has no column to name."""
    whole = len(columns) == 1
    assert bool(found.column) != whole, f"{found} does not name its column, or names one where there are none."
    return (found.bucket or 0) - 1, 0 if whole else columns.index(found.column), frozenset(found.itemset)


def _check_margins(data: Transactions, promise: LDiverseAnatomy, answer: Audit) -> None:
    columns, buckets = _cut(data)
    # At an l above the number of transactions, every value is too common.
    shares = {
        (bucket, column, value): Fraction(count, size)
        for bucket, column, value, count, size in brute.anatomy_breaches(
            as_sets(data), columns, buckets, len(data) + 1, promise.empty, data.sensitive
        )
    }
    largest = answer.margins.get("largest_share")
    assert (largest is None) == (not shares), f"{largest} is the largest of {shares}."
    if largest is not None:
        at = _told(largest, columns)
        assert shares.get(at) == max(shares.values()) == largest.value, f"{largest} is not the largest of {shares}."
    guess = answer.margins.get("surest_guess")
    assert guess is None or len(columns) > 1, "There is no other column to guess."
    assert guess is None or guess.value <= max(shares.values(), default=0), f"{guess} is surer than any share."
    if len(columns) < 2:
        return
    rules = dict(_rules_within(data, columns))
    within = answer.margins.get("surest_within_column", Margin(0, ()))
    assert within.value == max(rules.values(), default=0), f"{within} is not the surest of {rules}."
    if rules:
        there = rules.get((within.column, frozenset(within.itemset), within.sensitive or ""))
        assert there == within.value, f"{within} is not where that is met."


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

    So is, then, every set of items of one column.
    """
    original, data = release.original, release.custodian_data
    assert not (release.suppressed or release.generalized or release.withheld), "Nothing need be taken out."
    assert release.kept is None, "Nothing need be taken out."
    assert len(data) == len(original), f"{len(data)} transactions are not {len(original)}."
    assert data.anatomy is not None, "There are no columns and buckets."
    assert len(data.anatomy.columns) > 1, "Who knows a column must not know all."
    for column in data.anatomy.columns:
        before, after = (Counter(row.intersection(column) for row in as_sets(each)) for each in (original, data))
        assert before == after, f"{before - after} are missing from {column}."


def _may_give_up(data: Transactions, promise: LDiverseAnatomy) -> bool:
    """Whether some two columns are too few: a method that joins columns may come to these.

    It may also take all sensitive items for one column; if there are no others, that is the only one.
    """
    rows, names, secret = as_sets(data), set(data.names), data.sensitive
    halves = (set(half) for size in range(1, len(names)) for half in combinations(sorted(names), size))
    pairs = [(half, names - half) for half in halves if not brute.mixed_columns([half, names - half], secret)]
    if not data.public or not pairs:
        return True
    one = [0] * len(rows)
    return any(brute.anatomy_breaches(rows, pair, one, promise.l, promise.empty, secret) for pair in pairs)


L_DIVERSE_ANATOMY = Contract(
    holds=_holds,
    check_findings=_check_findings,
    sensitive_may_go=False,
    may_give_up=_may_give_up,
    check_release=_check_release,
)
