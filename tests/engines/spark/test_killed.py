"""Executors that are killed: what is audited and what is suppressed stay the same."""

import os
import subprocess
import sys
import textwrap

import pytest

pytestmark = pytest.mark.spark

KILLED = """
    import os, signal, sys
    from pathlib import Path
    from veilset import Coherence, anonymize, audit, generate
    from veilset.engines.spark import Spark
    from veilset.engines.spark.held import SparkDealt

    class KillsItsExecutor:
        def __init__(self, work, once):
            self.work, self.once = work, once

        def __call__(self, share, rows):
            if share == 0 and not self.once.exists():
                self.once.touch()
                status = Path(f"/proc/{os.getppid()}/stat").read_text()  # the daemon, whose parent is the executor
                os.kill(int(status.rpartition(")")[2].split()[1]), signal.SIGKILL)
            return self.work(share, rows)

    def auto(data):
        release = anonymize(data, promise)
        assert release.certified
        return release.suppressed, release.loss

    each = SparkDealt.each
    data = generate.pos_like(transactions=2000, items=40, average_length=5, maximum_length=12, random_state=3)
    rows = [(list(row),) for row in data]
    promise = Coherence(k=10, p=2)
    with Spark.start("local-cluster[2,1,1024]") as engine:
        held = engine.read(engine.session.createDataFrame(rows, "items array<string>"))
        for task in (lambda data: audit(data, promise), auto):
            once = Path(sys.argv[1], task.__name__)
            SparkDealt.each = lambda dealt, work: each(dealt, KillsItsExecutor(work, once))
            same = task(held) == task(data)
            print("same" if same else "different", "after a kill" if once.exists() else "nothing was killed")
"""


def test_a_killed_executor_changes_nothing(tmp_path):
    """In a process without any of the variables that users would have to set."""
    environment = {name: value for name, value in os.environ.items() if name not in ("PYSPARK_PYTHON", "SPARK_HOME")}
    script = [sys.executable, "-W", "error::FutureWarning", "-c", textwrap.dedent(KILLED), str(tmp_path)]
    done = subprocess.run(script, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout.splitlines()[-2:] == ["same after a kill"] * 2
    assert "FutureWarning" not in done.stderr
