"""A run around a release that is there already, for what reports are asked."""

from typing import Any

from veilset.anonymize import Binding
from veilset.limits import Limits
from veilset.models import Audit
from veilset.release import Release
from veilset.run import Run


def run_of(
    release: Release, *, before: Audit | None = None, binding: Any = None, limits: Limits | None = None, **others: Any
) -> Run:
    """The run that made this release, with what the auditor said of the original and what binds; None: nothing."""
    bounds = {} if limits is None else {"memory_limit": limits.memory_limit, "time_limit": limits.time_limit}
    run = Run.of(release, **bounds, **others)
    run.__dict__.update(before=before, binding=binding or Binding())
    return run
