"""Decision trees over a join that is never computed: what a site does at home.

Counts of joined rows pass as 64-bit words: one for each count of a `Site`, two for each of a `WideSite`, lower first.
"""

from veilset._native._types import _Int32, _Int64, _Progress, _Uint64

class TooManyRows(OverflowError): ...

class Site:
    def __init__(
        self,
        *,
        rows: int,
        classes: int,
        codes: list[_Int32],
        distinct: list[int],
        ordered: list[bool],
        keys: list[_Int32],
        key_counts: list[int],
    ) -> None: ...

class WideSite(Site): ...

def start(site: Site, classes: _Int32, *, memory_limit: int, time_limit: float, progress: _Progress) -> None: ...
def class_summary(
    site: Site, edge: int, *, memory_limit: int, time_limit: float, progress: _Progress
) -> tuple[_Int32, _Uint64]: ...
def receive_classes(
    site: Site, edge: int, keys: _Int32, counts: _Uint64, *, memory_limit: int, time_limit: float, progress: _Progress
) -> None: ...
def best_splits(
    site: Site,
    nodes: _Int64,
    *,
    min_leaf: _Uint64,
    threads: int,
    memory_limit: int,
    time_limit: float,
    progress: _Progress,
) -> tuple[_Int64, _Int32, _Int32]: ...
def split(
    site: Site,
    nodes: _Int64,
    children: _Int64,
    attributes: _Int32,
    codes: _Int32,
    *,
    threads: int,
    memory_limit: int,
    time_limit: float,
    progress: _Progress,
) -> _Uint64: ...
def split_summary(
    site: Site,
    edge: int,
    children: _Int64,
    *,
    threads: int,
    memory_limit: int,
    time_limit: float,
    progress: _Progress,
) -> tuple[_Int64, _Int32, _Uint64]: ...
def follow(
    site: Site,
    edge: int,
    nodes: _Int64,
    children: _Int64,
    offsets: _Int64,
    keys: _Int32,
    counts: _Uint64,
    *,
    threads: int,
    memory_limit: int,
    time_limit: float,
    progress: _Progress,
) -> None: ...
def rows_at(site: Site, node: int) -> tuple[_Int32, _Uint64]: ...
def counts_at(site: Site, node: int) -> _Uint64: ...
def size(site: Site, nodes: _Int64) -> int: ...
def forget(site: Site, nodes: _Int64) -> None: ...
def gain(left: _Uint64, both: _Uint64) -> int: ...
