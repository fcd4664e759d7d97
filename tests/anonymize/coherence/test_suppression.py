"""Suppression for coherence: the MOLE-tree, the portfolio of auto, k-anonymity, and what a task allows."""

import sys
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import veilset as vs
from tests.support.effort import examples
from tests.support.errors import refused
from tests.support.feasible import task_of as feasible
from tests.support.golden import PROMISE, running_example
from tests.support.interrupting import ctrl_c_stops
from veilset import BudgetExceeded, Coherence, Infeasible, InvalidArgument, Transactions, anonymize
from veilset.anonymize import methods_of
from veilset.anonymize.coherence.auto import auto, best_of_all
from veilset.anonymize.coherence.cover import Cover, by_mole_tree
from veilset.anonymize.coherence.k_anonymity import k_anonymity
from veilset.anonymize.coherence.restore import restore_coherence
from veilset.anonymize.coherence.task import Task
from veilset.anonymize.coherence.tree import tree
from veilset.limits import Limits
from veilset.testing import check_anonymizer, oracles, strategies
from veilset.testing.checks import as_sets

MANY = examples(400)
BASKETS = Transactions.from_lists([["a", "b"], ["a", "b"], ["a", "b", "c"], ["a", "c"]])


def weights() -> st.SearchStrategy:
    return st.one_of(
        st.none(), st.just("equal"), st.dictionaries(st.sampled_from("abc"), st.sampled_from([0, 0.5, 1, 3]))
    )


def known(data: Transactions, given_weights):
    return (
        {v: w for v, w in given_weights.items() if v in data.public}
        if isinstance(given_weights, dict)
        else given_weights
    )


def greedy_as_written(moles: list[frozenset[str]], weight: dict[str, Fraction], keep=frozenset()) -> list[str]:
    """Figure 12 with Score = MM(v)/IL(v), word for word."""
    order = []
    while moles:
        counts = {v: sum(v in mole for mole in moles) for v in sorted(set().union(*moles)) if v not in keep}
        scores = {v: (Fraction(n) / weight[v] if weight[v] else Fraction(10**9)) for v, n in counts.items()}
        best = max(scores.values())
        order.append(next(v for v in scores if scores[v] == best))
        moles = [mole for mole in moles if order[-1] not in mole]
    return order


@MANY
@given(
    strategies.transactions(),
    strategies.coherence_promises(),
    weights(),
    st.sets(st.sampled_from("abcdef"), max_size=2),
)
def test_the_tree_chooses_as_the_algorithm_does(data, promise, given_weights, keep):
    task = feasible(data, promise, weights=known(data, given_weights), keep=keep & set(data.public))
    minimal = oracles.minimal_moles(as_sets(data), data.sensitive, promise.share, promise.k, promise.p)
    weight = {name: Fraction(int(task.weight[code])) for code, name in enumerate(data.names)}
    assert list(by_mole_tree(task, task.moles())) == greedy_as_written(list(minimal), weight, task.keep)


def test_the_tree_of_long_moles_and_many_items():
    """Paths that share two, three and all but one of their items; thousands of nodes."""
    rng = np.random.default_rng(5)
    rows = [rng.choice(60, size=rng.integers(3, 16), replace=False).tolist() for _ in range(400)]
    data = Transactions.from_lists([[f"i{v:02}" for v in row] for row in rows])
    task = Task.of(data, Coherence(k=4, p=4), limits=Limits())
    moles = task.moles()
    assert len(moles.by_size) == 4 or moles.by_size[2] > 1000
    weight = dict(zip(data.names, map(Fraction, task.weight.tolist()), strict=True))
    assert list(by_mole_tree(task, moles)) == greedy_as_written([frozenset(items) for items, _ in moles], weight)


@MANY
@given(strategies.transactions(), strategies.coherence_promises())
def test_tree_auto_and_k_anonymity_pass_the_battery(data, promise):
    check_anonymizer(lambda d, p: tree(d, p, limits=Limits()), data, promise, maximal=True)
    check_anonymizer(lambda d, p: auto(d, p, limits=Limits()), data, promise, maximal=True)
    check_anonymizer(lambda d, p: k_anonymity(d, p, limits=Limits()), data, promise)


