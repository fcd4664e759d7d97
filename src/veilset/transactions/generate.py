"""Synthetic transactions: for experiments at any size, and a small named set for demonstrations.

The same `random_state` gives the same transactions on any number of threads: every random decision is keyed
by the seed, the row and the number of the draw. `numpy.random` has no part in it: its streams change with
versions.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import cache

import numpy as np
import numpy.typing as npt

from veilset import _native
from veilset.errors import InvalidArgument
from veilset.exact import exact_share
from veilset.limits import Limits
from veilset.transactions.arguments import check_transactions
from veilset.transactions.taxonomy import Taxonomy
from veilset.transactions.transactions import Transactions

_MOST_ROWS = 2**31 - 1
_MOST_ITEMS = 10**7


def quest(
    *,
    transactions: int,
    average_length: float,
    pattern_length: float,
    items: int,
    patterns: int = 2000,
    random_state: int = 0,
    threads: int | None = None,
) -> Transactions:
    """Transactions composed of overlapping, corrupted patterns, as by IBM's Quest generator.

    T10I4D100K is ``quest(transactions=100_000, average_length=10, pattern_length=4, items=1000)``.

    Parameters
    ----------
    transactions, average_length, pattern_length, items, patterns
        The paper's D, T, I, N and L.
    random_state : int
        The seed.
    threads : int, optional
        None: all cores. The result does not depend on it.

    Notes
    -----
    Half of the patterns that do not fit are added anyway, and the others end the row, so the mean length is close to
    `average_length`, but not equal. Items that are in no pattern do not occur.

    References
    ----------
    R. Agrawal, R. Srikant: Fast algorithms for mining association rules. VLDB 1994, section 4.1.2.

    Examples
    --------
    >>> size = {"transactions": 1000, "average_length": 10, "pattern_length": 4, "items": 100}
    >>> data = quest(**size, random_state=7)
    >>> len(data), data == quest(**size, random_state=7, threads=1)
    (1000, True)
    """
    _whole("transactions", transactions, 1, _MOST_ROWS)
    _whole("items", items, 1, _MOST_ITEMS)
    _whole("patterns", patterns, 1, _MOST_ITEMS)
    _whole("random_state", random_state, 0, 2**64 - 1)
    _mean("average_length", average_length, items, "items")
    _mean("pattern_length", pattern_length, items, "items")
    lengths = {"average_length": average_length, "pattern_length": pattern_length, "patterns": patterns}
    return _numbered(_native.core.generate_quest, transactions, items, random_state, threads, lengths)


def pos_like(
    *,
    transactions: int,
    items: int,
    average_length: float,
    maximum_length: int,
    random_state: int = 0,
    threads: int | None = None,
) -> Transactions:
    """Transactions with the long tails of a point of sale: Zipf's law for the items, log-normal lengths.

    The size of BMS-POS is 515,597 transactions of 1,657 items, 6.5 on average and 164 at most.

    Parameters
    ----------
    transactions, items : int
        Number of each; with few transactions, not every item occurs.
    average_length : float
        The expected number of items of a transaction.
    maximum_length : int
        Maximum number of items in a transaction.
    random_state, threads
        As for `quest`.

    Examples
    --------
    >>> data = pos_like(transactions=2000, items=200, average_length=6.5, maximum_length=60)
    >>> len(data), int(data.lengths.max()) <= 60
    (2000, True)
    """
    _whole("transactions", transactions, 1, _MOST_ROWS)
    _whole("items", items, 1, _MOST_ITEMS)
    _whole("maximum_length", maximum_length, 1, items)
    _whole("random_state", random_state, 0, 2**64 - 1)
    _mean("average_length", average_length, maximum_length, "maximum_length")
    lengths = {"average_length": average_length, "maximum_length": maximum_length}
    return _numbered(_native.core.generate_pos, transactions, items, random_state, threads, lengths)


def _numbered(
    kernel: Callable[..., tuple[npt.NDArray[np.int64], npt.NDArray[np.int32]]],
    transactions: int,
    items: int,
    seed: int,
    threads: int | None,
    lengths: Mapping[str, float],
) -> Transactions:
    """What a kernel makes, with the items called 1, 2, 3, …"""
    task = "Generating transactions"
    limits = Limits(threads=threads)
    bounds = {"threads": limits.thread_count, **limits.for_kernel(lambda _: task)}
    with limits.guard(task, "generate fewer transactions."):
        offsets, codes = kernel(transactions=transactions, items=items, seed=seed, **lengths, **bounds)
        return Transactions.from_codes(offsets, codes, [str(number) for number in range(1, items + 1)])


def _whole(name: str, value: object, least: int, most: int) -> None:
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or not least <= value <= most:
        raise InvalidArgument(f"{name} is {value!r}.", f"Give a whole number from {least} to {most:,}.")


def _mean(name: str, value: object, most: int, bound: str) -> None:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or math.isnan(value) or not 1 <= value <= most:
        raise InvalidArgument(f"{name} is {value!r}.", f"Give a number from 1 to {most:,}, the value of {bound}.")


# Shelves with the share of shoppers, in thousandths, who buy an item without a special reason. The thirty-odd
# staples go with everything; what only one shopper in a thousand buys gives that shopper away.
_SHELVES = """
fresh food > bakery: bread 300, rolls 170, croissants 22, birthday cake 12
fresh food > dairy: milk 310, butter 200, yogurt 200, cheese 220, eggs 230, cream 130, oat milk 18
fresh food > fruit: bananas 230, apples 190, oranges 130, lemons 24, avocados 20, dragon fruit 1
fresh food > vegetables: tomatoes 200, potatoes 180, onions 180, carrots 160, lettuce 140, fennel 1
fresh food > mushrooms: champignons 24, truffles 1
fresh food > meat and fish: chicken 180, minced meat 150, ham 130, salmon 20, lobster 1
pantry > cooking: pasta 200, rice 160, flour 130, sugar 130, olive oil 140, canned tuna 20, saffron 1
pantry > snacks: chocolate 180, crisps 130, biscuits 130, chewing gum 30, crackers 22, energy bars 6
pantry > special diet: sugar-free chocolate 4, sweetener 5, crispbread 14, protein powder 3, prunes 3
pantry > frozen food: frozen pizza 22, ice cream 26, frozen peas 22
drinks > hot drinks: coffee 200, tea 140, herbal tea 14, ginger tea 4
drinks > cold drinks: mineral water 220, orange juice 150, cola 130, energy drink 8
drinks > alcohol: beer 150, wine 130, absinthe 1
household > cleaning: toilet paper 170, washing powder 26, dish soap 24, sponges 20, silver polish 1
household > baby: diapers 3, baby food 4, wet wipes 8
household > body: toothpaste 26, shampoo 24, plasters 14, mints 16, denture cleaner 2, heating pad 5
"""

# Shoppers in a special situation, in thousandths, and what they buy more or less of; sensitive after "|".
_SITUATIONS = """
young parents 90: diapers 600, baby food 450, wet wipes 350, milk 450 | sleeping pills 90, antidepressant 60
expecting 45: ginger tea 380, crackers 380, herbal tea 250, oranges 250 | pregnancy test 620
diabetics 60: sugar-free chocolate 420, sweetener 400, crispbread 350, sugar 20, cola 40 | insulin 680
athletes 70: protein powder 450, energy bars 420, bananas 400, eggs 380, chicken 330 | opioid painkiller 60
quitting smokers 60: chewing gum 500, mints 420, coffee 380 | nicotine patches 560, sleeping pills 60
seniors 90: denture cleaner 300, prunes 280, herbal tea 260 | blood pressure tablets 560, sleeping pills 120
night owls 75: energy drink 450, frozen pizza 420 | emergency contraception 130, antidepressant 130
bad backs 40: heating pad 420, plasters 260 | opioid painkiller 480
"""

# Anyone may buy a sensitive item, in thousandths.
_SENSITIVE = """
antidepressant 14, blood pressure tablets 14, emergency contraception 6, hair loss treatment 16, insulin 3,
nicotine patches 5, opioid painkiller 8, pregnancy test 6, sleeping pills 16
"""

_BLOCK = 1 << 16


def grocery_pharmacy(*, transactions: int = 3000, random_state: int = 0) -> Transactions:
    """Invented baskets of a supermarket with a pharmacy counter, with realistic names and risks.

    Shoppers live in a few situations (young parents, diabetics, …) that show in their groceries as well as at
    the counter: some groceries reveal a sensitive purchase, and a few are so rare that they identify the person.

    Examples
    --------
    >>> data = grocery_pharmacy()
    >>> len(data), len(data.public), len(data.sensitive)
    (3000, 76, 9)
    """
    _whole("transactions", transactions, 1, _MOST_ROWS)
    _whole("random_state", random_state, 0, 2**64 - 1)
    names, situation_upto, thousandths, public = _shop()
    lengths: list[npt.NDArray[np.int64]] = []
    codes: list[npt.NDArray[np.int32]] = []
    for first in range(0, transactions, _BLOCK):
        rows = np.arange(first, min(first + _BLOCK, transactions), dtype=np.uint64)
        draws = _thousandths(random_state, rows, len(names) + 1)
        situation = np.searchsorted(situation_upto, draws[:, 0], side="right")
        buys = draws[:, 1:] < thousandths[situation]
        buys[~buys[:, :public].any(axis=1), 0] = True  # nobody queues for nothing: bread at least
        lengths.append(buys.sum(axis=1))
        codes.append(np.nonzero(buys)[1].astype(np.int32))
    offsets = np.zeros(transactions + 1, dtype=np.int64)
    np.cumsum(np.concatenate(lengths), out=offsets[1:])
    items = np.concatenate(codes)
    occurring = {names[code] for code in np.unique(items).tolist()}
    return Transactions.from_codes(offsets, items, names, sensitive=occurring.intersection(names[public:]))


def with_private_items(
    data: Transactions, *, cap: float | str | Fraction, copied_from: Transactions | None = None
) -> Transactions:
    """Artificial sensitive items for data that has none, as the thesis makes them (§4.5.1).

    Each transaction gets a copy of its most frequent item among those that no more than the share *cap* of all
    transactions contain, or the item ``s*`` if it has none. So public items reveal much about private ones. The thesis
    sets the cap to 50%, which makes its own h = 40% infeasible on some data; with a cap of h it is always feasible.

    Parameters
    ----------
    cap : float, str or Fraction
    copied_from : Transactions, optional
        The same transactions with more items, which are copied from; None: *data* itself.

    Examples
    --------
    >>> data = Transactions.from_lists([["tea", "bun"], ["tea"], ["tea", "fig"], ["fig", "bun"]])
    >>> with_private_items(data, cap=0.5).to_lists()
    [['bun', 'private bun', 'tea'], ['s*', 'tea'], ['fig', 'private fig', 'tea'], ['bun', 'fig', 'private bun']]
    """
    check_transactions(data)
    whole = data if copied_from is None else copied_from
    share = exact_share(cap, "cap")
    if len(whole) != len(data):
        raise InvalidArgument(
            f"{len(whole):,} transactions to copy from, but {len(data):,} to copy to.", "Give the same transactions."
        )
    allowed = whole.supports * share.denominator <= share.numerator * len(whole)
    by_support = np.lexsort((-np.arange(len(allowed)), whole.supports))  # of equals, the first is the most frequent
    rank = np.empty(len(allowed), dtype=np.int64)
    rank[by_support] = np.arange(len(allowed))
    best = np.full(len(whole), -1, dtype=np.int64)
    np.maximum.at(best, np.repeat(np.arange(len(whole)), whole.lengths), np.where(allowed, rank, -1)[whole.items])
    private = [f"private {whole.names[by_support[at]]}" if at >= 0 else "s*" for at in best.tolist()]
    if taken := sorted(set(private).intersection(data.names)):
        raise InvalidArgument(f"The data already has an item {taken[0]!r}.", "Rename it first.")
    rows = [[*row, item] for row, item in zip(data.to_lists(), private, strict=True)]
    return Transactions.from_lists(rows).marked({*private, *data.sensitive})


def thesis_experiment(
    data: Transactions,
    *,
    public: float | str | Fraction,
    cap: float | str | Fraction | None = None,
    random_state: int = 0,
) -> Transactions:
    """Data as prepared for the thesis' experiments with coherence (§4.5.1): some items public, private ones added.

    Parameters
    ----------
    public : float, str or Fraction
        The thesis' δ: the share of the items that are public, chosen at random. The others are left out.
    cap : float, str or Fraction, optional
        Each transaction gets a private item, copied from all items of *data*: see `with_private_items`. None: no
        private items.
    random_state : int
        The seed of the choice.

    Examples
    --------
    >>> data = quest(transactions=1000, average_length=10, pattern_length=4, items=100)
    >>> prepared = thesis_experiment(data, public="20%", cap="40%")
    >>> len(data.names), len(prepared.public), prepared.sensitive[:2]
    (100, 20, ('private 1', 'private 10'))
    """
    check_transactions(data)
    _whole("random_state", random_state, 0, 2**64 - 1)
    count = round(len(data.names) * exact_share(public, "public"))
    chosen = np.random.default_rng(random_state).permutation(len(data.names))[:count]
    left = data.only([data.names[code] for code in chosen])
    return left if cap is None else with_private_items(left, cap=cap, copied_from=data)


def with_random_sensitive(data: Transactions, *, share: float | str | Fraction, random_state: int = 0) -> Transactions:
    """The same transactions with a random share of the items sensitive, as in the experiments with ρ-uncertainty.

    Items that are sensitive at a smaller share are also sensitive at a larger one (Cao et al. 2010, §6 and Appendix C).

    Examples
    --------
    >>> data = Transactions.from_lists([["ale", "bun", "fig"], ["ale", "jam", "tea"]])
    >>> [with_random_sensitive(data, share=share, random_state=1).sensitive for share in ("20%", "40%")]
    [('fig',), ('fig', 'jam')]
    """
    check_transactions(data)
    _whole("random_state", random_state, 0, 2**64 - 1)
    names = sorted(data.names)
    random.Random(random_state).shuffle(names)  # noqa: S311 - no secret
    return data.marked(names[: round(len(names) * exact_share(share, "share"))])


def grocery_pharmacy_taxonomy() -> Taxonomy:
    """The public items of `grocery_pharmacy` by shelf and department.

    Examples
    --------
    >>> taxonomy = grocery_pharmacy_taxonomy()
    >>> [taxonomy.label(node) for node in taxonomy.ancestors(taxonomy.leaf("milk"))]
    ['dairy', 'fresh food', 'ALL']
    """
    paths = {}
    for line in _SHELVES.strip().splitlines():
        place, stock = line.split(": ")
        paths.update(dict.fromkeys(_shares(stock), place.split(" > ")[::-1]))
    return Taxonomy.from_paths(paths)


@cache
def _shop() -> tuple[list[str], npt.NDArray[np.int64], npt.NDArray[np.int64], int]:
    """Item names, cumulative shares of the situations, what each buys (last: none), how many are public."""
    usual: dict[str, int] = {}
    for line in _SHELVES.strip().splitlines():
        usual |= _shares(line.split(": ")[1])
    public = len(usual)
    usual |= _shares(_SENSITIVE)
    shares, rows = [], []
    for line in _SITUATIONS.strip().splitlines():
        situation, bought = line.split(": ")
        shares.append(int(situation.rsplit(" ", 1)[1]))
        rows.append(list((usual | _shares(bought.replace(" | ", ", "))).values()))
    rows.append(list(usual.values()))
    return list(usual), np.cumsum(shares), np.array(rows), public


def _shares(text: str) -> dict[str, int]:
    pairs = (entry.strip().rsplit(" ", 1) for entry in text.split(","))
    return {name: int(share) for name, share in pairs}


def _thousandths(seed: int, rows: npt.NDArray[np.uint64], draws: int) -> npt.NDArray[np.int64]:
    """Numbers below 1000, one a row and draw, keyed by (seed, row, draw)."""
    key = _mix(np.array([seed], dtype=np.uint64))
    by_row = _mix(key + rows)
    mixed = _mix(by_row[:, None] + np.arange(1, draws + 1, dtype=np.uint64)[None, :])
    return ((mixed >> np.uint64(32)) % np.uint64(1000)).astype(np.int64)


def _mix(x: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """The step of splitmix64, modulo 2**64 as arrays (not scalars) do it without a warning."""
    x = x + np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))
