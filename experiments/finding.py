"""One thing that a paper found, and whether our rows agree: counted, never judged by eye."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Finding:
    """What the paper says, for how many cases it is so here, and what was counted."""

    says: str
    agree: int
    cases: int
    counted: str

    def __str__(self) -> str:
        if not self.cases:
            return f"- {self.says} *Not run.*"
        verdict = {self.cases: "Holds", 0: "Does not hold"}.get(self.agree, "Holds in part")
        return f"- {self.says} **{verdict}**: {self.agree} of {self.cases} {self.counted}."
