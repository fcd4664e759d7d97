"""Which column may identify a person, and which ids may stand for many: proposed to the user, never acted on."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from veilset.errors import said
from veilset.io.layout import Layout
from veilset.io.rows import Rows, arrow_numbers

UNKNOWN = ("na", "n/a", "nan", "null", "none", "nil", "unknown", "anonymous", "guest", "missing", "?", "-", "unbekannt")
"""Usual words for people nobody knows, in small letters."""


class Doubt(str):
    """A note about who is taken as a person; *short* is half a sentence, to repeat it."""

    short: str

    def __new__(cls, note: str, short: str = "") -> Doubt:
        """A note that remembers its short form."""
        doubt = super().__new__(cls, note)
        doubt.short = short
        return doubt


_PLACEHOLDERS = ("0", "-1")  # may be an id like any other, unless they hold more
_SHARE, _TIMES = 0.01, 20  # of all rows, and the mean of the others
_SHOWN = 3

_PEOPLE = (
    "customer|client|patient|user|member|person|people|account|subject|cookie|visitor|household|shopper|buyer|"
    "subscriber|participant|respondent|employee|student|guest|cardholder|loyaltycard|membercard|"
    "kunde|kunden|nutzer|benutzer|mitglied|versicherter|haushalt|teilnehmer|proband|"
    "utilisateur|adherent|adhérent|abonne|abonné|menage|ménage|personne|"
    "cliente|paciente|usuario|miembro|persona|socio|hogar"
)
_ENDS = "id|ids|no|nr|num|number|nummer|numero|numéro|key|code|uuid|guid|hash|name|index|pseudonym|token|ref"
_COLUMN = re.compile(rf"(id|num|numero|code)?({_PEOPLE})s?({_ENDS})?", re.IGNORECASE)


def looks_like_a_person(column: str) -> bool:
    """Whether the name of a column is a usual one for an id of people.

    >>> [name for name in ("CustomerID", "user-id", "Kundennr", "id_cliente", "order", "user manual")
    ...  if looks_like_a_person(name)]
    ['CustomerID', 'user-id', 'Kundennr', 'id_cliente']
    """
    return _COLUMN.fullmatch(re.sub(r"[\W_]", "", column)) is not None


def person_note(columns: Iterable[str], layout: Layout) -> dict[str, int]:
    """A proposal for the person, as a note, if none is named and a column looks like one."""
    shape = layout.form.shape
    if layout.person is not None or (shape == "long" and looks_like_a_person(layout.columns[0])):
        return {}
    others = layout.ignore if shape == "wide" else [name for name in columns if name not in layout.columns]
    found = next(filter(looks_like_a_person, others), None)
    if found is None:
        return {}
    note = (
        f"Column {found!r} seems to identify a person. With {said('person', found)}, their rows are merged, "
        "and the promise covers people, not single transactions."
    )
    return {Doubt(note.replace("{", "{{").replace("}", "}}"), f"column {found!r} was not used"): 1}


def proposing(pieces: Iterable[Rows], columns: Iterable[str], layout: Layout) -> Iterator[Rows]:
    """The same pieces; the first notes a proposal for the person, if there is one."""
    notes = person_note(columns, layout)
    for piece in pieces:
        yield replace(piece, notes={**piece.notes, **notes}) if notes else piece
        notes = {}


def suspicious_ids(merged: Rows, layout: Layout) -> list[Doubt]:
    """Notes about ids that hold so many rows that they may stand for many people.

    An id is told if it is a usual word for unknown and holds several rows; if it is 0 or -1 and holds twice as many as
    the others do on average; or if it holds 1% of all rows, and 20 times as many as the others on average.
    """
    if merged.owner_rows is None:
        return []
    rows = np.diff(merged.offsets) if layout.form.shape == "long" else merged.owner_rows
    total, many = int(rows.sum()), len(rows)
    if many < 2:
        return []
    others = (total - rows) / (many - 1)
    names = merged.owner_names.cast(pa.large_string())
    told = (rows >= _SHARE * total) & (rows >= _TIMES * others)
    told |= _is_one_of(names, _PLACEHOLDERS) & (rows >= 2 * others)
    told |= _is_one_of(pc.utf8_lower(names), UNKNOWN)
    places = np.flatnonzero(told & (rows > 1))
    column = layout.person or layout.columns[0]
    notes = []
    for place in sorted(places.tolist(), key=lambda place: -int(rows[place]))[:_SHOWN]:
        name = names[place].as_py()
        holds = f"{int(rows[place]):,} of {total:,} rows ({rows[place] / total:.1%})"
        note = (
            f"The id {name!r} in column {column!r} has {holds}, merged into one person. If it stands for unknown "
            f"people, use {said('unknown_person', [name])} with {said('unknown_rows', 'separate')} or "
            f"{said('unknown_rows', 'skip')}."
        )
        notes.append(Doubt(note, f"the id {name!r}, with {holds}, is one person"))
    return notes


def resembling_ids(merged: Rows, layout: Layout) -> list[Doubt]:
    """A note if ids of people differ in nothing but case and blanks: they are different people, which may be wrong."""
    column = layout.person or (layout.columns[0] if layout.form.shape == "long" else "")
    if merged.owner_rows is None or (layout.person is None and not looks_like_a_person(column)):
        return []
    names = merged.owner_names.cast(pa.large_string())
    bare = pc.utf8_lower(pc.replace_substring_regex(pc.utf8_trim_whitespace(names), r"\s+", ""))
    codes = bare.dictionary_encode().indices.to_numpy()
    alike = np.flatnonzero(np.bincount(codes)[codes] > 1)
    if not len(alike):
        return []
    pair = names.take(arrow_numbers(alike[codes[alike] == codes[alike[0]]][:2])).to_pylist()
    what = f"{len(alike):,} ids in column {column!r} differ only in case or blanks"
    note = (
        f"{what}, such as {pair[0]!r} and {pair[1]!r}. They count as different people: if they are not, "
        "write them alike before you read the data."
    )
    return [Doubt(note, what)]


def _is_one_of(names: Any, words: tuple[str, ...]) -> npt.NDArray[np.bool_]:
    found: npt.NDArray[np.bool_] = pc.is_in(names, value_set=pa.array(words, names.type)).to_numpy(zero_copy_only=False)
    return found
