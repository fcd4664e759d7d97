"""All benchmarks: asserts the answers, prints ratios, writes benchmarks/RESULTS.md. ``make bench`` runs this."""

from __future__ import annotations

import argparse
import os
import platform
import sys
from pathlib import Path

import audit
import reading

import veilset

HERE = Path(__file__).parent


def main() -> None:
    """Run everything on the data in --data."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=HERE.parent.parent / "shared" / "data")
    data = parser.parse_args().data
    if not (data / "fimi-retail" / "retail.dat.gz").is_file():
        sys.exit(f"There is no fimi-retail/retail.dat.gz in {data}. Name the folder with the data sets: --data DIR")
    lines = [*reading.run(data), *audit.run(data)]
    table = ["| task | ours (s) | peer (s) | ratio | peer |", "|---|---|---|---|---|"]
    table += [
        f"| {task} | {ours:.4f} | {theirs:.4f} | {ours / theirs:.3f} | {peer} |" for task, ours, theirs, peer in lines
    ]
    text = "\n".join(
        [
            "# Benchmark results",
            "",
            "Ratios of ours to a named peer, both run in one script, best of several runs; answers asserted before",
            "timing. Written by `make bench`.",
            "",
            *table,
            "",
            f"Machine: {_processor()}, {os.cpu_count()} cores; {platform.system()}, Python "
            f"{platform.python_version()}, veilset {veilset.__version__}.",
        ]
    )
    print(text)
    (HERE / "RESULTS.md").write_text(text + "\n", "utf-8")


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    models = (
        [line.split(":")[1].strip() for line in info.read_text().splitlines() if line.startswith("model name")]
        if info.exists()
        else []
    )
    return models[0] if models else platform.processor() or platform.machine()


if __name__ == "__main__":
    main()
