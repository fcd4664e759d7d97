"""The three algorithms that hide patterns: ``hpcme``, ``hidden-first``, ``non-hidden-first`` (Lee, Chang, Chen 2004).

They make different matrices and share the rest (`veilset.anonymize.hiding.hide`).

- ``hidden-first`` (HF, §3.1, Figure 4): every pair inside a hidden pattern gets a victim. The text spares pairs that a
  pattern to keep holds too, as the other algorithms do; its figure does not. The figure is followed, and
  ``spare_shared_pairs`` gives the text. S holds no 1 beside its diagonal, so that one -1 is enough.
- ``non-hidden-first`` (NHF, §3.2, Figure 5): only pairs that no pattern to keep holds get a victim, and pairs that only
  patterns to keep hold get a 1, which makes up for a -1. It may hide too little of a pattern; `certify` does the rest.
- ``hpcme`` (§3.3): hides patterns completely with minimum side effect. The matrix is that of ``non-hidden-first``.
  Where its product keeps a victim although a -1 met it in this transaction, the victim stays with the **restoration
  probability** p_r only. (Read literally, the paper asks whether there is any -1 in the victim's column; victims would
  then vanish from transactions that hold no pair of a hidden pattern, and p_r = 0 would not be the hidden-first
  algorithm, as the paper says it is.) With p_r = 1 it is ``non-hidden-first``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Annotated, cast

from veilset.anonymize.binding import MOST_ITEMS, Eased
from veilset.anonymize.chance import Share, probability
from veilset.anonymize.hiding.certified import Hidden
from veilset.anonymize.hiding.hide import Wish, hide
from veilset.anonymize.methods import HeldMethod, Method, Methods
from veilset.anonymize.options import Certify, KeepPatterns, Margin, RandomState
from veilset.errors import said
from veilset.limits import Limits
from veilset.mining import supports
from veilset.options import Option
from veilset.release import Release
from veilset.transactions import Transactions


def hpcme(
    data: Transactions,
    promise: Hidden,
    /,
    *,
    p_r: Annotated[
        Share,
        Option(
            "share",
            "Probability that an item stays if one pattern removes it and another keeps it. Default: 0.35.",
            public=True,
        ),
    ] = "0.35",
    keep_patterns: KeepPatterns = None,
    certify: Certify = True,
    margin: Margin = None,
    random_state: RandomState = None,
    limits: Limits,
) -> Release:
    """Hide patterns, and give back by chance what patterns to keep need.

    The higher the restoration probability *p_r*, the more is kept, and the less is hidden.

    >>> from veilset import HiddenPatterns
    >>> data = Transactions.from_lists([[4, 5], [2, 4], [1, 2, 5], [1, 3, 5], [1, 2, 3, 5], [2, 4, 5]])
    >>> promise = HiddenPatterns([["4", "5"], ["1", "2", "5"]], min_support="30%")
    >>> as_published = {"keep_patterns": [["2", "4"], ["1", "3", "5"]], "certify": False, "limits": Limits()}
    >>> hpcme(data, promise, p_r=0, **as_published).custodian_data.to_lists()
    [['5'], ['2', '4'], ['5'], ['1', '3', '5'], ['3', '5'], ['5']]
    >>> hidden_first(data, promise, **as_published).custodian_data.to_lists()
    [['5'], ['2', '4'], ['5'], ['3', '5'], ['3', '5'], ['5']]
    >>> non_hidden_first(data, promise, **as_published).custodian_data.to_lists()
    [['5'], ['2', '4'], ['5'], ['1', '3', '5'], ['1', '3', '5'], ['2', '4', '5']]
    """
    wish = Wish(keep_patterns, certify, margin, random_state)
    chance = probability(p_r, "p_r")
    return hide(data, promise, "hpcme", wish, spare=True, reinforce=True, p_r=chance, limits=limits)


def hidden_first(
    data: Transactions,
    promise: Hidden,
    /,
    *,
    spare_shared_pairs: Annotated[
        bool, Option("switch", "Skip pairs that a pattern to keep also contains.", public=True)
    ] = False,
    keep_patterns: KeepPatterns = None,
    certify: Certify = True,
    margin: Margin = None,
    random_state: RandomState = None,
    limits: Limits,
) -> Release:
    """Break up every pair of items of a hidden pattern."""
    wish = Wish(keep_patterns, certify, margin, random_state, {"spare_shared_pairs": spare_shared_pairs})
    return hide(data, promise, "hidden-first", wish, spare=spare_shared_pairs, reinforce=False, limits=limits)


def non_hidden_first(
    data: Transactions,
    promise: Hidden,
    /,
    *,
    keep_patterns: KeepPatterns = None,
    certify: Certify = True,
    margin: Margin = None,
    random_state: RandomState = None,
    limits: Limits,
) -> Release:
    """Break up pairs of items of a hidden pattern where no pattern to keep suffers."""
    wish = Wish(keep_patterns, certify, margin, random_state)
    return hide(data, promise, "non-hidden-first", wish, spare=True, reinforce=True, limits=limits)


def _eased(release: Release, limits: Limits) -> Iterator[Eased]:
    """min_support in doublings; and the most frequent of what is hidden, of which one at least has to be."""
    promise, data = release.promise, release.original
    assert isinstance(promise, Hidden)  # noqa: S101 - these are its limits
    most = len(data) if isinstance(promise.min_support, int) else 1  # beyond, nothing is ever found
    larger, steps = promise.min_support * 2, []
    while larger <= most:
        steps.append((larger, replace(promise, min_support=larger)))
        larger *= 2
    yield Eased("min_support", promise.min_support, steps=steps)
    kind = promise.listed
    listed = getattr(promise, kind)
    if len(listed) == 1:
        return
    held = supports(data, promise.itemsets, **limits.bounds()).tolist()
    for at in sorted(range(len(listed)), key=lambda at: -held[at])[:MOST_ITEMS]:
        rest = [*listed[:at], *listed[at + 1 :]]
        yield Eased(
            kind,
            None,
            without=type(promise)(**{**promise.parameters(), kind: rest}),  # type: ignore[arg-type]
            items=promise.itemsets[at],
        )


_BY_NAME: Mapping[str, Method] = {
    "hpcme": hpcme,
    "hidden-first": hidden_first,
    "non-hidden-first": non_hidden_first,
}

HIDING = Methods(
    _BY_NAME,
    milder=f"larger {said('min_support')}",
    eased=_eased,
    on_engines={name: cast(HeldMethod, method) for name, method in _BY_NAME.items()},  # `hide` takes both kinds of data
    aliases={"HF": ("hidden-first", {}), "NHF": ("non-hidden-first", {})},  # certified: the product may not be enough
)
