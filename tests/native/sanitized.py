"""Only `make sanitize` runs this: the kernels it tests are sanitized, and a breach stops the process."""

import subprocess
import sys

import pytest

BREACHES = {
    "heap-buffer-overflow": "np.lib.stride_tricks.as_strided(np.zeros(3, dtype=np.uint64), shape=(64,))",
    "misaligned address": "np.zeros(33, dtype=np.uint8)[1:].view(np.uint64)",
}


@pytest.mark.parametrize("breach", BREACHES)
def test_a_breach_inside_a_kernel_stops_the_process(breach):
    """The array claims more words than there are, or words where none can be: the kernel that believes it is caught."""
    script = f"""
import numpy as np
from veilset import _native
words = {BREACHES[breach]}
_native.mining.and_count_with("portable", words, words)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode != 0, "These kernels are not sanitized."
    assert breach in done.stderr
    assert "mining/bit_variants.cpp" in done.stderr
