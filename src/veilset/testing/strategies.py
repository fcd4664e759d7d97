"""Hypothesis strategies for small random data and promises: ties, thirds, empty rows, equal rows."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import strategies as st

from veilset.models import Coherence, Empty, HiddenPatterns, HiddenRules, LDiverseAnatomy, RhoUncertainty
from veilset.transactions import Anatomy, Transactions

_ABSENT = ("y", "z")
_PUBLIC = "abcdefg"
_SENSITIVE = ("s1", "s2", "s3")


@st.composite
def transactions(
    draw: st.DrawFn, *, max_rows: int = 12, max_public: int = 6, max_sensitive: int = 3, min_rows: int = 1
) -> Transactions:
    """Small transactions: empty rows, repeated rows, no public or no sensitive items all happen."""
    public = _PUBLIC[: draw(st.integers(0, max_public))]
    sensitive = _SENSITIVE[: draw(st.integers(0, max_sensitive))]
    names = [*public, *sensitive]
    row: st.SearchStrategy[list[str]] = st.just([])
    if names:
        row = st.lists(st.sampled_from(names), max_size=len(names), unique=True)
    rows: list[list[str]] = draw(st.lists(row, min_size=min_rows, max_size=max_rows))
    repeat: bool = draw(st.booleans())
    if repeat:
        rows += rows[: draw(st.integers(0, len(rows)))]  # equal rows are where counting by weight goes wrong
    occurring = {name for items in rows for name in items}
    return Transactions.from_lists(rows, sensitive=[name for name in sensitive if name in occurring])


@st.composite
def sparse_or_dense(draw: st.DrawFn) -> Transactions:
    """Small sets are dense; hundreds of items that occur once, in rows of their own, make them sparse."""
    data: Transactions = draw(transactions())
    dense: bool = draw(st.booleans())
    if dense:
        return data
    rows = [*data.to_lists(), *([f"z{i}"] for i in range(200))]
    return Transactions.from_lists(rows, sensitive=data.sensitive)


@st.composite
def protected(draw: st.DrawFn) -> Transactions:
    """Small data in which many rows return without some of their sensitive items: ρ-uncertainty often holds."""
    data: Transactions = draw(transactions(max_rows=8, min_rows=0))
    rows = data.to_lists()
    for _ in range(draw(st.integers(0, 4))):
        gone: set[str] = draw(st.sets(st.sampled_from(data.sensitive))) if data.sensitive else set()
        rows += [[item for item in row if item not in gone] for row in data.to_lists()]
    return Transactions.from_lists(rows, sensitive=data.sensitive)


def shares() -> st.SearchStrategy[Fraction]:
    """Thresholds that data can hit exactly: halves, thirds, fifths, and 1."""
    return st.sampled_from([Fraction(n, d) for d in (1, 2, 3, 5) for n in range(1, d + 1)])


def coherence_promises(*, max_k: int = 5, max_p: int = 4) -> st.SearchStrategy[Coherence]:
    """All of h, k and p, p unlimited included."""
    return st.builds(
        lambda h, k, p: Coherence(h=h, k=k, p=p),
        shares(),
        st.integers(1, max_k),
        st.one_of(st.none(), st.integers(1, max_p)),
    )


def rho_promises() -> st.SearchStrategy[RhoUncertainty]:
    """Of `shares`, and the tenths of the paper's examples."""
    tenths = st.sampled_from([Fraction(7, 10), Fraction(9, 10)])
    return st.builds(lambda rho: RhoUncertainty(rho=rho), shares() | tenths)


@st.composite
def hidden_patterns(draw: st.DrawFn, data: Transactions, *, absent: bool = False) -> HiddenPatterns:
    """Up to four patterns of up to five items of the data; if it has none, or *absent* is asked for, of others too."""
    names = _names(data, absent, least=1)
    pattern = st.lists(st.sampled_from(names), min_size=1, max_size=5, unique=True)
    return HiddenPatterns(draw(st.lists(pattern, min_size=1, max_size=4)), draw(_supports(data)))


