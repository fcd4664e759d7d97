"""The thread in which everything behind a page happens, one thing after the other.

An open database belongs to the thread that opened it, and two clicks must not change a profile at once. The server goes
on answering meanwhile.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from types import TracebackType
from typing import TypeVar

Result = TypeVar("Result")


class Worker(AbstractContextManager["Worker"]):
    """One thread that does what it is told. As a context manager, it ends after what it has begun."""

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="veilset-page")

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._thread.shutdown()

    def do(self, work: Callable[[], Result]) -> Result:
        """Do it, and wait."""
        return self._thread.submit(work).result()

    async def doing(self, work: Callable[[], Result]) -> Result:
        """Do it while the server answers others."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, work)
