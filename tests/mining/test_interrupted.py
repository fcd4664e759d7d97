"""Ctrl-C is answered in the middle of long work."""

import pytest

from tests.support.interrupting import interrupt

WORK = {
    "pairs": ("full(3000, 3000)", "pairs(data, threads=1)"),
    "expected supports": (
        "full_in_buckets(200_000, 50), many_questions(50, 1_000_000)",
        "expected_supports(*data, threads=1)",
    ),
    "rules": ("explosive()", "rules(data, 2, 0.5)"),
    "the number of itemsets": ("dense()[0]", "count_frequent(data, 1)"),
    "the number that avoid others": ("dense()", "count_frequent(data[0], 1, avoiding=data[1])"),
}


@pytest.mark.no_sanitizer(reason="nothing new for the kernels, and slow")
@pytest.mark.parametrize(("data", "work"), WORK.values(), ids=WORK)
def test_ctrl_c_is_answered(data, work):
    script = f"""
        import sys
        from tests.support.counting import dense, full, full_in_buckets, many_questions
        from tests.support.explosive import explosive
        from veilset.mining import count_frequent, expected_supports, pairs, rules
        data = {data}
        print("go", flush=True)
        try:
            {work}
        except KeyboardInterrupt:
            sys.exit(42)
    """
    assert interrupt(script)[0] == 42