@st.composite
def hidden_rules(draw: st.DrawFn, data: Transactions, *, absent: bool = False) -> HiddenRules:
    """Up to four rules with up to three items on either side; where the data has less than two, others as above."""
    names = _names(data, absent, least=2)
    rules = []
    for _ in range(draw(st.integers(1, 4))):
        order: list[str] = draw(st.permutations(names))
        known = draw(st.integers(1, min(3, len(order) - 1)))
        rules.append((order[:known], order[known : known + draw(st.integers(1, 3))]))
    return HiddenRules(rules, draw(_supports(data)), draw(shares()))


def _names(data: Transactions, absent: bool, least: int) -> tuple[str, ...]:
    return data.names if len(data.names) >= least and not absent else (*data.names, *_ABSENT)


def _supports(data: Transactions) -> st.SearchStrategy[int | Fraction]:
    """Low ones more often: patterns reach them."""
    return st.integers(1, 3) | st.integers(1, len(data) + 1) | shares()


def l_diverse_promises() -> st.SearchStrategy[LDiverseAnatomy]:
    """Whole numbers and some between; having nothing is a value, or free; with single items limited, or not."""
    numbers = st.sampled_from([Fraction(1), Fraction(3, 2), Fraction(2), Fraction(5, 2), Fraction(3), Fraction(4)])
    empty: st.SearchStrategy[Empty] = st.sampled_from(["value", "free"])
    return st.builds(
        lambda number, nothing, items: LDiverseAnatomy(number, empty=nothing, items=items),
        numbers,
        empty,
        st.booleans(),
    )


@st.composite
def anatomies(draw: st.DrawFn, data: Transactions, *, mixed: bool = False, max_size: int = 24) -> Anatomy:
    """Any columns, and buckets of up to *max_size*; only *mixed* columns hold sensitive and public items."""
    columns: dict[tuple[int, bool], list[str]] = {}
    for name, sensitive in zip(data.names, data.is_sensitive.tolist(), strict=True):
        columns.setdefault((draw(st.integers(0, 2)), bool(sensitive) and not mixed), []).append(name)
    buckets: list[int] = []
    while len(buckets) < len(data):
        size = draw(st.integers(1, min(max_size, len(data) - len(buckets))))
        buckets += [buckets[-1] + 1 if buckets else 0] * size
    return Anatomy.of(columns.values(), buckets)


@st.composite
def anatomized(draw: st.DrawFn, *, max_rows: int = 8, mixed: bool = False, max_size: int = 24) -> Transactions:
    """Small transactions that were cut anyhow: few of them are diverse."""
    data: Transactions = draw(transactions(max_rows=max_rows))
    return data.anatomized(draw(anatomies(data, mixed=mixed, max_size=max_size)))


@st.composite
def diverse(draw: st.DrawFn, *, max_size: int = 4, max_buckets: int = 3) -> Transactions:
    """Transactions that were cut so that in each column of a bucket all values are different, or nearly all."""
    columns = ["abc", "def", ["s1", "s2", "s3"]][: draw(st.integers(2, 3))]
    values = [st.lists(st.sampled_from(column), max_size=3, unique=True).map(sorted) for column in columns]
    rows: list[list[str]] = []
    buckets: list[int] = []
    for bucket in range(draw(st.integers(1, max_buckets))):
        size = draw(st.integers(2, max_size))
        unlike = draw(st.integers(0, 4)) > 0
        held = [
            draw(st.lists(value, min_size=size, max_size=size, unique_by=tuple if unlike else None)) for value in values
        ]
        rows += [[item for value in row for item in value] for row in zip(*held, strict=True)]
        buckets += [bucket] * size
    there = {item for row in rows for item in row}
    left = [[item for item in column if item in there] for column in columns]
    sensitive = [item for item in columns[-1] if len(columns) == 3 and item in there]
    return Transactions.from_lists(rows, sensitive=sensitive).anatomized(Anatomy.of(filter(None, left), buckets))
