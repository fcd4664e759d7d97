"""HiGHS, run so that Ctrl-C, a time limit and a memory limit are answered while it works."""

from __future__ import annotations

import atexit
from collections.abc import Callable
from threading import Event, Thread

import highspy
import numpy as np
import numpy.typing as npt

from veilset.limits import Limits

_LOOK_UP = 0.1  # seconds between two looks at the clock
_GRACE = 0.6  # seconds that HiGHS is given to come back once it was told to stop
_LAST_GRACE = 5.0  # seconds, when the process ends
_STATUS = highspy.HighsModelStatus


_running: set[Solver] = set()


@atexit.register
def _wait_for_all() -> None:
    """A solver that comes back while Python ends would abort the process: those that were told to stop are awaited."""
    for solver in tuple(_running):
        if not solver.done.wait(_LAST_GRACE):
            for callback in solver.callbacks:
                solver.stopCallback(callback.callback_type)


class Stopped(Exception):
    """There was no time to finish."""


class Solver(highspy.Highs):
    """A minimisation over columns within bounds, with rows that have a least value.

    The first columns, as many as *whole* says, are integers; *seconds* tells how many are left.
    """

    def __init__(
        self, cost: npt.NDArray[np.float64], *, whole: int = 0, limits: Limits, seconds: Callable[[], float]
    ) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.silent()
        self.bound = -np.inf
        self._found: npt.NDArray[np.float64] | None = None
        self._limits, self._seconds = limits, seconds
        self._stop, self.done = Event(), Event()
        if whole:
            # All solvers of a process share one set of threads, whose number is settled by whoever comes first.
            highspy.Highs.resetGlobalScheduler(True)
            self.setOptionValue("threads", limits.thread_count)
        for asked in (self.cbSimplexInterrupt, self.cbIpmInterrupt, self.cbMipInterrupt):
            asked.subscribe(self._answer)
        self.cbMipImprovingSolution.subscribe(self._note)
        columns = np.arange(len(cost), dtype=np.int32)
        self.addVars(len(cost), np.zeros(len(cost)), np.ones(len(cost)))
        self.changeColsCost(len(cost), columns, cost)
        if whole:
            self.changeColsIntegrality(whole, columns[:whole], np.full(whole, highspy.HighsVarType.kInteger))

    def confine(self, least: npt.NDArray[np.float64], most: npt.NDArray[np.float64]) -> None:
        """Set the bounds of all columns, which are 0 and 1 at first."""
        self.changeColsBounds(len(least), np.arange(len(least), dtype=np.int32), least, most)

    def add(
        self,
        low: npt.NDArray[np.int64],
        starts: npt.NDArray[np.int64],
        columns: npt.NDArray[np.int32],
        values: npt.NDArray[np.int64],
    ) -> None:
        """Rows as a sparse matrix, each with its least value."""
        self.addRows(
            len(low),
            low.astype(np.float64),
            np.full(len(low), highspy.kHighsInf),
            len(columns),
            starts.astype(np.int32),
            columns,
            values.astype(np.float64),
        )

    def work(self, look: Callable[[], None] = lambda: None) -> bool:
        """Run; whether there is a solution. *look* is called now and then, and `Stopped` raised when time is up."""
        if not self._run(look):
            raise Stopped
        status = self.getModelStatus()
        if status in (_STATUS.kInfeasible, _STATUS.kUnboundedOrInfeasible, _STATUS.kObjectiveBound):
            return False
        if status != _STATUS.kOptimal:
            raise RuntimeError(f"HiGHS answers {status}.")
        return True

    def take_found(self) -> npt.NDArray[np.float64] | None:
        """The best solution with whole numbers so far, if it is new."""
        found, self._found = self._found, None
        return found

    def _run(self, look: Callable[[], None]) -> bool:
        """Whether it came to an end by itself.

        HiGHS releases the interpreter and looks for a sign to stop now and then, but not in all it does: when it does
        not come back soon, its thread is left to end alone.
        """
        self._stop.clear()
        done = self.done = Event()
        failed: list[BaseException] = []

        def solve() -> None:
            try:
                self.run()
            except BaseException as error:  # raised again where the caller is
                failed.append(error)
            finally:
                _running.discard(self)
                done.set()

        _running.add(self)
        Thread(target=solve, daemon=True).start()
        try:
            while not done.wait(_LOOK_UP):
                look()
                self._limits.require(1, "Proving the optimum", "set a time limit to get the best result found by then.")
                if self._seconds() <= _GRACE:
                    break
        finally:
            in_time = done.is_set()
            self._stop.set()
            done.wait(_GRACE)
        if failed:
            raise failed[0]
        return in_time

    def _note(self, event: highspy.HighsCallbackEvent) -> None:
        self._found = np.array(event.data_out.mip_solution)

    def _answer(self, event: highspy.HighsCallbackEvent) -> None:
        self.bound = max(self.bound, event.data_out.mip_dual_bound)
        if self._stop.is_set():
            event.interrupt()
