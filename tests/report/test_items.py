"""What became of items: why some are gone, which are left, and which strategy made the release."""

from __future__ import annotations

import pytest

from tests.support.runs import run_of
from tests.support.shop import printed
from veilset import api, report
from veilset.anonymize import methods_of
from veilset.models import Coherence, RhoUncertainty
from veilset.report.items import attempt_rows, attempts_sentence, kept_sentence, why_gone
from veilset.transactions import Transactions

TEA = [*[["tea", "figs"]] * 3, *[["tea"]] * 9, *[["figs"]] * 8, *[["milk", "tea"]] * 20, ["salt"]]
"""Of those who have tea, three have figs: {figs tea} is what keeps figs out at k=10."""

TREE = {"ale": ["drinks"], "rum": ["drinks"], "gin": ["drinks"], "bun": ["food"], "fig": ["food"]}
PANTRY = Transactions.from_lists(
    [["ale", "bun"], ["rum", "bun"], ["gin", "bun"], ["ale", "fig"], ["bun"], ["rum", "fig"], ["ale"]]
)


def test_why_names_the_partners_and_the_limit() -> None:
    run = run_of(api.anonymize(Transactions.from_lists(TEA), Coherence(k=10, p=2)))
    assert why_gone(run) == {"figs": "with 'tea': 3 people, k = 10", "salt": "on its own: 1 person, k = 10"}
    shown = printed(report.print_release, run)
    assert "figs: with 'tea': 3 people, k = 10" in shown
    assert "with &#39;tea&#39;: 3 people, k = 10" in report.custodian_report(run)
    told = report.release_facts(run)["suppressed"]
    assert told["items"] == ["figs", "salt"], "The most frequent first."
    assert told["reasons"]["figs"]["itemset"] == ["figs", "tea"]
    assert (told["reasons"]["figs"]["support"], told["why"]) == (3, why_gone(run))


def test_why_where_something_sensitive_is_told() -> None:
    rows = [*[["tea", "figs", "hiv"]] * 3, ["tea", "figs"], *[["tea"]] * 9, *[["figs"]] * 8]
    data = Transactions.from_lists(rows, sensitive=["hiv"])
    run = run_of(api.anonymize(data, Coherence(h="2/5", k=2, p=2)))
    assert why_gone(run) == {"figs": "with 'tea': 75% of 4 people have 'hiv', h = 40%"}
    removed = run_of(api.anonymize(data, RhoUncertainty(rho="1/2"), method="remove-sensitive"))
    assert why_gone(removed) == {"hiv": "75% of 4 people with 'figs' and 'tea' have it, rho = 50%"}


def test_why_of_a_sensitive_item_that_is_too_common() -> None:
    data = Transactions.from_lists([["tea", "flu"], ["tea", "flu"], ["tea"]], sensitive=["flu"])
    run = run_of(api.anonymize(data, Coherence(h="1/2", k=2, p=1), allow_sensitive=True))
    assert why_gone(run) == {"flu": "66.7% of all 3 people have it, h = 50%"}


def test_an_item_that_could_return_is_said_to() -> None:
    data = Transactions.from_lists([["a"], ["a"], ["b"], ["b"], ["a", "s"]], sensitive=["s"])
    every = run_of(api.anonymize(data, RhoUncertainty(rho="1/2"), method="remove-sensitive"))
    assert why_gone(every) == {"s": "could be restored alone"}
    given = run_of(api.anonymize(data, Coherence(h=1, k=2, p=1), method="replay", suppressed=["a"]))
    assert why_gone(given) == {"a": "could be restored alone; suppressed as in the earlier release"}


def test_only_the_most_frequent_are_looked_into(monkeypatch) -> None:
    monkeypatch.setattr("veilset.run._MOST_EXPLAINED", 1)
    rows = [["a", "b"], ["a", "b"], ["b", "c"], ["a"], ["a"], ["d", "c"], ["d"], ["d"], ["e", "b"], ["e", "d"], ["f"]]
    run = run_of(api.anonymize(Transactions.from_lists(rows), Coherence(k=2, p=2), method="tree"))
    assert len(run.reasons) == 1
    why = why_gone(run)
    assert list(why) == list(run.release.suppressed_by_support)
    assert why["f"] == "on its own: 1 person, k = 2", "No search is needed for that."
    assert sum("not examined" in reason for reason in why.values()) == len(why) - 2


def test_what_survives_is_listed_the_most_frequent_first() -> None:
    run = run_of(api.anonymize(Transactions.from_lists(TEA), Coherence(k=10, p=2)))
    assert kept_sentence(run.release) == "2 items, the most frequent first: tea (32), milk (20)"
    assert kept_sentence(run.release) in printed(report.print_release, run)
    assert report.release_facts(run)["kept"] == {"count": 2, "most_frequent": {"tea": 32, "milk": 20}}
    page = report.custodian_report(run)
    assert "2 items kept" in page
    assert "kept: tea, milk" in repr(run.release)
    assert "suppressed: figs, salt" in repr(run.release)


CASES = [
    (Transactions.from_lists(TEA), Coherence(k=10, p=2), {}),
    (Transactions.from_lists(TEA), Coherence(k=10, p=2), {"keep": ["figs"]}),
    (PANTRY, Coherence(k=2, p=2), {"method": "generalize", "taxonomy": TREE}),
    (PANTRY.with_sensitive(["fig"]), RhoUncertainty(rho="1/2"), {}),
    (PANTRY.with_sensitive(["fig"]), RhoUncertainty(rho="1/2"), {"method": "suppress"}),
    (PANTRY.with_sensitive(["fig"]), RhoUncertainty(rho="1/2"), {"drop_empty": True}),
]


@pytest.mark.parametrize(("data", "promise", "options"), CASES)
def test_chosen_is_the_strategy_whose_result_is_the_release(data, promise, options) -> None:
    release = api.anonymize(data, promise, **options)
    (chosen,) = (attempt for attempt in release.attempts if attempt.won)
    assert chosen.loss == pytest.approx(api.measure(data, release)["average_loss"])
    rows = attempt_rows(release)
    assert [name for name, _, state, _ in rows if state.startswith("chosen")] == [chosen.name]
    assert not {name for name, *_ in rows}.intersection(methods_of(promise)) - {"tree"}, (
        "What is put back afterwards makes it another method's result."
    )
    again = api.anonymize(data, promise, **{**options, "chosen": release.options["chosen"]})
    assert (again.custodian_data == release.custodian_data, again.attempts) == (True, ())
    assert attempts_sentence(again) == ""


def test_sensitive_items_that_go_with_the_empty_transactions_are_noted() -> None:
    data = Transactions.from_lists([["flu"], ["tea"], [], []], sensitive=["flu"])
    release = api.anonymize(data, RhoUncertainty(rho="1/2"), drop_empty=True)
    assert (release.suppressed, release.certified) == (("flu",), True)
    (chosen,) = (attempt for attempt in release.attempts if attempt.won)
    assert "1 more sensitive item removed" in chosen.note
