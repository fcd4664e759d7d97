"""``remove-all``, the baseline (thesis §4.5.1, "RmAll"): suppresses every public item that occurs in any mole.

The size-1 moles go first (Observation 2); over the raw data, nearly every item shares a mole with one of them, and the
baseline would remove nearly everything.
"""

from __future__ import annotations

from veilset.anonymize.coherence.restore import restore_coherence
from veilset.anonymize.coherence.task import Task
from veilset.anonymize.options import Restore
from veilset.limits import Limits
from veilset.models import Coherence
from veilset.release import Release
from veilset.transactions import Transactions


def remove_all(data: Transactions, promise: Coherence, /, *, restore: Restore = False, limits: Limits) -> Release:
    """Suppress the size-1 moles, then every item of any mole that is left; *restore* is off, as this is a baseline."""
    task = Task.of(data, promise, limits=limits)
    return task.release("remove-all", in_any_mole(task, restore=restore), {"restore": restore})


def in_any_mole(task: Task, *, restore: bool) -> tuple[str, ...]:
    """The items of any mole, less what can return if that is asked for."""
    gone = (*task.alone, *task.miner.items_in_moles(task.question, task.alone))
    return restore_coherence(task, gone) if restore else gone
