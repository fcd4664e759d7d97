"""(h,k,p)-coherence: Xu, Fung, Wang, Fu, Pei (ICDM 2008); Xu's thesis (2008), chapter 4."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, ClassVar, Literal

from veilset.errors import Infeasible, InvalidArgument, said
from veilset.exact import at_least, exact_share, is_whole, percent
from veilset.models.promise import Parameter, Promise, Vacuous
from veilset.options import Option
from veilset.transactions import Counted, Transactions


@dataclass(frozen=True, init=False)
class Coherence(Promise):
    """Protects everybody in the data against an attacker who knows up to *p* of their public items.

    At least *k* transactions match anything such an attacker knows, or none do, and no sensitive item is in more than a
    share *h* of those that match.

    Parameters
    ----------
    k : int
        Minimum number of transactions that match.
    p : int or None
        Maximum number of public items the attacker knows; None: any number.
    h : share, optional
        Maximum confidence in any one sensitive item: a number such as 0.4, or text such as ``"2/3"``. It must be given
        if the data has sensitive items.
    sensitive_groups : iterable of iterables of str
        Sensitive items that reveal the same about a person; *h* treats those of a group as one item.

    Examples
    --------
    >>> Coherence(h="2/5", k=20, p=4)
    Coherence(h=2/5, k=20, p=4)
    """

    name: ClassVar[str] = "coherence"
    about_sensitive: ClassVar[bool] = True

    h: Fraction | None
    k: int
    p: int | None
    sensitive_groups: tuple[tuple[str, ...], ...]

    def __init__(
        self,
        *,
        k: Annotated[int, Option("whole", "Minimum number of people who match anything the attacker knows.", "20")],
        p: Annotated[
            int | Literal["unlimited"] | None,
            Option(
                "whole or unlimited",
                "Maximum number of public items of a person the attacker knows; or: unlimited.",
                "4",
            ),
        ],
        h: Annotated[
            float | str | Fraction | None,
            Option(
                "share",
                "Maximum confidence in any one sensitive item: 0.4, 40% or 2/5. Required if items are sensitive.",
                "0.4",
            ),
        ] = None,
        sensitive_groups: Annotated[
            Iterable[Iterable[str]],
            Option(
                "groups",
                "File with sensitive items that reveal the same about a person; h treats them as one.",
                flag="sensitive_group",
            ),
        ] = (),
    ) -> None:
        p = None if isinstance(p, str) and p == "unlimited" else p
        for letter, value in (("k", k), ("p", p)):
            if value is None and letter == "p":
                continue
            if not is_whole(value, most=2**31 - 1):
                unlimited = f", or {said('p', None)} for no limit" if letter == "p" else ""
                raise InvalidArgument(
                    f"{said(letter)} is {value!r}.",
                    f"Give a whole number from 1, such as {said(letter, 4)}{unlimited}.",
                )
        object.__setattr__(self, "h", None if h is None else exact_share(h, "h"))
        object.__setattr__(self, "k", int(k))
        object.__setattr__(self, "p", None if p is None else int(p))
        object.__setattr__(self, "sensitive_groups", _groups(sensitive_groups))

    def __repr__(self) -> str:
        h = "" if self.h is None else f"h={self.h}, "
        groups = f", sensitive_groups={self.sensitive_groups}" if self.sensitive_groups else ""
        return f"Coherence({h}k={self.k}, p={'unlimited' if self.p is None else self.p}{groups})"

    @property
    def excludes_nothing(self) -> Mapping[str, object]:
        """With k = 1 and h = 1, any data keeps it.

        >>> dict(Coherence(h=1, k=1, p=2).excludes_nothing), dict(Coherence(h=1, k=2, p=2).excludes_nothing)
        ({'k': 10, 'h': 0.4}, {})
        """
        if self.k > 1 or self.share < 1:
            return {}
        return {"k": 10} if self.h is None else {"k": 10, "h": 0.4}

    def excludes_nothing_in(self, data: Transactions, *, transactions: int | None = None) -> Vacuous | None:
        """Likewise with h = 1 if all items are sensitive: k is about public items only.

        >>> data = Transactions.from_lists([["flu"], ["flu", "hiv"]], sensitive=["flu", "hiv"])
        >>> Coherence(h=1, k=2, p=2).excludes_nothing_in(data).instead
        {'h': 0.4}
        """
        if self.k > 1 and self.share == 1 and data.sensitive and not data.public:
            why = (
                f"All items are sensitive, so the promise excludes nothing: {said('k', self.k)} is about what an "
                f"attacker knows of public items, and {said('h', str(self.share))} sets no limit."
            )
            return Vacuous(why, {"h": 0.4})
        return super().excludes_nothing_in(data, transactions=transactions)

    def limits_inference(self, data: Transactions) -> bool:
        """With h < 1 and sensitive items."""
        return self.share < 1 and bool(data.sensitive)

    @property
    def support_floor(self) -> int:
        """k: no public itemset in a release is in fewer transactions."""
        return self.k

    @property
    def share(self) -> Fraction:
        """*h*, or 1 if none was given: then no item is sensitive."""
        return Fraction(1) if self.h is None else self.h

    def as_seen_by_attacker(self, data: Transactions) -> Transactions:
        """The data as this promise sees it: the sensitive items of a group are one item.

        A person with one of them has the group, so a bound for the group holds for each of its items.

        >>> data = Transactions.from_lists([["tea", "hiv"], ["tea", "aids"], ["tea"]], sensitive=["hiv", "aids"])
        >>> Coherence(h="1/2", k=2, p=1, sensitive_groups=[["hiv", "aids"]]).as_seen_by_attacker(data).to_lists()
        [['hiv or aids', 'tea'], ['hiv or aids', 'tea'], ['tea']]
        """
        names = self.group_names(data)
        return data.renamed(names) if names else data

    def group_names(self, data: Transactions) -> dict[str, str]:
        """For each sensitive item of the data that is in a group, the name of the group.

        >>> data = Transactions.from_lists([["tea", "hiv"], ["tea", "aids"], ["tea"]], sensitive=["hiv", "aids"])
        >>> Coherence(h="1/2", k=2, p=1, sensitive_groups=[["hiv", "aids"]]).group_names(data)
        {'hiv': 'hiv or aids', 'aids': 'hiv or aids'}
        """
        names: dict[str, str] = {}
        taken = {*data.names}
        for group in self.restricted_to(data).sensitive_groups:
            name = " or ".join(group)
            while name in taken:
                name += " (group)"
            taken.add(name)
            names.update(dict.fromkeys(group, name))
        return names

    def restricted_to(self, data: Counted) -> Coherence:
        """The same promise about *data*, in which only its items are named: what a release may say in public.

        A sensitive item that is in a group and not in the release was in more than a share *h* of the original.

        >>> data = Transactions.from_lists([["flu", "hiv"]], sensitive=["flu", "hiv"])
        >>> Coherence(h=1, k=1, p=1, sensitive_groups=[["flu", "hiv", "aids"]]).restricted_to(data)
        Coherence(h=1, k=1, p=1, sensitive_groups=(('flu', 'hiv'),))
        """
        there = {*data.names}
        groups = (tuple(item for item in group if item in there) for group in self.sensitive_groups)
        return Coherence(h=self.h, k=self.k, p=self.p, sensitive_groups=[group for group in groups if len(group) > 1])

    def check_items(self, data: Transactions) -> None:
        """Raise if an item of a group is not in the data: a misspelled name would protect nobody."""
        data.codes([item for group in self.sensitive_groups for item in group])

    def check_data(self, data: Transactions) -> None:
        """Raise if the data has sensitive items and no *h* was given, or an item of a group is not sensitive."""
        grouped = {item for group in self.sensitive_groups for item in group}
        if public := sorted(grouped.intersection(data.public)):
            raise InvalidArgument(
                f"{public[0]!r} is in a sensitive group, but is a public item.", "Declare it sensitive, too."
            )
        if self.h is None and data.sensitive:
            raise InvalidArgument(
                f"{said('h')} is not given, but {len(data.sensitive)} items are sensitive "
                f"(such as {data.sensitive[0]!r}).",
                f"Set the maximum confidence in a sensitive item, such as {said('h', 0.4)}; "
                f"{said('h', 1)} protects identities only.",
            )

    def check_meaningful(self, data: Transactions) -> None:
        """Raise if only h could have an effect, and no item is sensitive."""
        if self.k == 1 and self.share < 1 and not data.sensitive:
            raise InvalidArgument(
                f"No item is sensitive, so {said('h', str(self.h))} has no effect, and {said('k', 1)} excludes "
                "nothing.",
                f"Name the sensitive items ({said('sensitive')}), or choose for example {said('k', 10)}.",
            )

    def refuse_infeasible(self, data: Transactions) -> None:
        """Raise if the empty itemset breaks the promise (thesis Theorem 3): no suppression of public items helps."""
        self.check_data(data)
        data = self.as_seen_by_attacker(data)
        held = data.supports[data.codes(data.sensitive)].tolist()
        self.refuse_counts(len(data), dict(zip(data.sensitive, held, strict=True)))

    def refuse_counts(self, transactions: int, holders: Mapping[str, int]) -> None:
        """The same, given how many transactions there are, and how many hold each sensitive item or group."""
        if transactions < self.k:
            raise Infeasible(
                f"The data has {transactions} transactions, fewer than {said('k', self.k)}.",
                f"Use a k of at most {transactions}, or more data." if transactions else "Use data with transactions.",
            )
        shares = ((Fraction(held, transactions), name) for name, held in holders.items())
        blamed = [(share, name) for share, name in shares if share > self.share]
        if blamed:
            blamed.sort(key=lambda pair: (-pair[0], pair[1]))
            listed = ", ".join(f"{name!r} ({percent(share)})" for share, name in blamed[:5])
            more = f" and {len(blamed) - 5} more" if len(blamed) > 5 else ""
            raise Infeasible(
                f"{said('h', str(self.share))} cannot be kept: a larger share of all transactions "
                f"has {listed}{more}, so even an attacker who knows nothing has a higher confidence.",
                f"Use {said('h', str(at_least(blamed[0][0])))} or higher, stop treating these items as sensitive, "
                f"or allow suppressing them ({said('allow_sensitive', True)}).",
            )

    def too_common(self, data: Transactions) -> tuple[str, ...]:
        """The sensitive items that are in more than a share h of all transactions, in vocabulary order.

        With them, even an attacker who knows nothing has too high a confidence (thesis Theorem 3). If a sensitive group
        is too common, its most frequent members are removed one by one until the rest is not.

        >>> data = Transactions.from_lists([["tea", "flu"], ["flu"], ["tea", "hiv"]], sensitive=["flu", "hiv"])
        >>> Coherence(h="1/2", k=1, p=1).too_common(data)
        ('flu',)
        """
        gone: list[str] = []
        grouped = {item for group in self.sensitive_groups for item in group}
        groups = [*self.sensitive_groups, *((item,) for item in data.sensitive if item not in grouped)]
        support = dict(zip(data.names, data.supports.tolist(), strict=True))
        for group in groups:
            left = sorted((item for item in group if item in support), key=lambda item: (support[item], item))
            while left and _holders(data, left) * self.share.denominator > len(data) * self.share.numerator:
                gone.append(left.pop())
        return data.in_order(gone)

    def empty_needed(self, data: Transactions) -> int:
        """As many as needed to have k transactions, and no sensitive item in more than a share h of them.

        >>> data = Transactions.from_lists([["flu", "tea"], ["tea"]], sensitive=["flu"])
        >>> Coherence(h="2/5", k=2, p=1).empty_needed(data)
        1
        """
        seen = self.as_seen_by_attacker(data)
        most = int(seen.supports[seen.is_sensitive == 1].max(initial=0))
        return max(0, max(self.k, -(-most // self.share)) - len(data))

    def parameters(self) -> dict[str, Parameter]:
        """h as text, so that it stays exact; p None for unlimited; groups only if there are any."""
        groups: dict[str, Parameter] = {"sensitive_groups": self.sensitive_groups} if self.sensitive_groups else {}
        return {"h": None if self.h is None else str(self.h), "k": self.k, "p": self.p, **groups}

    def not_promised(self) -> tuple[str, ...]:
        """What the promise leaves open."""
        sentences = [
            "The promise does not cover an attacker who knows sensitive items of a person, or items they do not have.",
            "The release does not hide who is in the data, or what most people in it have in common.",
        ]
        if self.p is not None:
            most = "one public item" if self.p == 1 else f"{self.p} public items"
            more = f"The promise does not cover an attacker who knows more than {most} of a person."
            sentences.insert(0, more)
        if self.h is not None:
            sentences.append(
                "An attacker's confidence that a person has at least one sensitive item is reported, but not bounded."
            )
        if self.share < 1:
            sentences.append(self._absence())
        return tuple(sentences)

    def _absence(self) -> str:
        """What a missing item tells: methods remove no more than they must. The numbers are those of docs/limits.md."""
        people = "1 person has" if self.k == 1 else f"{self.k:,} people have"
        known = f"An attacker who knows that at least {people} an item, and does not find it in the file,"
        infers = f"it alone gives more than {percent(self.share)} confidence in a sensitive item"
        if self.p == 1:
            return f"{known} can infer that {infers}: with p = 1 there is no other reason to remove it."
        return (
            f"{known} can suspect that {infers}. In seven other data sets, with p = 2, that was true of 41% to 86% of "
            "such items at h = 10%, and of up to 19% at h = 40%."
        )


def _holders(data: Transactions, items: list[str]) -> int:
    """The number of transactions that hold at least one of these items."""
    return int((data.only(items).lengths > 0).sum())


def _groups(groups: Iterable[Iterable[str]]) -> tuple[tuple[str, ...], ...]:
    if isinstance(groups, str):
        raise InvalidArgument(f"{said('sensitive_groups')} is the text {groups!r}.", "Give a list of lists of items.")
    found: list[tuple[str, ...]] = []
    seen: set[str] = set()
    for group in groups:
        if isinstance(group, str):
            raise InvalidArgument(f"A sensitive group is the text {group!r}.", "Give a list of lists of items.")
        members = tuple(dict.fromkeys(group))
        if len(members) < 2:
            raise InvalidArgument(
                f"A sensitive group has {len(members)} item{'s' * (len(members) != 1)}.", "A group needs at least two."
            )
        if twice := seen.intersection(members):
            raise InvalidArgument(
                f"{min(twice)!r} is in two sensitive groups.", "Merge the groups, or remove it from one."
            )
        seen.update(members)
        found.append(members)
    return tuple(found)
