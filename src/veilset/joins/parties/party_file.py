"""The file that a party keeps at home: who it is, its tables, and what it has agreed to.

For example:

    study = "study.toml"
    party = "clinic"
    identity = "clinic-keys"
    state = "clinic-state"
    approve = "6f1c…"
    class_known_to = ["registry", "pharmacy"]

    [tables.visits]
    path = "visits.csv"
    class = "back_in_a_week"
    columns = ["age", "ward"]
    keys = { patient = "patient_number" }

    [predict.visits]
    path = "new_visits.csv"
    id = "visit"

Paths are relative to the file. `keys` says which column has the key that the study calls so; without it, the one of the
same name.
"""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, PrivateAttr, StrictInt, StrictStr, ValidationError

from veilset.errors import InvalidArgument, UnreadableInput, VeilsetError, unknown
from veilset.io.toml_files import FilePath, Section, read_toml, refusal
from veilset.joins.parties.certificates import Identity, fingerprint
from veilset.joins.parties.shared_study import SharedStudy, as_list
from veilset.joins.study import TableSection

_ADVICE = "Compare it with the party file in docs/private-joins.md."

_NAMES_IT = 'study = "study.toml"'

MOST_RECORDS = 10_000
"""Records of a table that a party answers for in one session, unless its file says another number."""


class OwnTable(TableSection):
    """A table at home, and what of it takes part."""

    columns: Annotated[tuple[StrictStr, ...], BeforeValidator(as_list)] = ()
    keys: dict[StrictStr, StrictStr] = Field(default_factory=dict)
    label: Annotated[StrictStr | None, Field(alias="class")] = None

    def section(self) -> TableSection:
        """Where its rows are."""
        return TableSection(**{name: getattr(self, name) for name in TableSection.model_fields})


class NewTable(TableSection):
    """Records to predict for, the column that identifies them, and how many are answered for in a session."""

    id: StrictStr
    most: Annotated[StrictInt, Field(ge=0)] = MOST_RECORDS

    def section(self) -> TableSection:
        """Where its rows are."""
        return TableSection(**{name: getattr(self, name) for name in TableSection.model_fields})


class PartyFile(Section):
    """What a party says about itself."""

    study_: Annotated[FilePath, Field(alias="study")]
    party: StrictStr
    identity_: Annotated[FilePath, Field(alias="identity")]
    state_: Annotated[FilePath, Field(alias="state")]
    approve: StrictStr | None = None
    class_known_to: Annotated[tuple[StrictStr, ...] | None, BeforeValidator(as_list)] = None
    listen: StrictStr | None = None
    tables: dict[StrictStr, OwnTable] = Field(default_factory=dict)
    predict: dict[StrictStr, NewTable] = Field(default_factory=dict)
    _folder: Path = PrivateAttr(default=Path())

    @classmethod
    def load(cls, path: str | Path) -> PartyFile:
        """The party file at a path, checked against its study."""
        path = Path(path)
        content = read_toml(path, _ADVICE)
        if "parties" in content:
            raise InvalidArgument(f"{str(path)!r} is a study.", f"Give your party file, which names it: {_NAMES_IT}.")
        try:
            party = cls.model_validate(content)
            party._folder = path.absolute().parent
            party._check()
        except ValidationError as error:
            raise refusal(error, cls, {"tables": OwnTable, "predict": NewTable}, _ADVICE).within(
                f"{str(path)!r}: "
            ) from None
        except VeilsetError as error:
            raise error.within(f"{str(path)!r}: ") from None
        return party

    @staticmethod
    def is_one(path: str | Path) -> bool:
        """Whether a file is of TOML and names a party."""
        try:
            return "party" in read_toml(Path(path), _ADVICE)
        except UnreadableInput:
            return False

    @cached_property
    def study(self) -> SharedStudy:
        """The study that it takes part in."""
        return SharedStudy.load(self._folder / self.study_)

    @cached_property
    def identity(self) -> Identity:
        """Its certificate and key."""
        return Identity.load(self._folder / self.identity_, self.party)

    @property
    def state(self) -> Path:
        """The folder for what it remembers."""
        return self._folder / self.state_

    @property
    def address(self) -> str:
        """Where it listens."""
        return self.listen or self.study.parties[self.party].address

    def source(self, table: str) -> Any:
        """Where a table of the study is read from."""
        return self.tables[table].section().source(self._folder)

    def new_source(self, table: str) -> Any:
        """Where the records are read from that are predicted for."""
        return self.predict[table].section().source(self._folder)

    def key_columns(self, table: str, names: tuple[tuple[str, ...], ...]) -> tuple[tuple[str, ...], ...]:
        """The columns that have the keys with these agreed names."""
        keys = self.tables[table].keys
        return tuple(tuple(keys.get(name, name) for name in part) for part in names)

    def check_approval(self) -> None:
        """Raise unless this party has agreed to exactly this study, and to who learns the class."""
        if self.approve is None or self.approve.removeprefix("sha256:") != self.study.hash:
            given = "is not given" if self.approve is None else f"is {self.approve!r}"
            raise InvalidArgument(
                f"{self.party} has not approved this study: approve {given}; the study's hash is {self.study.hash}.",
                f'Read the study and the leakage report, then write approve = "{self.study.hash}" into the party file.',
            )
        others = [name for name in self.study.parties if name != self.party]
        if self.study.target in self.tables and set(self.class_known_to or ()) != set(others):
            raise InvalidArgument(
                f"{self.party} has the class, and class_known_to is {list(self.class_known_to or ())!r}; by the study, "
                f"these learn class counts: {', '.join(others)}.",
                "List all of them if they may, or do not take part.",
            )

    def _check(self) -> None:
        if self.party not in self.study.parties:
            raise unknown("party", self.party, self.study.parties).within("party: ")
        owned = self.study.parties[self.party].tables
        for table in (*self.tables, *self.predict):
            if table not in owned:
                raise unknown("table", table, owned, "By the study, the party has no other.").within("tables: ")
        if missing := [table for table in owned if table not in self.tables]:
            raise InvalidArgument(
                f"By the study, {self.party} has the table {missing[0]!r}.", f"Add [tables.{missing[0]}]."
            )
        for table, section in self.tables.items():
            agreed = sorted(self.study.graph.join_columns(table))
            for key in section.keys:
                if key not in agreed:
                    raise unknown("key", key, agreed, "These are the names in the study.").within(
                        f"tables.{table}.keys: "
                    )
            if (section.label is not None) != (table == self.study.target):
                has = "has no class" if section.label is None else f"has the class {section.label!r}"
                raise InvalidArgument(
                    f"tables.{table} {has}; the target of the study is {self.study.target!r}.",
                    "The target table, and no other, names the column with the class.",
                )
            section.section().source(self._folder)
        pinned = self.study.certificates[self.party]
        if pinned != self.identity.certificate:
            raise InvalidArgument(
                f"The study knows {self.party} by another certificate: {fingerprint(pinned)}, "
                f"not {fingerprint(self.identity.certificate)}.",
                "Put the certificate that veilset join keygen has printed into the study.",
            )
