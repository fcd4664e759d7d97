"""What a test must know to set a memory limit close to what the process uses already."""

import os
from pathlib import Path


def own_memory() -> int:
    """Bytes of this process that count towards a memory limit: all but the pages of files."""
    _, resident, shared, *_ = map(int, Path("/proc/self/statm").read_text().split())
    return (resident - shared) * os.sysconf("SC_PAGE_SIZE")
