"""Patterns hidden by a sanitization matrix."""

from typing import TypedDict

from veilset._native._types import _Int8, _Int32, _Int64, _Progress, _Uint8, _Uint64

class _HidingResult(TypedDict):
    kept: _Uint8
    step: int
    victims: int
    strategies: list[tuple[int, int, float]]
    chosen: int

def sanitize(
    offsets: _Int64,
    items: _Int32,
    vocabulary: int,
    column_offsets: _Int64,
    column_items: _Int32,
    column_values: _Int8,
    *,
    threads: int,
    memory_limit: int,
    time_limit: float,
    progress: _Progress,
) -> _Uint8: ...
def restored(
    offsets: _Int64, items: _Int32, vocabulary: int, states: _Uint8, copies: _Int64, *, odds: int, seed: int
) -> _Uint8: ...

class ToHide:
    def __init__(
        self,
        *,
        offsets: _Int64,
        items: _Int32,
        antecedent_offsets: _Int64,
        antecedent_items: _Int32,
        most: _Int64,
        share_num: _Int64,
        share_den: _Int64,
    ) -> None: ...

class All:
    def __init__(self, *, rows: int, support: _Int64, elsewhere: _Int64) -> None: ...

class ToKeep:
    def __init__(self, *, offsets: _Int64, items: _Int32, spare: _Int64) -> None: ...

def hide(
    offsets: _Int64,
    items: _Int32,
    everything: All,
    copies: _Int64,
    states: _Uint8,
    hidden: ToHide,
    keep: ToKeep,
    odds: _Uint64,
    *,
    seed: int,
    most_strategies: int,
    threads: int,
    memory_limit: int,
    time_limit: float,
    progress: _Progress,
) -> _HidingResult: ...
