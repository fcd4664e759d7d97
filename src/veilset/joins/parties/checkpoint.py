"""Checkpoints: what a party has received, stage by stage, so that a run can go on where it was interrupted.

A checkpoint has received summaries, which of the party's keys are shared, and the ranks of the values it has split at.
It has no rows and no values. It is bound to the study, the tables and the run, readable by its owner only, and deleted
at the end. A stage is written when it is complete, in a file of its own: a crash leaves it out. The file is a line of
JSON, which tells what follows, then the arrays one after the other, then the SHA-256 of all that.
"""

from __future__ import annotations

import hashlib
import json
import math
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from veilset.errors import CannotWrite
from veilset.io import write_durably
from veilset.joins.parties.files import private_folder

Arrays = Mapping[str, npt.NDArray[Any]]
_DIGEST = hashlib.sha256().digest_size


@dataclass(frozen=True, eq=False)
class Record:
    """Something received, or decided at home."""

    kind: str
    fields: Mapping[str, Any]
    arrays: Arrays


@dataclass
class Checkpoint:
    """The stages of a run that are complete, in a folder.

    Parameters
    ----------
    folder : Path
        Where it is.
    binding : mapping
        The study and the tables that it belongs to, by their hashes.
    run : str
        The run; "" if there is none.
    wide : bool
        Whether counts have two words.
    stages : int
        How many stages are complete.
    """

    folder: Path
    binding: Mapping[str, str]
    run: str = ""
    wide: bool = False
    stages: int = 0
    _open: list[Record] = field(default_factory=list)

    @classmethod
    def find(cls, folder: Path, binding: Mapping[str, str]) -> Checkpoint:
        """The checkpoint in a folder; an empty one if there is none for this study and these tables."""
        found = cls(folder, dict(binding))
        try:
            head = json.loads((folder / "run.json").read_bytes())
            if head["binding"] == found.binding:
                found.run, found.wide = str(head["run"]), bool(head["wide"])
                while found._whole(found.stages):
                    found.stages += 1
        except (OSError, ValueError, KeyError, TypeError):
            pass  # no checkpoint, or one that cannot be used: the run starts anew
        return found

    def begin(self, run: str, wide: bool, stages: int) -> None:
        """Go on with a run from a stage; from the first, if it is another."""
        if run != self.run or stages > self.stages:
            stages = 0
        try:
            private_folder(self.folder)
            done = [one for one in self.folder.glob("stage-*.bin") if one.name >= self._file(stages).name]
            promises = self.folder.glob("promise-*.json") if run != self.run else ()
            for file in [*done, *promises]:
                file.unlink()
            head = {"binding": self.binding, "run": run, "wide": wide}
            _write(self.folder / "run.json", json.dumps(head).encode())
        except OSError as error:
            raise _cannot(self.folder, error) from None
        self.run, self.wide, self.stages, self._open = run, wide, stages, []

    def note(self, kind: str, fields: Mapping[str, Any], arrays: Arrays) -> None:
        """Remember something of the stage that is going on."""
        self._open.append(Record(kind, dict(fields), dict(arrays)))

    def promise(self, tables: Mapping[int, int]) -> bool:
        """Remember, before anything is told, which table splits which node in the stage that is going on.

        False if another was promised when the stage was first tried. There may be fewer nodes than then.
        """
        file = self.folder / f"promise-{self.stages:06}.json"
        try:
            if file.exists():
                first = json.loads(file.read_bytes())
                return tables.items() <= {int(node): table for node, table in first.items()}.items()
            _write(file, json.dumps(tables).encode())
        except OSError as error:
            raise _cannot(file, error) from None
        return True

    def complete(self) -> None:
        """Write the stage that was going on."""
        heads, arrays = [], []
        for one in self._open:
            shapes = [[name, array.dtype.str, array.shape] for name, array in one.arrays.items()]
            heads.append({"kind": one.kind, "fields": one.fields, "arrays": shapes})
            arrays += [array.tobytes() for array in one.arrays.values()]
        content = b"".join([json.dumps(heads).encode(), b"\n", *arrays])
        file = self._file(self.stages)
        part = file.with_suffix(".part")
        try:
            _write(part, content + hashlib.sha256(content).digest())
            part.replace(file)
        except OSError as error:
            part.unlink(missing_ok=True)
            raise _cannot(file, error) from None
        self.stages, self._open = self.stages + 1, []

    def stage(self, number: int) -> list[Record]:
        """What was remembered of a stage; raise ValueError if it is not there as it was written."""
        content = self._file(number).read_bytes()
        whole = memoryview(content)[:-_DIGEST]
        if hashlib.sha256(whole).digest() != content[-_DIGEST:]:
            raise ValueError(f"stage {number} is damaged")
        start = content.index(b"\n") + 1
        records = []
        for head in json.loads(content[:start]):
            arrays = {}
            for name, dtype, shape in head["arrays"]:
                arrays[name] = np.frombuffer(whole, dtype, math.prod(shape), start).reshape(shape).copy()
                start += arrays[name].nbytes
            records.append(Record(head["kind"], head["fields"], arrays))
        return records

    def _whole(self, number: int) -> bool:
        """Whether a stage is there, as it was written; one that is damaged is done again, like those after it."""
        try:
            self.stage(number)
        except (OSError, ValueError):
            return False
        return True

    def delete(self) -> None:
        """Remove it."""
        shutil.rmtree(self.folder, ignore_errors=True)
        self.run, self.stages, self._open = "", 0, []

    def _file(self, number: int) -> Path:
        return self.folder / f"stage-{number:06}.bin"


def can_go_on(stages: int, known: int) -> bool:
    """Whether a party that knows so many stages goes on after these: at most one is done again, the first never.

    Parties that are honest are one stage apart at most. To do more again would tell more than a run tells.
    """
    return stages >= known - 1 and (stages > 0 or known == 0)


def _write(path: Path, content: bytes) -> None:
    write_durably(path, content)
    path.chmod(0o600)


def _cannot(path: Path, error: OSError) -> CannotWrite:
    return CannotWrite(
        f"The checkpoint {str(path)!r} cannot be written: {error.strerror}.",
        "Free some space or choose another state folder, then train again: it goes on from the last level.",
    )
