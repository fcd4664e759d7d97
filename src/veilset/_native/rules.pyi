"""ρ-uncertainty: sensitive rules."""

from typing import TypedDict

from veilset._native._types import _Int32, _Int64, _Progress, _Uint8

class _SuppressedRules(TypedDict):
    chosen: _Int32
    rounds: _Int32
    undecided: _Uint8
    stuck: _Int32
    complete: bool

def suppress(
    offsets: _Int64,
    items: _Int32,
    weights: _Int64,
    sensitive: _Uint8,
    cost: _Int64,
    fixed: _Uint8,
    required: _Uint8,
    *,
    rho_num: int,
    rho_den: int,
    population: int,
    cost_limit: int,
    search_budget: int,
    rules_budget: int,
    threads: int,
    memory_limit: int,
    time_limit: float,
    progress: _Progress,
) -> _SuppressedRules: ...

class Keeping:
    def __init__(
        self,
        offsets: _Int64,
        items: _Int32,
        weights: _Int64,
        sensitive: _Uint8,
        *,
        population: int,
        rho_num: int,
        rho_den: int,
        memory_limit: int,
    ) -> None: ...
    def keep(self, item: int) -> None: ...
    def drop(self, item: int) -> None: ...
    def brings_rule(self, item: int, *, work: int, time_limit: float) -> tuple[int, list[int], int]: ...

class WeightedRows:
    def __init__(self, offsets: _Int64, items: _Int32, weights: _Int64, *, vocabulary: int) -> None: ...
    def renamed(
        self, rows: _Int64, names: _Int32, *, vocabulary: int, memory_limit: int
    ) -> tuple[_Int64, _Int32, _Int64]: ...
    def holding(self, rows: _Int64, wanted: _Uint8) -> _Int64: ...

def add_noise(
    offsets: _Int64,
    items: _Int32,
    *,
    vocabulary: int,
    odds: int,
    seed: int,
    threads: int,
    memory_limit: int,
    time_limit: float,
    progress: _Progress,
) -> tuple[_Int64, _Int32]: ...
def noise_loss(
    offsets: _Int64,
    items: _Int32,
    in_order: _Int32,
    leaf_of: _Int32,
    parents: _Int32,
    leaves: _Int64,
    *,
    odds: int,
    seed: int,
    threads: int,
    memory_limit: int,
    time_limit: float,
    progress: _Progress,
) -> int: ...
def kept_at_most(
    weights: _Int64,
    pairs: _Int32,
    triples: _Int32,
    *,
    threads: int,
    memory_limit: int,
    time_limit: float,
    progress: _Progress,
) -> int: ...
