"""``replay``: makes changes that were decided before, such as those of an earlier release, and decides nothing.

It needs the items of the data, not what they do together: one pass over the transactions, however many there are.
Whether the promise is kept is for the auditor to say, as ever. Only a *repair* decides: the promise's default method
then changes what these changes have left, under the names that they gave.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any, Literal, get_args

from veilset.anonymize.options import RARE, Chosen
from veilset.anonymize.taxonomies import check_name_leaves_from, listed_under
from veilset.anonymize.weights import HEAVIEST, Weights, as_given
from veilset.errors import InvalidArgument, said
from veilset.limits import Limits
from veilset.models import Promise
from veilset.options import Option
from veilset.release import Release
from veilset.transactions import Transactions

Unknown = Literal["refuse", "suppress", "keep"]


def replay(
    data: Transactions,
    promise: Promise,
    /,
    *,
    suppressed: Annotated[Collection[str], Option("texts", "Items to delete.", recorded=True)] = (),
    generalized: Annotated[
        Mapping[str, str] | None, Option("renaming", "Items to the names they are recoded to.", recorded=True)
    ] = None,
    stands_for: Annotated[
        Mapping[str, Collection[str]] | None,
        Option("meanings", "Those names to all items that they may mean.", recorded=True),
    ] = None,
    name_leaves_from: Annotated[
        int | None, Option("whole", "Transactions that others need to be told, too.", least=0, recorded=True)
    ] = None,
    known: Annotated[
        Collection[str] | None, Option("texts", "Items that the earlier decision knew.", recorded=True)
    ] = None,
    unknown: Annotated[
        Unknown, Option("choice", "What to do with other public items.", choices=get_args(Unknown), recorded=True)
    ] = "refuse",
    repair: Annotated[bool, Option("switch", "Change more where these edits are not enough.", recorded=True)] = False,
    keep: Annotated[Collection[str], Option("items", "Items that a repair must keep.", recorded=True)] = (),
    weights: Annotated[Weights, Option("weights", "Cost of losing an item in a repair.", recorded=True)] = None,
    chosen: Chosen = None,
    limits: Limits,
) -> Release:
    """Suppress and recode what is given.

    Parameters
    ----------
    suppressed : names
        Items to delete; those that do not occur do not matter.
    generalized : mapping
        Items to the names they are recoded to, likewise.
    stands_for : mapping
        Those names to all items that readers are told they may mean. None: what *generalized* says.
    name_leaves_from : int, optional
        If only items in so many transactions were told, those that reach it in this data are told, too.
    known : names, optional
        The items that somebody had in mind who decided this; None: all.
    unknown : {"refuse", "suppress", "keep"}
        What is done with other public items. Sensitive items that nobody had in mind, or that were public when they
        were recoded, are always refused. New items that the same lists would have called sensitive, or that differ
        from a sensitive item only in case, blanks or punctuation, are suppressed or refused, never kept.
    repair : bool
        Change more, as little as the promise's default method can, until the promise is kept.
    keep, weights : optional
        What that method must keep, and what losing an item costs, by the names before any change; those that do not
        occur do not matter.
    chosen : names, optional
        What that method chose in an earlier run.
    """
    check_name_leaves_from(name_leaves_from)
    recoded = dict(generalized or {})
    gone = gone_by(data, suppressed, recoded, known, unknown)
    coarser = {item: name for item, name in recoded.items() if item in set(data.names)}
    limits.step("Applying the given changes")
    told = _meant_by(recoded) if stands_for is None else stands_for
    meant = {name: tuple(items) for name, items in told.items()}
    least = name_leaves_from or 0
    now = listed_under(_meant_by(coarser), data.names, data.supports, least) if least else {}
    made = Release(
        original=data,
        custodian_data=data.without(gone).renamed(coarser),
        promise=promise,
        method="replay",
        options={
            "suppressed": tuple(suppressed),
            "generalized": recoded,
            "stands_for": meant,
            "known": None if known is None else tuple(known),
            "unknown": unknown,
            **as_given(weights=weights, keep=frozenset(keep), name_leaves_from=name_leaves_from),
        },
        suppressed=gone,
        generalized=coarser,
        stands_for={
            name: tuple(dict.fromkeys((*items, *now.get(name, ()))))
            for name, items in meant.items()
            if name in set(coarser.values())
        },
        listed_from=least,
    )
    return _repaired(made, keep, weights, chosen, limits) if repair else made


def gone_by(
    data: Transactions,
    suppressed: Collection[str],
    recoded: Mapping[str, str],
    known: Collection[str] | None,
    unknown: Unknown,
) -> tuple[str, ...]:
    """What an earlier decision suppresses, once it is known to say enough; only names and roles of *data* are asked."""
    if clash := sorted(set(suppressed).intersection(recoded)):
        raise InvalidArgument(
            f"The item {clash[0]!r} is listed both as suppressed and as recoded.", "Choose one of them."
        )
    new = () if known is None else data.in_order(set(data.names).difference(known))
    if unknown not in get_args(Unknown):
        raise InvalidArgument(f"{said('unknown')} is {unknown!r}.", f"Use one of {', '.join(get_args(Unknown))}.")
    sensitive, unheard = set(data.sensitive), set(new)
    if surprising := [item for item in data.names if item in sensitive and (item in recoded or item in unheard)]:
        raise InvalidArgument(
            f"{_listed(surprising)} not known to be sensitive in the earlier release.", "Run publish on this data."
        )
    if unknown != "suppress" and (alike := [twin for twin in data.twins if twin.item in unheard]):
        raise InvalidArgument(
            f"{_listed([twin.item for twin in alike])} not in the earlier release, and {alike[0].item!r} resembles "
            f"{alike[0].resembles!r}, which was sensitive.",
            f"Run publish again with a list of all sensitive items, or use {said('unknown', 'suppress')} to remove new "
            "items.",
        )
    if new and unknown == "refuse":
        raise InvalidArgument(
            f"{_listed(new)} not known in the earlier release.",
            f"Use {said('unknown', 'suppress')} to remove them, or {said('unknown', 'keep')} to keep and audit them "
            "as public items; or run publish on this data.",
        )
    return data.in_order(set(data.names).intersection(suppressed).union(new if unknown == "suppress" else ()))


def _repaired(made: Release, keep: Collection[str], weights: Weights, chosen: Chosen, limits: Limits) -> Release:
    """The release of both: the given changes, and those of the default method to what they have left."""
    from veilset.anonymize.methods import check_options, find_method, option_names  # noqa: PLC0415 - it lists this method itself

    kept = {item: made.generalized.get(item, item) for item in made.original.names}
    given: dict[str, Any] = {} if chosen is None else {"chosen": tuple(chosen)}
    if must_stay := {kept[item] for item in keep if item in kept}:
        given["keep"] = tuple(sorted(must_stay))
    if weights is not None:
        given["weights"] = weights if isinstance(weights, str) else _added_up(made, weights)
    method = find_method(made.promise, None)
    listing: dict[str, object] = {}
    if "name_leaves_from" in option_names(method):
        listing["name_leaves_from"] = made.listed_from if chosen is not None else max(made.listed_from, RARE)
    check_options(made.promise, None, given | listing)
    more = method(made.custodian_data, made.promise, limits=limits, **given, **listing)
    gone = {item for item, name in kept.items() if item in made.suppressed or name in more.suppressed}
    names = {item: more.generalized.get(name, name) for item, name in kept.items() if item not in gone}
    meant = {name: made.stands_for[name] for name in names.values() if name in made.stands_for}
    for name, parts in more.stands_for.items():
        meant[name] = tuple(item for part in parts for item in made.stands_for.get(part, (part,)))
    return replace(
        made,
        custodian_data=more.custodian_data,
        options={**made.options, "repair": True, **listing, "chosen": more.options.get("chosen")},
        suppressed=made.original.in_order(gone),
        generalized={item: name for item, name in names.items() if item != name},
        stands_for=meant,
        listed_from=max(made.listed_from, more.listed_from),
        undecided=tuple(item for item, name in kept.items() if name in more.undecided),
    )


def _added_up(made: Release, weights: Mapping[str, float]) -> dict[str, float]:
    """What each name of a release weighs: as much as all its items, of which those without a weight weigh 1."""
    weighed: dict[str, float] = {}
    for item in made.original.names:
        name = made.generalized.get(item, item)
        weighed[name] = min(HEAVIEST, weighed.get(name, 0) + weights.get(item, 1))
    left = set(made.custodian_data.names)
    return {name: weight for name, weight in weighed.items() if name in left and weight != 1}


def _listed(items: Sequence[str]) -> str:
    """How a sentence about what these items were begins."""
    if len(items) == 1:
        return f"The item {items[0]!r} was"
    return f"{len(items):,} items ({', '.join(map(repr, items[:5]))}{', …' * (len(items) > 5)}) were"


def _meant_by(recoded: Mapping[str, str]) -> dict[str, list[str]]:
    meant: dict[str, list[str]] = {}
    for item, name in recoded.items():
        meant.setdefault(name, []).append(item)
    return meant
