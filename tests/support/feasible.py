"""Questions of hypothesis that can be answered: a draw that no method can help is left out."""

from collections.abc import Callable
from typing import Any

from hypothesis import assume

from veilset import Coherence, Infeasible, Transactions
from veilset.anonymize.coherence.task import Task
from veilset.limits import Limits


def if_feasible(ask: Callable[..., Any], *arguments: object, **options: object) -> Any:
    try:
        return ask(*arguments, limits=Limits(), **options)
    except Infeasible:
        assume(False)
        raise


def task_of(data: Transactions, promise: Coherence, **options: object) -> Task:
    return if_feasible(Task.of, data, promise, **options)
