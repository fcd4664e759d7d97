"""What was done to hide patterns: what was taken out, what became of each pattern, and a picture of the matrix."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

import numpy as np
import numpy.typing as npt
from scipy.sparse import coo_array

from veilset.exact import percent
from veilset.release import Release, Sanitization
from veilset.report.charts import heat_map
from veilset.report.pages import Figure
from veilset.report.text import knowledge, number, shown
from veilset.run import Run
from veilset.utility import SideEffect
from veilset.utility.hiding import hidden_promise

_MOST_SHOWN = 30  # rows and columns of the picture
_MOST_NAMED = 6  # patterns in a sentence
_LONGEST_LABEL = 22
_ENTRIES = {-1: "−1: remove", 0: "0", 1: "1: keep"}


@dataclass(frozen=True)
class Taken:
    """How many occurrences of how many items are gone from how many transactions."""

    occurrences: int
    items: int
    transactions: int


def taken_out(release: Release) -> Taken | None:
    """What single occurrences are gone; None: items went from all transactions or from none."""
    if release.kept is None:
        return None
    gone = np.flatnonzero(~release.kept)
    rows = np.searchsorted(release.original.offsets, gone, side="right")
    return Taken(len(gone), len(np.unique(release.original.items[gone])), len(np.unique(rows)))


def taken_sentence(release: Release) -> str:
    """The same in words, with what each step did; empty if there is nothing to tell."""
    taken, how = taken_out(release), release.sanitization
    if taken is None:
        return ""
    steps = "" if how is None else _steps(how)
    if not taken.occurrences:
        return f"no item occurrence removed{steps}"
    return (
        f"{number(taken.occurrences, 'occurrence')} of {number(taken.items, 'item')} removed from "
        f"{number(taken.transactions, 'transaction')}{steps}"
    )


def _steps(how: Sanitization) -> str:
    counted = {"by the matrix": how.by_matrix, "more to hide everything": how.by_victims, "restored": how.put_back}
    parts = [f"{count:,} {what}" for what, count in counted.items() if count]
    return f" ({', '.join(parts)})" if len(parts) > 1 else ""


def how_it_was_hidden(release: Release) -> list[str]:
    """Sentences about the steps of the method, its restoration probability and the levels."""
    how = release.sanitization
    if how is None:
        return []
    product = f"Multiplying the transactions by the matrix removed {number(how.by_matrix, 'occurrence')}."
    if not _from_product(release):
        product = "The matrix was not used: the chosen strategy does not need it."
    told = [
        f"{product} Removed in addition, to hide everything: {how.by_victims:,}. Restored, because nothing required "
        f"their removal: {how.put_back:,}."
    ]
    if reached := p_r_reached(release):
        told.append(
            f"The restoration probability p_r was {reached}: the chance that an occurrence stays if the matrix "
            "removes it "
            "for one pattern and keeps it for another."
        )
    if how.levels:
        told.append(
            f"Each pattern had to fall below its own random level, from {percent(min(how.levels))} to "
            f"{percent(max(how.levels))} of the discovery threshold. Patterns that all end just below the threshold "
            "would be conspicuous. The levels are as secret as the patterns."
        )
    else:
        told.append("Only the matrix product was used: this is the published algorithm, which may leave patterns.")
    return told


def _from_product(release: Release) -> bool:
    """Whether the release starts from the product: the first strategy does, the others from the data itself."""
    return not release.attempts or release.attempts[0].won


def p_r_reached(release: Release) -> str:
    """The restoration probability in the end, and what was asked for if that was more; empty if it played no part."""
    how = release.sanitization
    if how is None or not _from_product(release) or (reached := how.p_r) is None:
        return ""
    asked = Fraction(str(release.options.get("p_r", reached)))
    return _decimal(reached) if asked == reached else f"{_decimal(reached)} ({_decimal(asked)} requested)"


def _decimal(share: Fraction) -> str:
    return f"{float(share):.3g}"


@dataclass(frozen=True)
class Ledger:
    """What became of the patterns.

    Parameters
    ----------
    says : str
        How many of each fate.
    found : int
        How many that were to be hidden are still found.
    hidden : sequence
        Of those that were to be hidden: name, transactions before and after, level, fate, how much it stands out; those
        still found first, then those that most transactions held.
    lost : sequence
        Of those that were to stay and are lost: name, transactions before and after; the most frequent first.
    """

    says: str
    found: int
    hidden: Sequence[tuple[str, int, int, str, str, str]]
    lost: Sequence[tuple[str, int, int]]


def ledger(run: Run) -> Ledger | None:
    """What became of each pattern; None if there is none, or counting took too long."""
    effects = run.side_effects
    if effects is None:
        return None
    fates = Counter(effect.fate for effect in effects)
    what = run.promise.listed.removesuffix("s")
    hidden = sorted((effect for effect in effects if effect.kind == "hidden"), key=_worst_first)
    lost = sorted((effect for effect in effects if effect.fate == "lost"), key=_worst_first)
    kept = fates["kept"] + fates["lost"]
    stay = f"of {number(kept, 'pattern')} to keep, {fates['kept']:,} were kept and {fates['lost']:,} lost"
    return Ledger(
        f"{number(fates['hidden'], what)} hidden, {fates['found']:,} still found{f'; {stay}' if kept else ''}.",
        fates["found"],
        [(_name(one), one.before, one.after, _level(one), _fate(one), _standing(one)) for one in hidden],
        [(_name(effect), effect.before, effect.after) for effect in lost],
    )


def _worst_first(effect: SideEffect) -> tuple[bool, int]:
    return effect.fate != "found", -effect.before


def _name(effect: SideEffect) -> str:
    return knowledge(effect.items) if effect.rule is None else " → ".join(map(knowledge, effect.rule))


def _level(effect: SideEffect) -> str:
    return "–" if effect.level is None else percent(effect.level)


def _standing(effect: SideEffect) -> str:
    standing = effect.standing
    if standing is None:
        return "–"
    ranks = f"{standing.by_lift:,} by lift, {standing.by_shortfall:,} by shortfall, of {standing.among:,}"
    clear = "" if standing.clear_from is None else f"; not from about {number(standing.clear_from, 'transaction')} on"
    return f"stands out: {ranks}{clear}" if standing.stands_out else ranks


def standing_sentences(run: Run) -> list[str]:
    """How many hidden patterns stand out, and what could be done; empty where nothing was counted."""
    told = [effect for effect in run.side_effects or () if effect.kind == "hidden"]
    if not told:
        return []
    out = [(effect, one) for effect in told if (one := effect.standing) is not None and one.stands_out]
    says = (
        "Anyone who has the file can look for pairs of items that are rarer than independent items would be (if those "
        "would be together in at least five transactions). "
        f"Of {number(len(told), 'hidden ' + run.promise.listed.removesuffix('s'))}, {len(out):,} "
        f"{'stands' if len(out) == 1 else 'stand'} out: first, or in the first hundredth, by lift or by the number of "
        "standard deviations missing."
    )
    least = hidden_promise(run.release).least_support(len(run.release.custodian_data))
    # More than two items: no support of the pattern says how rare a pair of them is.
    pairs = sorted(((one.clear_from, effect) for effect, one in out if one.clear_from is not None), key=_most_first)
    bound = [pair for pair in pairs if pair[0] >= least]
    fallen = [pair for pair in pairs if pair[0] < least and _allows(pair[1].level, least, pair[0])]
    low = [pair for pair in pairs if pair not in bound and pair not in fallen]
    above = f"Use a threshold above {bound[0][0]:,}" if bound else ""
    return [
        says,
        *_advice(
            bound,
            f"the discovery threshold ({least:,}) is too low",
            f"{above}, or hide fewer patterns of such frequent items.",
        ),
        *_advice(low, "the level is too low, or there is none", "Certify the release, and set no margin."),
        *_advice(
            fallen,
            "it was not the level: their items had to be removed for other hidden patterns",
            "Use another seed, or hide fewer patterns with these items.",
        ),
    ]


def _most_first(pair: tuple[int, SideEffect]) -> tuple[int, str]:
    return -pair[0], _name(pair[1])


def _allows(level: Fraction | None, least: int, support: int) -> bool:
    """Whether a pattern at this level may be in so many transactions."""
    return level is not None and support < level * least


def _advice(pairs: Sequence[tuple[int, SideEffect]], why: str, remedy: str) -> list[str]:
    """Why these pairs stand out, from which support on they would not, and what to do; nothing if there are none."""
    if not pairs:
        return []
    more = f" and {len(pairs) - _MOST_NAMED:,} more" if len(pairs) > _MOST_NAMED else ""
    named = ", ".join(f"{_name(effect)} ({support:,})" for support, effect in pairs[:_MOST_NAMED])
    return [
        f"For {len(pairs):,} of them {why}. They would be inconspicuous with about so many transactions: "
        f"{named}{more}. {remedy}"
    ]


def _fate(effect: SideEffect) -> str:
    return "STILL FOUND" if effect.fate == "found" else effect.fate


def matrix_figure(release: Release) -> Figure | None:
    """The entries of the sanitization matrix that act: the columns of the items that lose most, and their rows."""
    if release.matrix is None:
        return None
    entries = release.matrix.tocoo()
    victims, hit_by = _most_used(release, entries)
    if not len(victims):
        return None
    columns, rows = victims[:_MOST_SHOWN], hit_by[:_MOST_SHOWN]
    value = np.zeros((len(release.original.names), len(columns)), dtype=np.int64)
    place = {int(item): at for at, item in enumerate(columns)}
    for row, column, entry in zip(entries.row.tolist(), entries.col.tolist(), entries.data.tolist(), strict=True):
        if column in place:
            value[row, place[column]] = entry
    left = [*_not_shown(victims, "column"), *_not_shown(hit_by, "row")]
    names = release.original.names
    across, down = _labels([names[item] for item in columns]), _labels([names[item] for item in rows])
    says = (
        "Each column is an item that may be removed, the largest losses first. Each row is an item it occurs with. "
        "−1: the column's item is removed from transactions with the row's item; 1: it is kept in them; 0: neither."
        + (f" Not shown: {' and '.join(left)}." if left else "")
    )
    cells = [
        (there, here, int(value[row, at]))
        for row, there in zip(rows, down, strict=True)
        for at, here in enumerate(across)
    ]
    return Figure(
        title="The sanitization matrix",
        says=says,
        chart=partial(heat_map, cells, _ENTRIES, across="item", down="other item"),
        head=("In transactions with", "This item", "Entry"),
        rows=[(there, here, _ENTRIES[entry]) for there, here, entry in cells if entry],
        widest=max(27, 12 + 1.2 * len(columns)),  # what is drawn for few columns is not blown up
    )


def _most_used(release: Release, entries: coo_array) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """The items with a -1 in their column, those that lost most first; and the items with an entry beside them."""
    names = len(release.original.names)
    lost = release.original.supports - release.survivors()
    victims = np.unique(entries.col[entries.data < 0]).astype(np.int64)
    victims = victims[np.argsort(-lost[victims], kind="stable")]
    beside = (entries.row != entries.col) & np.isin(entries.col, victims[:_MOST_SHOWN])
    hits = np.bincount(entries.row[beside & (entries.data < 0)], minlength=names)
    spared = np.bincount(entries.row[beside], minlength=names)
    rows = np.flatnonzero(spared)
    return victims, rows[np.lexsort((rows, -spared[rows], -hits[rows]))]


def _not_shown(items: npt.NDArray[np.int64], what: str) -> list[str]:
    more = len(items) - _MOST_SHOWN
    return [number(more, what)] if more > 0 else []


def _labels(names: Sequence[str]) -> list[str]:
    """Names that fit beside a picture; those that would look alike are numbered."""
    seen: Counter[str] = Counter()
    labels = []
    for name in map(shown, names):
        label = name if len(name) <= _LONGEST_LABEL else name[: _LONGEST_LABEL - 1] + "…"
        seen[label] += 1
        labels.append(label if seen[label] == 1 else f"{label} ({seen[label]})")
    return labels
