"""``replay`` for transactions that an engine holds: the same changes to items, and the same refusals.

Items that were recoded are refused: readers are told what their names stand for, which a release on an engine does not
say.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from veilset.anonymize.held import renamed
from veilset.anonymize.replay import Unknown, gone_by
from veilset.anonymize.weights import Weights, as_given
from veilset.engines import Held
from veilset.errors import InvalidArgument
from veilset.limits import Limits
from veilset.mining import supports_on_engine
from veilset.models import Promise
from veilset.release import HeldRelease


def replay_on_engine(
    data: Held,
    promise: Promise,
    /,
    *,
    suppressed: Collection[str] = (),
    generalized: Mapping[str, str] | None = None,
    stands_for: Mapping[str, Collection[str]] | None = None,
    name_leaves_from: int | None = None,
    known: Collection[str] | None = None,
    unknown: Unknown = "refuse",
    repair: bool = False,
    keep: Collection[str] = (),
    weights: Weights = None,
    chosen: Collection[str] | None = None,
    limits: Limits,
) -> HeldRelease:
    """Suppress what is given; the parameters are those of `replay`."""
    if generalized or stands_for or name_leaves_from:
        raise InvalidArgument(
            "Changes that recode items are not applied on an engine yet.", "Read the data into memory, with vs.read."
        )
    gone = gone_by(data.vocabulary, suppressed, {}, known, unknown)
    limits.step("Applying the given changes")
    made = HeldRelease(
        original=data,
        custodian_data=renamed(data, data.vocabulary.without(gone), {}),
        promise=promise,
        method="replay",
        options={
            "suppressed": tuple(suppressed),
            "known": None if known is None else tuple(known),
            "unknown": unknown,
            **as_given(weights=weights, keep=frozenset(keep)),
        },
        suppressed=gone,
        supports=supports_on_engine(data),
    )
    return _repaired(made, keep, weights, chosen, limits) if repair else made


def _repaired(
    made: HeldRelease, keep: Collection[str], weights: Weights, chosen: Collection[str] | None, limits: Limits
) -> HeldRelease:
    """The release of both: the given changes, and those of the default method to what they have left."""
    from veilset.anonymize.methods import check_options, find_held_method  # noqa: PLC0415 - it lists this method itself

    left = set(made.custodian_data.vocabulary.names)
    given: dict[str, Any] = {} if chosen is None else {"chosen": tuple(chosen)}
    if must_stay := sorted(set(made.original.vocabulary.names).intersection(keep)):
        given["keep"] = tuple(must_stay)
    if weights is not None:
        given["weights"] = (
            weights if isinstance(weights, str) else {item: one for item, one in weights.items() if item in left}
        )
    method = partial(find_held_method(made.promise, None), made.custodian_data, made.promise)
    check_options(made.promise, None, given)
    more = method(limits=limits, **given)
    return replace(
        made,
        custodian_data=more.custodian_data,
        options={**made.options, "repair": True, "chosen": more.options.get("chosen")},
        suppressed=made.original.vocabulary.in_order({*made.suppressed, *more.suppressed}),
        attempts=more.attempts,
    )