@MANY
@given(strategies.transactions(), strategies.coherence_promises())
def test_k_anonymity_makes_classes_of_k(data, promise):
    feasible(data, promise)
    release = k_anonymity(data, promise, limits=Limits())
    hidden = set(data.sensitive)
    classes: dict[frozenset, list] = {}
    for row in as_sets(release.custodian_data):
        classes.setdefault(row - hidden, []).append(row & hidden)
    for members in classes.values():
        assert len(members) >= promise.k
        assert all(Fraction(sum(s in row for row in members), len(members)) <= promise.share for s in hidden)


@MANY
@given(
    strategies.transactions(),
    strategies.coherence_promises(),
    st.sets(st.sampled_from("abcdef"), max_size=3),
    weights(),
)
def test_keep_is_kept_or_cannot_be(data, promise, keep, given_weights):
    keep &= set(data.public)
    rows = as_sets(data)
    question = (data.sensitive, promise.share, promise.k, promise.p)
    assume(not oracles.empty_set_breaks(rows, data.sensitive, promise.share, promise.k))
    possible = oracles.is_coherent([row & (keep | set(data.sensitive)) for row in rows], *question)
    for method in ("auto", "tree"):
        options = {"method": method, "keep": keep, "weights": known(data, given_weights)}
        if not possible:
            with refused(Infeasible, "promise"):
                anonymize(data, promise, **options)
            continue
        release = anonymize(data, promise, **options)
        assert release.certified
        assert keep.isdisjoint(release.suppressed)
        assert oracles.is_maximal_cohesion(rows, release.suppressed, *question)


@MANY
@given(strategies.transactions(), strategies.coherence_promises(), st.sets(st.sampled_from("abcdef")))
def test_the_list_of_moles_restores_as_the_data_does(data, promise, first):
    task = feasible(data, promise)
    cover = Cover(task, task.moles())
    start = data.in_order(first & set(data.public))
    assert cover.restored(data.public, start) == restore_coherence(task, data.public, start)


@MANY
@given(strategies.transactions(), strategies.coherence_promises(), weights())
def test_the_local_search_never_loses(data, promise, given_weights):
    task = feasible(data, promise, weights=known(data, given_weights))
    cover = Cover(task, task.moles())
    start = cover.restored(data.public)
    better = cover.improved(start)
    assert task.lost(better) <= task.lost(start)
    question = (data.sensitive, promise.share, promise.k, promise.p)
    assert oracles.is_coherent([row.difference(better) for row in as_sets(data)], *question)
    assert oracles.is_maximal_cohesion(as_sets(data), better, *question)


def test_the_local_search_leaves_a_dead_end():
    """One item worth ten blocks twelve that are worth two each: insertion starts with it, and no single swap pays."""
    rows = [["big", f"small{i:02}"] for i in range(12)] + [["big"]] * 10
    rows += [[f"small{i:02}" for i in range(12)]] * 3
    data = Transactions.from_lists(rows)
    task = Task.of(
        data, Coherence(k=2, p=1000), weights={"big": 10, **{f"small{i:02}": 2 for i in range(12)}}, limits=Limits()
    )
    cover = Cover(task, task.moles())
    start = cover.restored(data.public)
    assert "big" not in start
    assert cover.improved(start) == ("big",)


def test_auto_says_what_each_way_lost():
    release = anonymize(running_example(), PROMISE)
    assert [attempt.name for attempt in release.attempts] == ["insertion", "core", "staged", "tree"]
    assert min(attempt.loss for attempt in release.attempts) == pytest.approx(release.loss)


def test_auto_is_replayed_and_not_chosen_again():
    release = anonymize(running_example(), PROMISE)
    assert release.options == {"chosen": tuple("abcd")}
    again = anonymize(running_example(), PROMISE, chosen=["a", "b", "c", "d", "e"])
    assert again.suppressed == tuple("abcde")
    assert again.certified and not again.attempts
    with refused(InvalidArgument, "'zz'"):
        anonymize(running_example(), PROMISE, chosen=["zz"])
    with refused(InvalidArgument, "kept", "suppressed"):
        anonymize(running_example(), PROMISE, chosen=["a"], keep=["a"])
    assert not anonymize(running_example(), PROMISE, chosen=["c", "d"]).certified


def test_without_a_list_of_moles_the_data_is_asked(monkeypatch):
    monkeypatch.setattr(sys.modules["veilset.anonymize.coherence.auto"], "_MOST_MOLES", 1)
    release = anonymize(running_example(), PROMISE)
    assert release.certified
    *ways, last = release.attempts
    assert all(attempt.loss is not None for attempt in ways)
    assert (last.name, last.loss, last.note) == ("tree", None, "More than 1 sets of items break the promise.")


