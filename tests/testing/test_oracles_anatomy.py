"""The rules by which anatomies are judged are the definition: all arrangements in which nobody is empty."""

from fractions import Fraction

from hypothesis import assume, given
from hypothesis import strategies as st

from tests.support.effort import examples
from veilset.testing import oracles_anatomy as brute

COLUMNS = ["ab", "cd", "ef", "gh"]


@st.composite
def buckets(draw: st.DrawFn) -> tuple[list[str], list[str]]:
    """Up to four members with up to three columns, or three with up to four: all their worlds can be gone through."""
    size = draw(st.integers(1, 4))
    columns = COLUMNS[: draw(st.integers(2, 3 if size == 4 else 4))]
    value = [st.sampled_from(["", "", *column, column]) for column in columns]
    return ["".join(draw(one) for one in value) for _ in range(size)], columns


@examples(500)
@given(buckets())
def test_probabilities_are_the_surest_beliefs(bucket):
    beliefs = brute.surest_beliefs(*bucket)
    assume(beliefs)  # otherwise somebody must be empty
    assert brute.probabilities(*bucket) == beliefs


@examples(300)
@given(buckets())
def test_groups_sensitive_shares_and_items_bound_what_is_believed(bucket):
    """Having nothing sensitive may be known; having anything is as sure as the share says, or less."""
    rows, columns = bucket
    beliefs = brute.surest_beliefs(rows, columns)
    assume(beliefs)
    one, secret = [0] * len(rows), columns[0]
    shares = brute.sensitive_shares(rows, columns, one, secret)
    assert max((sure for (column, value), sure in beliefs.items() if column == 0 and value), default=0) <= shares.get(
        0, 0
    )
    groups = brute.anatomy_groups(rows, columns, one, "value", secret)
    assert {(0, column) for column in range(1, len(columns))} == set(groups)
    for (_, column), held in groups.items():
        assert held == {value: sure for (at, value), sure in beliefs.items() if at == column}
    for (_, column), held in brute.anatomy_groups(rows, columns, one, "free", secret).items():
        assert all(sure >= beliefs[column, value] for value, sure in held.items())
    for empty in ("value", "free"):
        for (_, column, item), sure in brute.item_shares(rows, columns, one, empty, secret).items():
            assert sure >= max(belief for (at, value), belief in beliefs.items() if at == column and item in value)


@given(buckets(), st.data())
def test_beliefs_mix_what_is_believed_in_buckets(bucket, draws):
    rows, columns = bucket
    assume(all(rows))
    target = brute.values_of(draws.draw(st.sampled_from(rows)), columns)
    wanted, *others = draws.draw(st.permutations(range(len(columns))))
    known = {column: target[column] for column in others[: draws.draw(st.integers(1, len(others)))]}
    sure = brute.attacker_posterior(rows, columns, [0] * len(rows), known, wanted, target[wanted])
    assert sure == brute.attacker_posterior(
        rows * 2, columns, [0] * len(rows) + [1] * len(rows), known, wanted, target[wanted]
    )
    assert sure <= brute.surest_beliefs(rows, columns)[wanted, target[wanted]]


def test_by_hand():
    """Half have x, half have y: who has the one does not have the other."""
    assert set(brute.surest_beliefs(["x", "y"], ["x", "y"]).values()) == {1}
    # where everybody has something, nothing is added to shares
    assert brute.probabilities(["xz", "yz"], ["xy", "z"])[0, frozenset("x")] == Fraction(1, 2)
    assert brute.attacker_posterior(["x", "y"], ["x", "y"], [0, 0], {0: "z"}, 1, "y") is None
    assert brute.is_l_diverse(["xa", "yb", "x", "y", "b", "a"], ["xy", "ab"], [0] * 6, 2)
    assert not brute.is_l_diverse(["ax", "by", ""], ["ab", "xy"], [0] * 3, 1)
    assert not brute.is_l_diverse(["as", "b"], ["as", "b"], [0] * 2, 1, "value", "s")
    assert not brute.is_l_diverse(["ax", "bx"], ["ab", "xy"], [0] * 2, 2)
    assert brute.is_l_diverse(["abx", "acy", "dx", "ey"], ["abcde", "xy"], [0] * 4, 2, items=True)
    split = ["abx", "acy", "dx", "ey"] * 2
    assert brute.is_l_diverse(split, ["abcde", "xy"], [0, 0, 1, 1] * 2, 2)
    assert not brute.is_l_diverse(split, ["abcde", "xy"], [0, 0, 1, 1] * 2, 2, items=True)
