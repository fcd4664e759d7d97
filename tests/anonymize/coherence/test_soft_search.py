"""Soft search: random, repeatable by its seed, never worse than without it, and polite."""

import numpy as np
import pytest

from tests.support.commands import run
from tests.support.errors import refused
from tests.support.interrupting import ctrl_c_stops
from veilset import BudgetExceeded, Coherence, InvalidArgument, Transactions, _native, anonymize, audit, read
from veilset.anonymize.coherence.partial import quick_partial
from veilset.limits import Limits


def groups_of_tastes(rows: int = 500, items: int = 40, seed: int = 3) -> Transactions:
    """Long baskets in which most pairs of items are rare."""
    rng = np.random.default_rng(seed)
    popular = 1 / np.arange(1, items + 1)
    lengths = np.minimum(1 + rng.geometric(0.25, rows), items)
    chosen = [rng.choice(items, size=n, replace=False, p=popular / popular.sum()).tolist() for n in lengths]
    return Transactions.from_lists([[f"i{v:02}" for v in row] for row in chosen])


@pytest.mark.parametrize("p", [1, 2, 4, None])
def test_less_is_lost_with_more_effort(p):
    data, promise = groups_of_tastes(), Coherence(k=8, p=p)
    normal = anonymize(data, promise, method="partial")
    high = anonymize(data, promise, method="partial", effort="high", random_state=1)
    assert high.certified
    assert high.loss <= normal.loss
    assert normal.options == {}
    assert high.options == {"effort": "high", "random_state": 1}
    assert [one.name for one in high.attempts][-2:] == ["soft search 2", "soft search 3"]
    assert high.bound.least <= high.loss


def test_the_search_keeps_what_putting_back_alone_does_not():
    data, promise = groups_of_tastes(), Coherence(k=8, p=2)
    lost = [one.loss for one in anonymize(data, promise, method="partial").attempts]
    assert lost[-1] < min(lost[:-1])


def test_a_seed_gives_one_release_for_any_number_of_threads():
    data, promise = groups_of_tastes(), Coherence(k=8, p=3)

    def release(seed: int | None, threads: int) -> Transactions:
        options = {"effort": "high", "random_state": seed, "threads": threads}
        return anonymize(data, promise, method="partial", **options).custodian_data

    assert release(7, 1) == release(7, 2) != release(8, 2)
    drawn = anonymize(data, promise, method="partial", effort="high")
    assert release(drawn.options["random_state"], 1) == drawn.custodian_data
    assert release(2**64 - 1, 1) == release(2**64 - 1, 2)


def test_what_the_search_proposes_returns_first():
    """Of two pairs that exclude each other, the one that a plan keeps stays, though the other one is as good."""
    rows = [["a", "b", "c"]] * 2 + [["a", "c"]] * 2 + [["b", "c"]] * 2
    data = Transactions.from_lists(rows)
    arguments = {
        "turn_offsets": np.array([0, 3, 6]),
        "turn_items": np.array([0, 1, 2, 0, 1, 2], dtype=np.int32),
        "plan": np.array([0, 1], dtype=np.int32),
        "plans": np.concatenate([data.items != 1, data.items != 0]).astype(np.uint8),
        "worth": np.ones(3, dtype=np.int64),
        "kind": np.full(3, -1, dtype=np.int32),
        "kinds": 0,
        "h_num": 1,
        "h_den": 1,
        "truthful": True,
        "stay": 0,
        "k": 3,
        "p": 3,
        "work": 0,
        "threads": 1,
        "memory_limit": 2**30,
        "time_limit": 600.0,
        "progress": None,
    }
    found = _native.partial.put_back(data.offsets, data.items, 3, **arguments)
    kept = [data.thinned(one.view(bool)) for one, _ in found]
    expected = [{"a": 4, "c": 6}, {"b": 4, "c": 6}]
    assert [dict(zip(one.names, one.supports.tolist(), strict=True)) for one in kept] == expected


def test_larger_itemsets_than_the_search_looks_at_are_mended():
    """It looks at itemsets of up to four items; here any number may be known."""
    rng = np.random.default_rng(5)
    rows = [[f"i{v}" for v in np.flatnonzero(rng.random(12) < 0.7)] for _ in range(300)]
    data, promise = Transactions.from_lists(rows), Coherence(k=6, p=None)
    release = anonymize(data, promise, method="partial", effort="high", random_state=1)
    assert release.certified
    again = quick_partial(release.custodian_data, promise, limits=Limits())
    assert again.loss == 0, "What keeps the promise loses nothing."


def test_another_effort_is_refused():
    data = Transactions.from_lists([["a"], ["a"]])
    with refused(InvalidArgument, "'low'"):
        anonymize(data, Coherence(k=2, p=2), method="partial", effort="low")


def test_nothing_to_search():
    for rows in ([[], []], [["a"], ["b"]], [["a"], ["a"]]):
        release = anonymize(Transactions.from_lists(rows), Coherence(k=2, p=2), method="partial", effort="high")
        assert release.certified
        assert release.loss == float(rows[0] != rows[1])


def test_limits_are_kept():
    data, promise = groups_of_tastes(3000, 300), Coherence(k=20, p=4)
    with refused(BudgetExceeded, "time limit"):
        anonymize(data, promise, method="partial", effort="high", time_limit=0.5)
    told = []
    small = groups_of_tastes(200, 20)
    anonymize(small, promise, method="partial", effort="high", progress=lambda *step: told.append(step[0]))
    assert "Searching" in told
    before = """
        import numpy as np
        from veilset import Coherence, Transactions, anonymize
        rng = np.random.default_rng(1)
        data = Transactions.from_lists([sorted(rng.choice(300, size=8, replace=False).tolist()) for _ in range(5000)])
    """
    work = 'while True: anonymize(data, Coherence(k=5, p=2), method="partial", effort="high")'
    assert ctrl_c_stops(work, before=before)


def test_a_recipe_repeats_the_search(tmp_path, capsys):
    source = tmp_path / "baskets.csv"
    source.write_text("\n".join(",".join(row) for row in groups_of_tastes(200)) + "\n")
    method = ["--k", "10", "--p", "2", "--method", "partial", "--effort", "high"]
    code, _ = run(capsys, "publish", source, *method, "--out", tmp_path / "out", "--yes")
    assert code == 0
    assert audit(read(tmp_path / "out/public/data.csv"), Coherence(k=10, p=2)).holds
    code, _ = run(capsys, "publish", tmp_path / "out/custodian/recipe.toml", "--out", tmp_path / "again", "--yes")
    assert code == 0
    assert (tmp_path / "again/public/data.csv").read_bytes() == (tmp_path / "out/public/data.csv").read_bytes()
