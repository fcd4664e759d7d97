"""A party's split list (thesis §3.2.1): what it asks at the nodes that it splits. It stays at home.

Without it, nobody can predict beyond these nodes: deleting it revokes the party's part of the model.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from veilset.errors import CannotWrite, InvalidArgument, UnreadableInput
from veilset.io import write_durably
from veilset.joins.model_file import REPORT
from veilset.joins.parties.files import private_folder
from veilset.joins.tree import Split
from veilset.joins.values import from_json, to_json

_FOLDER = "models"


@dataclass(frozen=True)
class SplitList:
    """The splits of a party by the number of the node, and the types of the columns that they are about."""

    splits: Mapping[int, Split]
    types: Mapping[str, str]

    def write(self, state: Path, run: str) -> Path:
        """Keep it in a state folder, for a model."""
        folder = private_folder(private_folder(state / _FOLDER) / run)
        content = {
            "splits": {str(node): {**vars(one), "value": to_json(one.value)} for node, one in self.splits.items()},
            "types": dict(self.types),
        }
        file = folder / "splits.json"
        try:
            write_durably(file, json.dumps(content, indent=1, ensure_ascii=False) + "\n")
            file.chmod(0o600)
        except OSError as error:
            raise CannotWrite(f"{str(file)!r} cannot be written: {error.strerror}.", "Free some space.") from None
        return folder

    @classmethod
    def read(cls, state: Path, run: str) -> SplitList | None:
        """The list that is kept for a model; None if there is none, or it was revoked."""
        file = state / _FOLDER / run / "splits.json"
        try:
            content = json.loads(file.read_bytes())
            splits = {
                int(node): Split(one["table"], one["column"], one["kind"], from_json(one["value"]))
                for node, one in content["splits"].items()
            }
            return cls(splits, dict(content["types"]))
        except FileNotFoundError:
            return None
        except OSError as error:
            raise UnreadableInput(f"{str(file)!r} cannot be read: {error.strerror}.", "Check who owns it.") from None
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise UnreadableInput(f"{str(file)!r} is not a split list: {error}.", "Train again.") from None


def models(state: Path) -> list[str]:
    """The models that a party has split lists for."""
    return sorted(file.parent.name for file in (state / _FOLDER).glob("*/splits.json"))


def revoke(state: Path, run: str) -> None:
    """Delete the split list for a model, and the page that shows it."""
    if run not in models(state):
        known = ", ".join(models(state)) or "none"
        raise InvalidArgument(f"There is no split list for the model {run!r}. Available: {known}.", "Check the name.")
    (state / _FOLDER / run / REPORT).unlink(missing_ok=True)
    (state / _FOLDER / run / "splits.json").unlink()