def test_auto_without_any_answer_says_what_stopped_each_way():
    data = vs.generate.quest(transactions=20_000, average_length=20, pattern_length=6, items=500)
    with refused(BudgetExceeded, "insertion", "staged"):
        anonymize(data, Coherence(k=5, p=4), time_limit=0.01)


def test_auto_at_a_memory_limit():
    data = vs.generate.quest(transactions=20_000, average_length=20, pattern_length=6, items=500)
    with refused(BudgetExceeded, "memory limit"):
        best_of_all(Task.of(data, Coherence(k=5, p=4), limits=Limits(memory_limit=1)))


@pytest.mark.parametrize("method", [method for method in methods_of(Coherence) if method != "replay"])
def test_every_method_keeps_a_memory_limit(method):
    """But for `given`, which works block by block, on disk if need be."""
    data = vs.generate.quest(transactions=2000, average_length=10, pattern_length=4, items=100)
    options = {"taxonomy": vs.Taxonomy.by_fan_out(data, 4)} if method == "generalize" else {}
    with refused(BudgetExceeded, "memory limit"):
        methods_of(Coherence)[method](data, Coherence(k=5, p=3), limits=Limits(memory_limit=1), **options)


@pytest.mark.no_sanitizer(reason="nothing new for the kernels, and slow")
@pytest.mark.parametrize("method", ["auto", "tree", "border", "generalize", "k-anonymity"])
def test_interrupted(method):
    before = f"""
        import veilset as vs
        data = vs.generate.quest(transactions=200_000, average_length=30, pattern_length=8, items=3000)
        options = {{"taxonomy": vs.Taxonomy.by_fan_out(data, 8)}} if "{method}" == "generalize" else {{}}
    """
    work = f'vs.anonymize(data, vs.Coherence(k=10, p=4), method="{method}", **options)'
    assert ctrl_c_stops(f"while True: {work}", before=before)


@pytest.mark.parametrize("method", ["auto", "tree", "k-anonymity", "border"])
def test_progress_is_told(method):
    told = []
    data = vs.generate.quest(transactions=5000, average_length=10, pattern_length=4, items=300)
    anonymize(
        data, Coherence(k=5, p=3), method=method, progress=lambda what, done, total: told.append((what, done, total))
    )
    assert told
    assert all(0 <= done <= total for _, done, total in told)


def test_weights():
    """Two people hold c, three hold b: the item with fewer occurrences goes, unless it weighs more."""
    promise = Coherence(k=2, p=2)
    assert anonymize(BASKETS, promise).suppressed == ("c",)
    assert anonymize(BASKETS, promise, weights="equal", method="tree").suppressed == ("b",)
    assert anonymize(BASKETS, promise, weights={"c": 5}, method="tree").suppressed == ("b",)
    assert anonymize(BASKETS, promise, weights={"b": 1e-9, "c": 0}).suppressed == ("c",)
    release = anonymize(BASKETS, promise, weights={"c": 5}, keep=["a"], method="tree")
    assert release.options == {"weights": {"c": 5}, "keep": ("a",), "restore": True}


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"weights": "heavy"}, ("weights", "'heavy'")),
        ({"weights": {"a": -1}}, ("weight", "'a'", "-1")),
        ({"weights": {"a": float("nan")}}, ("weight", "'a'", "nan")),
        ({"weights": {"zz": 1}}, ("'zz'",)),
        ({"keep": "a"}, ("keep", "'a'")),
        ({"keep": ["zz"]}, ("'zz'",)),
        ({"keep": ["s1"]}, ("'s1'", "sensitive")),
    ],
)
def test_options_that_cannot_be_meant(options, named, snapshot):
    with refused(InvalidArgument, *named, said=snapshot):
        anonymize(running_example(), PROMISE, method="tree", **options)


def test_keep_that_cannot_be_names_the_mole():
    with refused(Infeasible, "1 transaction", "'a' + 'e'"):
        anonymize(running_example(), PROMISE, keep=["a", "e"])
    with refused(Infeasible, "'a' + 'g'", "66.7%", "'s2'"):
        anonymize(running_example(), PROMISE, keep=["g", "a"])


