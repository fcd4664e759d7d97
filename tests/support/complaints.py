"""What batteries say against what is wrong: which of their checks spoke is told by its sentence, in a snapshot."""

import re
from collections.abc import Callable

import pytest


def complaint(check: Callable[..., object], *arguments: object, **options: object) -> str:
    """The sentence, without what it quotes: the order of sets differs from run to run."""
    with pytest.raises(AssertionError) as caught:
        check(*arguments, **options)
    said, quotes = str(caught.value), 1
    while quotes:
        said, quotes = re.subn(r"\w*(\([^][(){}]*\)|\[[^][(){}]*\]|\{[^][(){}]*\})", "…", said)
    return said
