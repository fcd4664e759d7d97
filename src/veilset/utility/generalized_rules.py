"""Rules under coarser names: which of them a release has, and what they tell of the finer ones (Cao et al. 2010 §3.2).

Rules mined from a release (`veilset.mining.rules`) are true of the original: whoever has an item of a group has the
group. What follows from them for items is less than the paper says (§3.2 and appendix D: the confidence of a rule of
groups bounds those of its items from above). That holds on the right side only. Let A stand for a1 and a2; then
``a1 s | a2`` is released as ``A s | A``: A → s has a confidence of 1/2, and a1 → s one of 1. So the bounds here are
derived anew. Let X' be the names under which the items of X are released, as far as they are, and sup' the released
supports:

- sup(X) <= sup'(X'), as every transaction that holds X is one that is released with X'. It is equal if all of X is
  released as it was, and may be 0 else: nobody says that one of the items of a group occurs with the others, or at all.
- conf(X → y), X as it was: sup'(X) is known, so conf <= sup'(X' y') / sup'(X'), with equality if y is as it was;
  otherwise it may be 0.
- conf(X → y), X coarser or suppressed: those who hold X are some of those with X', nobody knows which. So a confidence
  is known if all of these have y, which is released as it was (1), or none has y' (0), and may be anything else.

Nothing more follows from the released supports alone: each bound is reached by some original.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction

from veilset.errors import InvalidArgument
from veilset.limits import Limits
from veilset.mining import Rules, support, supports
from veilset.release import Release
from veilset.transactions import Transactions
from veilset.transactions.vocabulary import several

StandsFor = Mapping[str, Iterable[str]]


def support_bounds(data: Transactions, stands_for: StandsFor, items: Iterable[str]) -> tuple[int, int]:
    """Bounds of the number of released transactions that contained these items originally: (at least, at most).

    Parameters
    ----------
    data : Transactions
        The released data.
    stands_for : mapping
        Coarser names to the items that they may mean, as in ``release.stands_for`` and the certificate. All of these
        items were recoded wherever they occurred.
    items : iterable of str
        Items of the original. Nothing is known about items that are not in the release.

    Examples
    --------
    >>> data = Transactions.from_lists([["drinks", "nuts"], ["drinks", "nuts"], ["nuts"]])
    >>> support_bounds(data, {"drinks": ["ale", "rum"]}, ["nuts", "ale"])
    (0, 2)
    """
    named, exact = _released(data, _recoded(stands_for), items)
    most = support(data, named)
    return (most if exact else 0), most


def rule_bounds(
    data: Transactions, stands_for: StandsFor, antecedent: Iterable[str], consequent: str
) -> tuple[Fraction, Fraction]:
    """Bounds of the confidence of antecedent → consequent in the original: (at least, at most).

    (0, 1): nothing is known. (0, 0): no transaction can have contained the antecedent.

    Parameters
    ----------
    data, stands_for
        As for `support_bounds`.
    antecedent : iterable of str
        Items of the original; empty: all transactions.
    consequent : str
        Another item.

    Examples
    --------
    >>> data = Transactions.from_lists([["drinks", "nuts"], ["drinks", "nuts"], ["nuts"]])
    >>> shelves = {"drinks": ["ale", "rum"]}
    >>> rule_bounds(data, shelves, ["nuts"], "ale")  # two of three bought a drink, perhaps ale
    (Fraction(0, 1), Fraction(2, 3))
    >>> rule_bounds(data, shelves, ["ale"], "nuts")  # ale was bought by one of two, and both bought nuts
    (Fraction(1, 1), Fraction(1, 1))
    """
    left = set(antecedent)
    if consequent in left:
        raise InvalidArgument(f"{consequent!r} is on both sides of the rule.", "Remove it from one side.")
    recoded = _recoded(stands_for)
    known, left_exact = _released(data, recoded, left)
    right, right_exact = _released(data, recoded, [consequent])
    alone, both = support(data, known), support(data, known | right)
    if not alone or not both:
        return Fraction(0), Fraction(0)
    share = Fraction(both, alone)
    if left_exact:
        return (share if right_exact else Fraction(0)), (share if right else Fraction(1))
    return Fraction(right_exact and both == alone), Fraction(1)


def kept_or_coarser(release: Release, found: Rules, *, least: int, confidence: Fraction, limits: Limits) -> int:
    """How many rules of the original are rules of the release, under the same names or coarser ones."""
    there = set(release.custodian_data.names)
    images = []
    for rule in found:
        left = {release.generalized.get(item, item) for item in rule.antecedent}
        right = release.generalized.get(rule.consequent, rule.consequent)
        gone = not {*rule.antecedent, rule.consequent}.isdisjoint(release.suppressed)
        if not gone and right not in left and there.issuperset({*left, right}):  # A → A says nothing
            images += [sorted(left), sorted({*left, right})]
    counted = supports(release.custodian_data, images, **limits.bounds()).reshape(-1, 2).tolist()
    return sum(both >= least and Fraction(both, left) >= confidence for left, both in counted)


def _recoded(stands_for: StandsFor) -> dict[str, tuple[str, bool]]:
    """The items that have a coarser name: the name, and whether it means nothing else."""
    recoded: dict[str, tuple[str, bool]] = {}
    for name, may_mean in stands_for.items():
        items = tuple(may_mean)
        for item in items:
            if item in recoded:
                raise InvalidArgument(
                    f"{item!r} is listed under both {recoded[item][0]!r} and {name!r}.", "Give every item one name."
                )
            recoded[item] = name, len(items) == 1
    return recoded


def _released(
    data: Transactions, recoded: Mapping[str, tuple[str, bool]], items: Iterable[str]
) -> tuple[set[str], bool]:
    """The names under which these items are released, as far as they are; and whether that says all of them exactly."""
    there, named, exact = set(data.names), set(), True
    for item in several(items, "items"):
        name, alone = recoded.get(item, (item, True))
        if name in there:
            named.add(name)
        exact = exact and alone and name in there
    return named, exact
