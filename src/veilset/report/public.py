"""The report that goes out with the data.

Everything in it is computed from the released transactions alone; the one number about the original, the
total loss, comes rounded to a percent. What coarser names stand for is the taxonomy's; of a taxonomy that was made
from the original, only what enough transactions have.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from markupsafe import Markup

from veilset.limits import Limits
from veilset.models import Audit
from veilset.report.pages import Figure, length_figure, render, support_figure
from veilset.report.text import ROUNDED_UP, number
from veilset.report.words import limits_met, says_nothing, tells_shares, verdict, words_of
from veilset.transactions import Counted, Transactions

_COUNTED_ANYWHERE = (
    "An auditor counted in these files to make sure. When you verify them, it counts again; its answer as JSON says "
    "where they come closest to the limits."
)
_LIMIT_HEADS = (("Measure", ""), ("In this file", "n"), ("Allowed", "keep"), ("Where", ""))
_CODE = Markup("<code>{}</code>")


def public_report(
    data: Counted,
    audit: Audit,
    *,
    loss_percent: int,
    version: str,
    merged: bool,
    unknown: bool = False,
    stands_for: Mapping[str, Sequence[str]] | None = None,
    listed_from: int = 0,
    thinned: bool = False,
    broken_in_original: int | None = None,
    in_parts: bool = False,
    limits: Limits | None = None,
) -> str:
    """A self-contained HTML page about released data.

    Parameters
    ----------
    data : Transactions
        The released transactions, or the counts of them.
    audit : Audit
        The auditor's answer about them.
    loss_percent : int
        How much of the original is gone, in percent of all item occurrences.
    version : str
        What wrote it, such as "veilset 0.1.0".
    merged : bool
        Whether the transactions of one person were merged.
    unknown : bool
        Whether those of unknown people were not.
    stands_for : mapping, optional
        What items with coarser names may have been, as the taxonomy says.
    listed_from : int
        How many transactions of the original must have an item for that; 0: all items of the taxonomy are there.
    thinned : bool
        Whether items were removed from single transactions.
    broken_in_original : int, optional
        And how much in the file exceeds a limit in the original; None: there is no limit.
    in_parts : bool
        Whether they are in several files, which are also audited on a cluster. Then the page leaves out what depends on
        where the auditor counts: how many itemsets, and which of those with the most extreme value it names.
    limits : Limits, optional
        Bounds for what has to be counted.
    """
    words = words_of(audit.promise)
    sensitive = data.is_sensitive.astype(bool)
    return render(
        "public.html",
        audit=audit,
        words=words,
        state=words.state(audit),
        good=audit.holds and not says_nothing(audit),
        verdict=verdict(audit, merged=merged, unknown=unknown),
        data=data,
        loss_percent=loss_percent,
        version=version,
        parameters=[(_CODE.format(name), *told) for name, *told in words.parameters(sensitive=bool(sensitive.any()))],
        limits=[limit[: -1 if in_parts else None] for limit in limits_met(audit)],
        limit_heads=_LIMIT_HEADS[: -1 if in_parts else None],
        how_checked=_COUNTED_ANYWHERE if in_parts else words.how_checked(audit),
        in_parts=in_parts,
        rounding=ROUNDED_UP if tells_shares(audit) else "",
        supports=_supports(data, audit.promise.support_floor),
        cut=words.cut(data, limits) if isinstance(data, Transactions) else None,
        lengths=_lengths(data) if data.anatomy is None else None,  # lines that mix people have no length of their own
        sensitive=list(zip(data.sensitive, data.supports[sensitive].tolist(), strict=True)),
        open_ends=audit.promise.open_ends(
            sensitive=bool(sensitive.any()),
            merged=merged,
            unknown=unknown,
            empty=audit.excludes_nothing,
            coarser=bool(stands_for),
            listed_from=listed_from,
            thinned=thinned,
            broken_in_original=broken_in_original,
        ),
        stands_for=dict(stands_for or {}),
    )


def _supports(data: Counted, k: int) -> Figure | None:
    sensitive = data.is_sensitive.astype(bool)
    public = data.supports[~sensitive]
    if not sensitive.any():
        says = f"Every item is in at least {number(int(public.min()), 'transaction')}." if len(public) else ""
        return support_figure({"public": public}, ["main"], k=k, says=says)
    says = f"Every public item is in at least {number(int(public.min()), 'transaction')}." if len(public) else ""
    rarest = f"The rarest sensitive item is in {int(data.supports[sensitive].min()):,}."
    series = {"public": public, "sensitive": data.supports[sensitive]}
    return support_figure(series, ["main", "sensitive"], k=k, says=f"{says} {rarest}".strip())


def _lengths(data: Counted) -> Figure | None:
    lengths = data.length_counts
    if not lengths:
        return None
    empty = lengths.get(0, 0)
    says = (
        f"A transaction has {int(data.supports.sum()) / len(data):.1f} items on average and {max(lengths):,} at most; "
        f"{empty:,} {'is' if empty == 1 else 'are'} empty."
    )
    return length_figure({"transactions": lengths}, ["main"], says=says)
