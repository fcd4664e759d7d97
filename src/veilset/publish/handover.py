"""What may leave the custodian: certified rows without persons, in a secret order; for files and for frames.

The order comes from a seed that only the custodian has. Rows in buckets are in such an order already: the method has
shuffled the buckets, and what is in them, by its own seed.
"""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from veilset.anonymize import METHODS, methods_of, reject_anatomized
from veilset.errors import InvalidArgument, NotCertified, said, unknown
from veilset.exact import is_whole
from veilset.io import FORMATS, Layout, as_written, check_names, table_of
from veilset.models import Audit
from veilset.release import HeldRelease, Release
from veilset.report import in_original_sentence
from veilset.transactions import Transactions
from veilset.views import handed_over

Order = npt.NDArray[np.int64] | None

_TABLES = {"lists": "arrow", "long": "arrow-long", "wide": "arrow-wide"}


@handed_over.register
def _table(release: Release, random_state: int | str | None) -> Any:
    """The released rows as an Arrow table, in the shape in which `publish` writes them by default."""
    check_certified(release, "handed over")
    check_excludes(release)
    data = released_rows(release, secret_order(release, seed_from(random_state)))
    if data.anatomy is not None:
        return data.anatomized_rows().table()
    layout = release_layout(release, _TABLES[release_layout(release, None).form.shape])
    return table_of(data.offsets, data.items, data.names, layout)


def check_certified_held(release: HeldRelease) -> Audit:
    """The same for what an engine holds."""
    if not release.certified or release.audit is None:
        why = "The release has not been audited." if release.audit is None else str(release.audit)
        milder = f"Choose another method, other parameters, or a {METHODS.of(release.promise).milder}."
        raise NotCertified(f"NO-GO: nothing was written. {why}", milder)
    return release.audit


def check_certified(release: Release, done: str, hint: Callable[[], str] = str) -> Audit:
    """The auditor's answer; an error if the release is not certified, and so nothing is *done*; *hint* ends it."""
    reject_anatomized(release.original)
    if not release.certified or release.audit is None or _lacks_buckets(release):
        next_step = f"{_what_next(release)} {hint()}".rstrip()
        raise NotCertified(f"NO-GO: nothing was {done}. {_why_not(release)}", next_step)
    return release.audit


def check_excludes(release: Release) -> None:
    """Raise if any data such as the original, or such as is left of it, keeps the promise."""
    for data in (release.original, release.custodian_data):
        release.promise.check_excludes(data)


def seed_from(random_state: int | str | None) -> str:
    """The seed that a user gives, or a new one."""
    if random_state is not None and not isinstance(random_state, str) and not is_whole(random_state, 0):
        what = type(random_state).__name__  # the seed is a secret: the error does not show it
        raise InvalidArgument(f"{said('random_state')} is a {what}.", "Give a whole number from 0, or text.")
    seed = secrets.token_hex(16) if random_state is None else str(random_state)
    check_seed(seed, "random_state")
    return seed


def check_seed(seed: str, name: str) -> None:
    """Raise if a seed is empty, or no text that a file can hold, such as bytes of a command line that are not UTF-8."""
    if not seed:
        raise InvalidArgument(f"{said(name)} is empty.", "Give letters and digits, or leave it out for a random one.")
    try:
        seed.encode()
    except UnicodeEncodeError:  # the seed is a secret: the error does not show it
        raise InvalidArgument(f"{said(name)} is not text in UTF-8.", "Give letters and digits.") from None


