"""Processes that compute while the event loop goes on: started once for a run, shared by all its edges."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterable
from concurrent.futures import BrokenExecutor, Executor, ProcessPoolExecutor, ThreadPoolExecutor
from types import TracebackType
from typing import Any, TypeVar

from veilset.errors import VeilsetError, said

R = TypeVar("R")

_IMPORTED = ["veilset.joins.parties.intersection", "rbcl"]  # once, and not by every worker


class Workers:
    """A pool of processes; with one thread, a single thread of this process.

    Parameters
    ----------
    threads : int
        How many compute at once. The processes are forks of a new process without threads: forks of this one would copy
        locks that its threads hold. They start at once, so that they are ready when a connection is. They end with this
        process, however it ends.
    """

    def __init__(self, threads: int) -> None:
        self._threads, self._pool = threads, _pool(threads)

    async def map(self, function: Callable[..., R], chunks: Iterable[tuple[Any, ...]]) -> list[R]:
        """The function's results for the arguments in each chunk. Chunks not yet begun are dropped when this fails."""
        loop = asyncio.get_running_loop()
        jobs: list[asyncio.Future[R]] = []
        try:
            jobs += (loop.run_in_executor(self._pool, function, *chunk) for chunk in chunks)
            return await asyncio.gather(*jobs)
        except BrokenExecutor:
            self._pool.shutdown(wait=False)
            self._pool = _pool(self._threads)
            raise VeilsetError(
                "A worker process of this party ended before its work was done.",
                f"If memory was short, use fewer workers with {said('threads')}.",
            ) from None
        finally:
            for job in jobs:
                job.cancel()

    def close(self) -> None:
        """End the processes, once the chunks that they have begun are done."""
        self._pool.shutdown(wait=True, cancel_futures=True)

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()


def _pool(threads: int) -> Executor:
    if threads == 1:
        return ThreadPoolExecutor(1)
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(_IMPORTED)
    pool = ProcessPoolExecutor(threads, context, _be_a_worker)
    for _ in range(threads):
        pool.submit(_be_ready)
    return pool


def _be_ready() -> None:
    """Work that only starts a process."""


def _be_a_worker() -> None:
    # Ctrl-C reaches every process of the terminal; the one that was called ends the others.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    # A pool does not notice that the process that it works for was killed, and would wait for ever.
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
