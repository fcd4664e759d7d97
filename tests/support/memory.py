"""What a process takes of the memory that counts towards a limit."""

import gc
import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

from tests.support.places import ROOT
from veilset.limits import Limits


def own_memory() -> int:
    """Bytes of this process that count towards a memory limit: all but the pages of files."""
    _, resident, shared, *_ = map(int, Path("/proc/self/statm").read_text().split())
    return (resident - shared) * os.sysconf("SC_PAGE_SIZE")


def peak_memory() -> int:
    """The most memory that this process has had, in bytes.

    Not from `resource.getrusage`: there, a process begins with the peak of the one that started it.
    """
    (line,) = (line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM:"))
    return int(line.split()[1]) * 1024


def leaving(room: int) -> int:
    """A memory limit that leaves this process so many bytes; what earlier tests leave to be freed is none of them."""
    gc.collect()
    Limits(memory_limit=1).bytes_left()  # gives it back
    return own_memory() + room


class Watched:
    """A script run apart: the most memory it took in each of its steps, and all that was seen in its TMPDIR meanwhile.

    The script prints ``> step`` when a step begins and one line of JSON at its end. It is looked at from outside every
    two milliseconds: a thread inside would wait for whatever holds the interpreter.
    """

    def __init__(self, script: str, *arguments: str, tmp: Path) -> None:
        self.peaks: dict[str, int] = {}
        self.seen: set[str] = set()
        self._step = "start"
        command = [sys.executable, "-c", script, *arguments]
        here = {**os.environ, "TMPDIR": str(tmp), "PYTHONPATH": str(ROOT)}
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=here) as process:
            watcher = threading.Thread(target=self._watch, args=(process, tmp))
            watcher.start()
            assert process.stdout is not None
            last = ""
            for line in process.stdout:
                if line.startswith("> "):
                    self._step = line[2:].strip()
                last = line
            watcher.join()
        assert process.returncode == 0, f"It failed in {self._step}."
        self.answer = json.loads(last)

    def _watch(self, process: subprocess.Popen[str], tmp: Path) -> None:
        page = os.sysconf("SC_PAGE_SIZE")
        while process.poll() is None:
            statm = Path(f"/proc/{process.pid}/statm").read_text().split()
            if len(statm) > 2:
                taken = (int(statm[1]) - int(statm[2])) * page
                self.peaks[self._step] = max(taken, self.peaks.get(self._step, 0))
            if self._step != "start":
                self.seen.update(path.name for path in tmp.iterdir())
            time.sleep(0.002)
