"""Data in several files, which workers write and read where they are: how a part is opened, checked and read.

A part is, byte for byte, what Veilset writes for its own transactions and their names, so that it can be looked at
without the others.
"""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from veilset.engines import Engine
from veilset.engines import Held as Rows
from veilset.errors import InvalidArgument, UnreadableInput
from veilset.io import Layout, find_difference
from veilset.limits import Limits
from veilset.publish.certificate import DataPart, DataParts
from veilset.publish.held import Held, HeldFile, opened_alone
from veilset.publish.verification import Refused, Verdict
from veilset.transactions import Transactions, joined, read_file


@dataclass(frozen=True)
class PartAt:
    """Where a worker finds a part, and what it must be."""

    path: str
    part: DataPart
    layout: Layout


@dataclass(frozen=True)
class Examined:
    """What a worker says of a part: what is wrong with it, or what cannot be told of the bytes around its values."""

    wrong: tuple[Verdict, str] | None = None
    unchecked: str | None = None


def read_parts(release: Held, data: DataParts, limits: Limits) -> tuple[Transactions, list[str]]:
    """All transactions, and what cannot be told of the bytes around them; one part at a time is in memory twice."""
    unchecked: list[str] = []

    def rows(part: DataPart) -> Transactions:
        found, more = read_part(release.expect(part.file), part, data.layout(), limits)
        if more is not None:
            unchecked.append(more)
        return found

    return joined(map(rows, data.parts), limits), _counted(unchecked)


def gathered_parts(release: Held, data: DataParts, engine: Engine) -> tuple[Rows, list[str]]:
    """The same, read by the workers of an engine and held there. Each part is read anew whenever it is needed."""
    folder = release.absolute_path
    parts = [PartAt(f"{folder}/{part.file}", part, data.layout()) for part in data.parts]
    answers = engine.each(parts, examined)
    for answer in answers:
        if answer.wrong is not None:
            raise Refused(*answer.wrong)
    try:
        rows = engine.gathered(parts, rows_of)
    except UnreadableInput as error:
        raise Refused("altered", f"A part was changed while it was being verified: {error}") from None
    return rows, _counted(answer.unchecked for answer in answers if answer.unchecked is not None)


def examined(at: PartAt) -> Examined:
    """What a worker finds in a part."""
    try:
        with _opened(at) as file:
            _, unchecked = read_part(file, at.part, at.layout, Limits())
    except Refused as refused:
        return Examined(wrong=(refused.verdict, refused.message))
    return Examined(unchecked=unchecked)


def rows_of(at: PartAt) -> Transactions:
    """The transactions of a part that was examined before; an error if it is not the same any more."""
    try:
        with _opened(at) as file:
            return read_part(file, at.part, at.layout, Limits())[0]
    except Refused as refused:
        raise UnreadableInput(refused.message, "Verify the release again when nobody writes to it.") from None


@contextlib.contextmanager
def _opened(at: PartAt) -> Iterator[HeldFile]:
    try:
        with opened_alone(at.path, at.part.file) as file:
            yield file
    except OSError as error:
        raise Refused(
            "incomplete",
            f"A worker cannot open {at.path!r}: {error.strerror or error}. The release must lie on a file system that "
            "all workers share; without one, verify it in memory.",
        ) from None


def read_part(file: HeldFile, part: DataPart, layout: Layout, limits: Limits) -> tuple[Transactions, str | None]:
    """The transactions of a part, and why its bytes are others than those that are written for them, if they are."""
    if file.sha256(limits) != part.sha256:
        raise Refused("altered", f"{file.name} is not the file that was certified: its sha256 differs.")
    try:
        data = read_file(file.path, layout, limits=limits)
        more = find_difference(file.path, part.sha256, data.offsets, data.items, data.names, layout, limits)
    except (UnreadableInput, InvalidArgument) as error:
        reason = str(error).replace(str(file.path), file.name)
        raise Refused("malformed", f"{file.name} cannot be read: {reason}") from None
    if len(data) != part.transactions:
        raise Refused(
            "altered", f"The certificate says {part.transactions:,} transactions for {file.name}, not {len(data):,}."
        )
    if more is None:
        return data, None
    if not more.same_values:
        raise Refused(
            "altered",
            f"{file.name} contains more than its transactions, or is not written as Veilset writes it ({more.says}). "
            "Anything else in it was not certified.",
        )
    return data, more.says


def _counted(unchecked: Iterable[str]) -> list[str]:
    return [
        f"the bytes of {many:,} part{'s' * (many > 1)} of the data around the values ({says})"
        for says, many in Counter(unchecked).items()
    ]
