"""The auditors of hidden patterns and hidden rules.

A listed pattern is found if min_support transactions or more hold it; a rule, if as many hold both its sides and those
are min_confidence or more of the transactions with its antecedent. A share of support is one of the transactions of the
data that is audited. Items that the data does not have are in no transaction: a release may have lost them.

What is left of each pattern is told by its largest parts that still reach min_support. The accuracy of Lee, Chang and
Chen (2004, §4.1) asks whether some part p of a hidden pattern is found and lies under no non-sensitive pattern. The
largest parts decide that: p is part of a largest one, and if that one were under a non-sensitive pattern, p would be.
Where there are very many, some are listed, and it is said so; nothing else in the answer depends on them.

Transactions may lie on an engine. Then the answer is the same: it is made of the parts that are counted there
(`pattern_counts`), and does not depend on their order.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from veilset.audit.pattern_parts import MOST_WORK, parts_of
from veilset.engines import Held
from veilset.exact import percent
from veilset.limits import Limits
from veilset.models import Audit, HiddenPatterns, HiddenRules, Leftover, Margin, Witness
from veilset.transactions import Transactions


def audit_hidden_patterns(
    data: Transactions | Held, promise: HiddenPatterns, *, witnesses: int, limits: Limits
) -> Audit:
    """Whether no listed pattern reaches min_support in *data*, and what is left of each. The most frequent come first.

    The margin is the largest support of a listed pattern.
    """
    least = promise.least_support(len(data))
    left = _leftovers(data, promise.patterns, [None] * len(promise.patterns), least, limits)
    found = sorted((one for one in left if one.support >= least), key=lambda one: -one.support)
    most = max(left, key=lambda one: one.support)
    return Audit(
        promise=promise,
        holds=not found,
        witnesses=tuple(
            Witness(one.itemset, one.support, None, None, _pattern_reason(one.support, least))
            for one in found[:witnesses]
        ),
        found=len(found),
        found_by_size=(),
        margins={"largest_support": Margin(most.support, most.itemset)},
        checked=_different(left, ()),
        feasible=True,
        transactions=len(data),
        leftovers=left,
    )


def audit_hidden_rules(data: Transactions | Held, promise: HiddenRules, *, witnesses: int, limits: Limits) -> Audit:
    """Whether no listed rule reaches min_support and min_confidence in *data*, and what is left of each.

    The surest come first, then the most frequent. The margins are the largest support of a rule that is sure enough,
    and the largest confidence of one that is frequent enough.
    """
    least, sure = promise.least_support(len(data)), promise.min_confidence
    antecedents = [known for known, _ in promise.rules]
    left = _leftovers(data, promise.itemsets, antecedents, least, limits)
    rules = [_Rule.of(*rule, one) for rule, one in zip(promise.rules, left, strict=True)]
    found = [rule for rule in rules if rule.together >= least and rule.confidence >= sure]
    found.sort(key=lambda rule: (-rule.confidence, -rule.together))
    return Audit(
        promise=promise,
        holds=not found,
        witnesses=tuple(
            Witness(rule.known, rule.held, rule.inferred, rule.confidence, _rule_reason(rule, least, sure))
            for rule in found[:witnesses]
        ),
        found=len(found),
        found_by_size=(),
        margins=_margins(rules, least, sure),
        checked=_different(left, antecedents),
        feasible=True,
        transactions=len(data),
        leftovers=left,
    )


@dataclass(frozen=True)
class _Rule:
    """A listed rule as it is counted; *inferred* is its consequent in one name."""

    known: tuple[str, ...]
    inferred: str
    together: int
    held: int
    confidence: Fraction  # 0 where nobody holds the antecedent

    @classmethod
    def of(cls, known: tuple[str, ...], consequent: tuple[str, ...], left: Leftover) -> _Rule:
        held = left.antecedent_support or 0
        return cls(known, " + ".join(consequent), left.support, held, Fraction(left.support, held or 1))


def _margins(rules: Sequence[_Rule], least: int, sure: Fraction) -> dict[str, Margin]:
    margins = {}
    if most := max((rule for rule in rules if rule.confidence >= sure), key=lambda rule: rule.together, default=None):
        margins["largest_support"] = Margin(most.together, most.known, most.inferred)
    if most := max((rule for rule in rules if rule.together >= least), key=lambda rule: rule.confidence, default=None):
        margins["largest_confidence"] = Margin(most.confidence, most.known, most.inferred)
    return margins


def _leftovers(
    data: Transactions | Held,
    itemsets: Sequence[tuple[str, ...]],
    antecedents: Sequence[tuple[str, ...] | None],
    least: int,
    limits: Limits,
) -> tuple[Leftover, ...]:
    """What is left of each itemset. Work that one does not need for its largest parts is left to those after it."""
    left: list[Leftover] = []
    work = MOST_WORK
    for itemset, antecedent, parts in zip(itemsets, antecedents, parts_of(data, itemsets, limits), strict=True):
        largest, complete = parts.largest(least, work // (len(itemsets) - len(left)), limits)
        work -= min(work, parts.work)
        left.append(
            Leftover(
                itemset,
                parts.support(itemset),
                None if antecedent is None else parts.support(antecedent),
                largest,
                complete,
            )
        )
    return tuple(left)


def _different(left: Iterable[Leftover], antecedents: Iterable[tuple[str, ...]]) -> int:
    """How many different itemsets were counted."""
    counted = {frozenset(antecedent) for antecedent in antecedents}
    for one in left:
        counted.add(frozenset(one.itemset))
        counted.update(frozenset(part) for part, _ in one.largest)
    return len(counted)


def _pattern_reason(support: int, least: int) -> str:
    found = "1 transaction contains" if support == 1 else f"{support:,} transactions contain"
    return f"{found} it, and {_enough(least)} it discoverable"


def _rule_reason(rule: _Rule, least: int, sure: Fraction) -> str:
    found = "the only matching transaction contains"
    if rule.held > 1:
        found = f"{rule.together:,} of {rule.held:,} matching transactions ({percent(rule.confidence)}) contain"
    return f"{found} {rule.inferred!r}, and {_enough(least, f' with a confidence of {percent(sure)}')} it discoverable"


def _enough(transactions: int, at: str = "") -> str:
    return f"1{at} makes" if transactions == 1 else f"{transactions:,}{at} make"
