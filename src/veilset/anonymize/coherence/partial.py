"""``partial``: single occurrences are deleted, so that an item leaves only the transactions in which it does harm.

All other methods delete an item from all transactions. Here each row keeps a part of its public items, such that every
public itemset of up to p items that occurs in what is kept is in at least k rows. Supports can only fall, so k people
in the release are k people in the original.

Confidences can fall, too: with h < 1 a release might keep the promise although the original does not. So by default h
must also hold in the original, for every itemset that occurs in the release; `truthful=False` asks for the release
only. In both cases step 1 finds a set of rows that may have the item back, but not always the largest one.

1. **Putting one item back.** With all else fixed, the sets of rows that may have an item back are closed under union.
   The largest is found by taking rows away until every itemset of up to p - 1 items beside it has k of them
   (`native/partial/thin.hpp`). From nothing but the items to keep, this is done for all items, the heaviest first, in
   passes until nothing changes.
2. **The anchor.** The same, but a heavy itemset that k transactions hold comes first: all its parts are safe everywhere
   (`native/partial/anchor.cpp`).
3. **Exchange.** One item is taken out, of all rows or of those that hold a second item; the others come back before it
   does. The result stays if it is worth more (`native/partial/exchange.hpp`). The work is counted, not timed, so that a
   run is repeatable; it ends in a state in which no item can be put back anywhere.
4. **Soft search.** From nothing, single changes are annealed with a growing penalty for itemsets that some but fewer
   than k rows hold, and these are forbidden step by step, the weakest first (`native/partial/soft.hpp`). 1 then starts
   with the occurrences that the search keeps. By default there is one short search with a fixed seed; `effort="high"`
   adds two long ones.

The best of 1, 2 and 4, each after 3, is the release. What no such release can keep is told by `bound`: a row keeps at
most its heaviest part whose itemsets of up to p items are all in k transactions of the original.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from veilset import _native
from veilset.anonymize.chance import seed_of
from veilset.anonymize.coherence.part_bound import frequent_parts, least_loss, possible_items
from veilset.anonymize.coherence.task import Task
from veilset.anonymize.options import Effort, Items, RandomState, Truthful, WeightsOption
from veilset.errors import InvalidArgument, said
from veilset.limits import Limits
from veilset.models import Coherence
from veilset.release import Attempt, Release
from veilset.transactions import Transactions

_ADVICE = "choose a smaller p."
_WORK = 300_000_000  # of the exchanges in each order; some ten seconds
_SEARCH_WORK = 250_000_000  # of the short soft search; some ten seconds
_SEARCHES, _LONGER = 2, 12  # with high effort, so many more, with so many times the work
_ROUNDS = 5  # over the rows, at least; else a soft search would not come far
_STARTS = 40  # items from which an anchor is grown
_TOTAL = 2**50  # of all occurrences' worth together
_MOST_SEARCHED = 2_000_000  # that a soft search looks at
_STAGES = {0: "Putting items back", 1: "Growing an itemset", 2: "Searching"}


def partial(
    data: Transactions,
    promise: Coherence,
    /,
    *,
    weights: WeightsOption = None,
    keep: Items = (),
    truthful: Truthful = True,
    effort: Effort = "normal",
    random_state: RandomState = None,
    limits: Limits,
) -> Release:
    """Delete single occurrences; `Release.kept` says which are left.

    Examples
    --------
    >>> from veilset import Coherence, Transactions, anonymize
    >>> data = Transactions.from_lists([["a", "b"], ["a", "b"], ["a", "c"], ["a", "c"], ["a", "b", "c"]])
    >>> anonymize(data, Coherence(k=2, p=2), method="partial").custodian_data.to_lists()
    [['a', 'b'], ['a', 'b'], ['a', 'c'], ['a', 'c'], ['a', 'b']]
    """
    if effort not in ("normal", "high"):
        raise InvalidArgument(f"{said('effort')} is {effort!r}.", "Give 'normal' or 'high'.")
    seed = seed_of(random_state) if effort == "high" else None
    return _made(data, promise, weights, keep, truthful, _WORK, seed, limits)


def quick_partial(
    data: Transactions,
    promise: Coherence,
    /,
    *,
    weights: WeightsOption = None,
    keep: Items = (),
    truthful: Truthful = True,
    effort: Effort = "normal",  # a stand-in takes the options of the method
    random_state: RandomState = None,
    limits: Limits,
) -> Release:
    """The same without exchanges and searches, whatever the effort."""
    return _made(data, promise, weights, keep, truthful, 0, None, limits)


def _made(
    data: Transactions,
    promise: Coherence,
    weights: WeightsOption,
    keep: Items,
    truthful: bool,
    work: int,
    seed: int | None,
    limits: Limits,
) -> Release:
    task = Task.of(data, promise, weights=weights, keep=keep, limits=limits)
    worth = _worth(task)
    orders = [_heaviest_first(task)]
    if anchor := _anchor(task, limits):
        first = sorted(orders[0], key=lambda code: (data.names[code] not in task.keep, code not in anchor))
        orders.append(first)
    plans = _plans(task, worth, seed, limits) if work else []
    found = _put_back(task, orders, plans, worth, truthful, work, limits)
    lost = [_share(task, worth, kept) for kept, _ in found]
    best = lost.index(min(lost))
    kept = found[best][0]
    changed = data.thinned(kept)
    names = ["heaviest items first", "a heavy itemset first"][: len(orders)]
    names += [f"soft search {number}" for number in range(1, len(plans) + 1)]
    return Release(
        original=data,
        custodian_data=changed,
        promise=promise,
        method="partial",
        options=task.options(
            truthful=None if truthful else False, effort=None if seed is None else "high", random_state=seed
        ),
        suppressed=data.in_order(set(data.names).difference(changed.names)),
        kept=kept,
        attempts=tuple(
            Attempt(
                names[number],
                float(np.count_nonzero(~one)) / max(1, len(one)),
                seconds,
                state="chosen" if number == best else "not chosen",
            )
            for number, (one, seconds) in enumerate(found)
        ),
        bound=least_loss(task, worth, lost[best], limits) if work else None,
    )


def _worth(task: Task) -> npt.NDArray[np.int64]:
    """The weight of one occurrence of each item, in units that are the same for all."""
    if task.weights is None:
        return np.ones(len(task.original.names), dtype=np.int64)
    weight, support = _weight(task), task.original.supports.tolist()
    total = max(1, sum(weight))
    return np.array([w * _TOTAL // (total * s) for w, s in zip(weight, support, strict=True)], dtype=np.int64)


def _weight(task: Task) -> list[int]:
    """The weight of each public item of the original; a sensitive one weighs nothing here, for it stays anyway."""
    code_of = dict(zip(task.data.names, task.weight.tolist(), strict=True))
    public = task.original.is_sensitive == 0
    return [code_of[name] if free else 0 for name, free in zip(task.original.names, public.tolist(), strict=True)]


def _heaviest_first(task: Task) -> list[int]:
    """The public items, those to keep first."""
    weight, names = _weight(task), task.original.names
    public = np.flatnonzero(task.original.is_sensitive == 0).tolist()
    return sorted(public, key=lambda code: (names[code] not in task.keep, -weight[code], code))


def _anchor(task: Task, limits: Limits) -> frozenset[int]:
    """A heavy itemset that k transactions hold."""
    data = task.original
    limits.step(_STAGES[1])
    with limits.guard("Growing an itemset", _ADVICE):
        found = _native.partial.heavy_itemset(
            data.offsets,
            data.items,
            len(data.names),
            may=(data.is_sensitive == 0).astype(np.uint8),
            weight=np.array(_weight(task), dtype=np.int64),
            starts=np.array(_heaviest_first(task)[:_STARTS], dtype=np.int32),
            k=task.promise.k,
            threads=limits.thread_count,
            **limits.for_kernel(_STAGES.__getitem__),
        )
    return frozenset(found.tolist())


def _plans(task: Task, worth: npt.NDArray[np.int64], seed: int | None, limits: Limits) -> list[npt.NDArray[np.uint8]]:
    """For each soft search, which occurrences should stay; a plan need not keep the promise."""
    data = task.original
    most = _SEARCH_WORK if seed is None else _LONGER * _SEARCH_WORK
    if _ROUNDS * int((data.lengths.astype(np.int64) ** 2).sum()) > most:
        return []
    sets, size = frequent_parts(task, _MOST_SEARCHED, limits)
    may = possible_items(task)
    may[data.codes(list(task.keep))] = 2

    def searched(seeds: list[int], work: int) -> list[npt.NDArray[np.uint8]]:
        limits.step(_STAGES[2])
        with limits.guard("Searching", _ADVICE):
            return _native.partial.soft_search(
                data.offsets,
                data.items,
                len(data.names),
                may=may,
                worth=worth,
                set_offsets=sets.offsets,
                set_items=sets.items,
                seeds=np.array(seeds, dtype=np.uint64),
                k=task.promise.k,
                size=size,
                work=work,
                threads=limits.thread_count,
                **limits.for_kernel(_STAGES.__getitem__),
            )

    plans = searched([0], _SEARCH_WORK)
    if seed is not None:
        plans += searched([(seed + number) % 2**64 for number in range(_SEARCHES)], most)
    return [plan for plan in plans if len(plan) == len(data.items)]


def _put_back(
    task: Task,
    orders: list[list[int]],
    plans: list[npt.NDArray[np.uint8]],
    worth: npt.NDArray[np.int64],
    truthful: bool,
    work: int,
    limits: Limits,
) -> list[tuple[npt.NDArray[np.bool_], float]]:
    """For each order in which items return, and each plan, which occurrences are left, and the seconds."""
    data, promise = task.original, task.promise
    kind, kinds = _sensitive_things(task)
    turns = [*orders, *[orders[0]] * len(plans)]
    limits.step(_STAGES[0])
    with limits.guard("Putting items back", _ADVICE):
        found = _native.partial.put_back(
            data.offsets,
            data.items,
            len(data.names),
            turn_offsets=np.arange(len(turns) + 1, dtype=np.int64) * len(orders[0]),
            turn_items=np.array([code for order in turns for code in order], dtype=np.int32),
            plan=np.array([-1] * len(orders) + list(range(len(plans))), dtype=np.int32),
            plans=np.concatenate(plans) if plans else np.zeros(0, dtype=np.uint8),
            worth=worth,
            kind=kind,
            kinds=kinds,
            h_num=promise.share.numerator,
            h_den=promise.share.denominator,
            truthful=truthful,
            stay=len(task.keep),
            k=promise.k,
            p=promise.p or 0,
            work=work,
            threads=limits.thread_count,
            **limits.for_kernel(_STAGES.__getitem__),
        )
    return [(kept.view(np.bool_), seconds) for kept, seconds in found]


def _sensitive_things(task: Task) -> tuple[npt.NDArray[np.int32], int]:
    """For each item, which sensitive thing it is (-1: none), and how many there are; none if h limits nothing."""
    data = task.original
    kind = np.full(len(data.names), -1, dtype=np.int32)
    if not task.promise.limits_inference(data):
        return kind, 0
    group = task.promise.group_names(data)
    number: dict[str, int] = {}
    for name in data.sensitive:
        kind[data.codes([name])[0]] = number.setdefault(group.get(name, name), len(number))
    return kind, len(number)


def _share(task: Task, worth: npt.NDArray[np.int64], kept: npt.NDArray[np.bool_]) -> float:
    """What is lost, of all that is weighed."""
    data = task.original
    lost = int(worth[data.items[~kept]].sum())
    return lost / max(1, int(worth[data.items].sum()))
