"""Workers: one pool for a run, which ends with it."""

import asyncio
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from veilset.errors import VeilsetError
from veilset.joins.parties.workers import Workers

_SCRIPT = """
import asyncio, os, time
from veilset.joins.parties.workers import Workers

async def use(workers):
    print(*set(await workers.map(os.getpid, [()] * 4)), flush=True)
    await workers.map(time.sleep, [(60,)])

if __name__ == "__main__":
    asyncio.run(use(Workers(2)))
"""


def _ended(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks at processes in /proc")
def test_processes_end_when_the_one_they_work_for_is_killed(tmp_path):
    script = tmp_path / "party.py"
    script.write_text(_SCRIPT)
    with subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE, text=True) as party:
        workers = [int(word) for word in party.stdout.readline().split()]
        party.kill()
    assert workers
    assert party.pid not in workers
    until = time.monotonic() + 30
    while not all(map(_ended, workers)) and time.monotonic() < until:
        time.sleep(0.02)
    assert all(map(_ended, workers))


def test_a_process_that_is_killed_is_an_error_and_not_a_wait():
    async def broken(workers):
        await workers.map(os._exit, [(1,)])

    with Workers(2) as workers:
        with pytest.raises(VeilsetError) as caught:
            asyncio.run(asyncio.wait_for(broken(workers), 60))
        assert caught.value.exit_code == 2
        assert asyncio.run(workers.map(abs, [(-1,), (2,)])) == [1, 2]  # by new processes


def test_one_thread_needs_no_other_process_and_lets_the_loop_go_on():
    async def both(workers):
        ticks = 0
        job = asyncio.ensure_future(workers.map(_wait_for_tick, [(ticked.append, 0.01), (ticked.append, 0.01)]))
        while not job.done():
            await asyncio.sleep(0)
            ticks += 1
        assert await job == [os.getpid()] * 2
        return ticks

    ticked: list[float] = []
    with Workers(1) as workers:
        assert asyncio.run(asyncio.wait_for(both(workers), 60)) > 1
    assert ticked == [0.01, 0.01]


def _wait_for_tick(tell, seconds):
    time.sleep(seconds)
    tell(seconds)
    return os.getpid()


def test_chunks_not_begun_are_dropped_when_one_fails():
    begun = []

    def fails(number):
        begun.append(number)
        if number == 3:
            raise ZeroDivisionError
        time.sleep(0.001)

    with Workers(1) as workers, pytest.raises(ZeroDivisionError):
        asyncio.run(asyncio.wait_for(workers.map(fails, [(number,) for number in range(5_000)]), 60))
    assert begun[:4] == [0, 1, 2, 3]
    assert len(begun) < 5_000
