"""Errors by kind and value. Their wording is free; sentences that matter stand in snapshots (``make snapshots``)."""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from veilset.errors import VeilsetError


@contextmanager
def refused(
    kind: type[BaseException], *values: object, said: object = None
) -> Iterator[pytest.ExceptionInfo[BaseException]]:
    """The block raises this kind of error, whose message names each of these values; one of ours also gives advice.

    What is *said*, if given, is a snapshot of the message.
    """
    with pytest.raises(kind) as caught:
        yield caught
    error = caught.value
    assert type(error) is kind, f"{type(error).__name__}: {error}"
    assert not isinstance(error, VeilsetError) or error.next_step, f"{error} What next?"
    unnamed = [value for value in values if not names(str(error), value)]
    assert not unnamed, f"{unnamed} not named: {error}"
    assert said is None or str(error) == said


def first_progress(work: Callable[..., object], *arguments: object, **options: object) -> tuple:
    """What work tells first of its progress; what the function that is told raises ends it, and comes out as it is."""

    def stop(*step: object) -> None:
        raise RuntimeError("enough", step)

    with pytest.raises(RuntimeError) as caught:
        work(*arguments, progress=stop, **options)
    assert type(caught.value) is RuntimeError
    enough, step = caught.value.args
    assert enough == "enough"
    return step


def names(text: str, value: object) -> bool:
    """Whether a text names a value: as a word or a number of its own, not as a part of one."""
    return bool(re.search(rf"(?<!\w)(?<!\d[.,]){re.escape(str(value))}(?!\w|[.,]\d)", text))