def test_tree_without_restore_is_the_plain_greedy():
    data = Transactions.from_lists([["a", "b"], ["a", "c"], ["b"], ["c"], ["a"], ["a"], ["b"], ["c"]])
    promise = Coherence(k=2, p=2)
    plain = anonymize(data, promise, method="tree", restore=False)
    assert plain.certified
    assert set(anonymize(data, promise, method="tree").suppressed) <= set(plain.suppressed)


class TestSensitiveItems:
    DATA = Transactions.from_lists(
        [["tea", "flu"], ["tea", "flu"], ["tea", "flu", "hiv"], ["tea", "aids"]], sensitive=["flu", "hiv", "aids"]
    )

    def test_too_common_ones_may_go(self):
        promise = Coherence(h="1/2", k=2, p=1)
        with refused(Infeasible, "allow_sensitive"):
            anonymize(self.DATA, promise)
        release = anonymize(self.DATA, promise, allow_sensitive=True)
        assert release.suppressed == ("flu",)
        assert release.certified
        assert release.options["allow_sensitive"] is True
        assert vs.measure(self.DATA, release)["sensitive_kept"] == pytest.approx(2 / 5)

    def test_nothing_goes_where_nothing_must(self):
        release = anonymize(self.DATA, Coherence(h="3/4", k=2, p=1), allow_sensitive=True)
        assert release.suppressed == ()

    def test_a_group_is_one_item(self):
        apart = Coherence(h="1/3", k=2, p=1)
        together = Coherence(h="1/3", k=2, p=1, sensitive_groups=[["hiv", "aids"]])
        data = self.DATA.without(["flu"])
        assert vs.audit(data, apart).holds
        answer = vs.audit(data, together)
        assert not answer.holds and not answer.feasible
        assert answer.witnesses[0].sensitive == "hiv or aids"
        release = anonymize(data, together, allow_sensitive=True)
        assert release.certified
        assert release.suppressed == ("hiv",)  # of equals, the later one; the other alone is below h

    @pytest.mark.parametrize(
        ("groups", "named"),
        [
            (["hiv", "aids"], ("'hiv'", "group")),
            ([["hiv"]], ("1 item",)),
            ([["hiv", "aids"], ["aids", "flu"]], ("'aids'", "two")),
            ("hiv", ("'hiv'",)),
        ],
    )
    def test_groups_that_cannot_be_meant(self, groups, named, snapshot):
        with refused(InvalidArgument, *named, said=snapshot):
            Coherence(h=1, k=2, p=1, sensitive_groups=groups)

    def test_groups_of_unknown_or_public_items(self):
        with refused(InvalidArgument, "'hif'"):
            vs.audit(self.DATA, Coherence(h=1, k=2, p=1, sensitive_groups=[["hiv", "hif"]]))
        with refused(InvalidArgument, "'tea'", "group"):
            vs.audit(self.DATA, Coherence(h=1, k=2, p=1, sensitive_groups=[["hiv", "tea"]]))

    @MANY
    @given(strategies.transactions(), strategies.coherence_promises())
    def test_groups_by_brute_force(self, data, promise):
        """A group is an item that every row with a member holds."""
        assume({"s1", "s2"} <= set(data.sensitive))
        grouped = Coherence(h=promise.h, k=promise.k, p=promise.p, sensitive_groups=[["s1", "s2"]])
        rows = [row | {"any"} if row & {"s1", "s2"} else row for row in as_sets(data)]
        expected = oracles.is_coherent(rows, {*data.sensitive, "any"}, promise.share, promise.k, promise.p)
        assert vs.audit(data, grouped).holds == expected
        try:
            release = anonymize(data, grouped)
        except Infeasible:
            assert oracles.empty_set_breaks(rows, {*data.sensitive, "any"}, promise.share, promise.k)
            return
        assert release.certified
        assert type(grouped)(**grouped.parameters()) == grouped


def test_what_p_reaches():
    rows = [["a"]] * 5 + [["a", "b"]] * 3 + [["a", "b", "c"]] + [list("abcdefgh"), "s"][:1]
    data = Transactions.from_lists(rows)
    reach = vs.audit(data, Coherence(k=1, p=2)).reach
    assert (reach.covered, reach.p_for_90_percent, reach.p_for_all) == (Fraction(8, 10), 3, 8)
    assert vs.audit(data, Coherence(k=1, p=None)).reach.covered == 1
    assert vs.audit(data.take(np.array([], dtype=np.int64)), Coherence(k=1, p=2)).reach is None