def secret_order(release: Release, seed: str) -> Order:
    """For each released row, its place in the custodian's data; None: the rows are in buckets, and stay there.

    A permutation from a cryptographic stream: nobody without the seed can undo it; the same seed repeats it. It depends
    on the promise and the rows too. Otherwise two releases with one seed would have the same people in the same lines.
    """
    if release.promise.edits == "buckets":
        return None
    data, promise = release.custodian_data, release.promise
    key = hashlib.sha256(json.dumps([seed, promise.name, promise.parameters(), [*data.names]]).encode())
    key.update(data.offsets.astype("<i8", copy=False).data)
    key.update(data.items.astype("<i4", copy=False).data)
    stream = hashlib.shake_256(b"veilset row order\0" + key.digest()).digest(8 * len(data))
    return np.argsort(np.frombuffer(stream, dtype="<u8"), kind="stable")


def released_rows(release: Release, order: Order) -> Transactions:
    """The transactions to hand over: in this order, without persons and source."""
    data = release.custodian_data
    return (data if order is None else data.take(order)).anonymous()


def release_layout(release: Release, out_format: str | None) -> Layout:
    """How the released rows are laid out: as the source was, or in the format that was asked for.

    The ids of a long table are numbers of released rows, so that is what their column is called: they are no invoices,
    and no persons of the source.
    """
    check_format(out_format)
    layout = _layout(release.original, out_format)
    if out_format is None and layout.form.container == "fimi" and release.generalized:
        layout = as_written(Layout("basket", ","))  # names of groups are no ids
    if layout.form.shape != "long":
        return layout
    _, item = layout.columns
    return replace(layout, columns=("row_number" if item.casefold() == "row" else "row", item))


def check_format(out_format: str | None, data: Transactions | None = None) -> None:
    """Raise if there is no such format, or the items of *data* cannot be written so: before anything takes long."""
    if out_format is not None and out_format not in FORMATS:
        raise unknown("format", out_format, FORMATS).within(f"{said('out_format')}: ")
    if out_format is not None and data is not None:
        check_names(data.names, _layout(data, out_format))


def _layout(original: Transactions, out_format: str | None) -> Layout:
    read = Layout("basket", ",") if original.source is None else original.source.layout
    if out_format is None:
        return as_written(read)
    container, shape, suffix, _ = FORMATS[out_format]
    both_csv = container == read.form.container == "csv"
    columns = read.columns if read.form.shape == shape else ()
    return as_written(
        Layout.choose(
            f"data{suffix}",
            format=out_format,
            delimiter=read.delimiter if both_csv else None,
            long=(columns or ("id", "item")) if shape == "long" else None,
            column=columns[0] if shape == "lists" and columns and container not in ("fimi", "spmf", "csv") else None,
        )
    )


def _why_not(release: Release) -> str:
    if release.discrepancy is not None:
        return f"The release does not match its list of edits: {release.discrepancy}"
    if release.audit is None:
        return "The release has not been audited."
    if release.audit.holds and _lacks_buckets(release):
        return "The release has no columns and buckets, or does not record which transactions are in which bucket."
    if release.audit.holds and not release.truthful:
        return in_original_sentence(release)
    if release.promise.secret:  # errors end up in logs
        return f"{release.audit.found:,} of {release.promise.secrets:,} listed are still discoverable."
    return str(release.audit)


def _lacks_buckets(release: Release) -> bool:
    """Whether it is not what its promise is about: rows that were not dealt out to buckets are those of persons."""
    dealt_out = release.custodian_data.anatomy is not None and release.partition is not None
    return release.promise.edits == "buckets" and not dealt_out


def _what_next(release: Release) -> str:
    if release.method == "replay" and not release.options.get("repair"):
        return (
            f"The earlier edits are not enough here. Use {said('repair', True)} to suppress more until the promise "
            "holds, or "
            "run publish on this data."
        )
    if release.method == "replay":
        return "The earlier edits are not enough here: run publish on all data or a larger sample."
    if release.options.get("certify") is False:
        return f"Leave {said('certify', False)} out, to hide what the matrix leaves."
    if _lacks_buckets(release):
        return f"Make it with {' or '.join(methods_of(release.promise))}."
    return f"Choose another method, other parameters, or a {METHODS.of(release.promise).milder}."
