"""What leaves of a profile: rounded, frozen, in random order, and only what the user has agreed to."""

import csv
import json
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.errors import refused
from tests.support.places import ROOT
from tests.support.reader import reader_store
from veilset.errors import InvalidArgument
from veilset.search import Profile
from veilset.search.desk import Desk
from veilset.search.exclusions import Exclusions
from veilset.search.hiding_costs import costs_of_hiding
from veilset.search.rules import Rule
from veilset.search.sending import TOLD_APART, USERS, Difference, Frozen, check_server, exposing_message, pseudonym
from veilset.search.sensitive import OWN, topic_of
from veilset.search.store import Store

D = Decimal
TERMS = st.text(st.characters(codec="utf-8", exclude_characters="/"), min_size=1, max_size=8)


@pytest.fixture
def desk(tmp_path):
    with reader_store(tmp_path, mode="exposing", server="https://wrapper.example") as store:
        yield Desk(store)


@given(st.text(max_size=20), st.lists(st.tuples(TERMS, st.decimals(0, 5, places=1))))
def test_the_message_holds_the_query_and_the_pairs_and_nothing_else(query, pairs):
    body = exposing_message("https://a.example/", query, pairs).body
    assert json.loads(body) == {"query": query, "terms": [[term, float(weight)] for term, weight in pairs]}


def test_the_message_in_full():
    message = exposing_message("https://a.example/base/", "jaguar", [("research/search", D("0.4")), ("tea", D("1.0"))])
    assert message.wire == (
        b"POST /base/search HTTP/1.1\r\nHost: a.example\r\nUser-Agent: veilset\r\nAccept: application/json\r\n"
        b"Accept-Encoding: identity\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: 71\r\n"
        b"\r\n"
        b'{"query": "jaguar", "terms": [["research/search", 0.4], ["tea", 1.0]]}'
    ).replace(b"71", str(len(message.body)).encode())


def test_weights_are_rounded_and_the_order_is_random_but_stays():
    profile = Profile.build([[f"t{n}", f"u{n}"] for n in range(12) for _ in range(2)], min_support=2)
    exposure = profile.expose(ratio=1)
    orders = {Frozen.of(exposure).pairs for _ in range(5)}
    assert len(orders) > 1
    assert {tuple(sorted(order)) for order in orders} == {tuple(sorted(exposure.rounded().items()))}
    frozen = next(iter(orders))
    stored = json.loads(json.dumps(Frozen(frozen).to_setting()))
    assert Frozen.of_setting(stored).pairs == frozen
    assert len({Frozen(order).digest for order in orders}) == 1


def test_the_difference_names_what_changes():
    now = Frozen((("tea", D("0.3")), ("jazz", D("0.5")), ("golf", D("0.1"))))
    then = Frozen((("golf", D("0.1")), ("tea", D("0.4")), ("art", D("1.0"))))
    difference = Difference.between(now, then)
    assert difference.added == (("art", D("1.0")),)
    assert difference.removed == (("jazz", D("0.5")),)
    assert difference.changed == (("tea", D("0.3"), D("0.4")),)
    assert difference
    assert not Difference.between(now, Frozen(now.pairs[::-1]))


@pytest.mark.parametrize(
    "address", ["http://example.org", "http://10.0.0.1:8600", "ftp://127.0.0.1", "", "127.0.0.1:8600"]
)
def test_a_profile_is_not_sent_in_plain_text_or_nowhere(address):
    with refused(InvalidArgument):
        check_server(address)


def test_servers_on_this_machine_or_encrypted_ones_may_be_named():
    for address in ("https://example.org", "http://127.0.0.1:8600", "http://localhost:8600", "http://[::1]:8600"):
        assert check_server(address + "/") == address


@pytest.mark.parametrize(
    ("term", "topic"),
    [
        ("diabetes", "health"),
        ("Schwangerschaft", "health"),
        ("jazz/HIV", "health"),
        ("trade-union", "politics and unions"),
        ("hiv.example.org", "health"),
        ("church", "faith"),
        ("football", ""),
        ("scientific", ""),
        ("classical", ""),
        ("software", ""),
    ],
)
def test_sensitive_terms_have_a_topic(term, topic):
    assert topic_of(term) == topic


def test_own_words_count_word_by_word_and_inflected(desk):
    desk.choose(sensitive=["Football club", "engine"], dial={"ratio": "1"})
    assert {term: topic for term, topic in desk.to_ask().items() if topic == OWN} == {"football": OWN, "engines": OWN}
    assert not {"football", "engines"} & desk.exposure().terms.keys()


def test_nothing_is_sent_before_the_user_agrees(desk):
    assert (desk.frozen.pairs, desk.frozen_at) == ((), "")
    assert json.loads(desk.preview("tea").message.body) == {"query": "tea", "terms": []}
    with refused(InvalidArgument):
        desk.search("tea")
    assert desk.store.entries("sent") == []


def test_agreeing_freezes_what_was_shown(desk):
    desk.choose(dial={"ratio": "1"})
    proposed = desk.proposed()
    assert {term for term, _ in desk.difference().added} == {term for term, _ in proposed.pairs}
    desk.refresh(proposed.digest)
    frozen = desk.frozen
    assert sorted(frozen.pairs) == sorted(proposed.pairs)
    assert not desk.difference()
    desk.choose(dial={"terms": 1})
    assert desk.frozen == frozen
    assert desk.difference().removed
    with refused(InvalidArgument):
        desk.refresh(proposed.digest)
    assert desk.frozen == frozen


def test_sensitive_terms_stay_at_home_until_the_user_has_said_yes(desk):
    desk.choose(dial={"ratio": "1"})
    assert desk.to_ask() == {"diabetes": "health", "insulin": "health"}
    assert not {"diabetes", "insulin/diet", "recipes"} & desk.exposure().terms.keys()
    desk.decide("diabetes", allow=True)
    assert {"diabetes", "recipes"} <= desk.exposure().terms.keys()
    assert desk.to_ask() == {"insulin": "health"}
    desk.refresh(desk.proposed().digest)
    desk.decide("diabetes", allow=False)
    assert not {"diabetes", "recipes"} & desk.exposure().terms.keys()
    assert "diabetes" not in dict(desk.frozen.pairs)


def test_at_home_all_terms_rank_and_none_leaves(desk):
    desk.choose(mode="home")
    assert "diabetes" in desk.exposure().terms
    assert desk.preview("tea").message is None


def test_what_is_hidden_is_not_sent_from_now_on(desk):
    desk.choose(dial={"ratio": "1"})
    desk.refresh(desk.proposed().digest)
    before = dict(desk.frozen.pairs)
    desk.hide("search/research", hide=True)
    gone = {"search/research", "engines", "machines/learning", "personalized"}
    assert gone <= before.keys()
    assert desk.frozen.pairs == tuple(pair for pair in before.items() if pair[0] not in gone)
    assert not gone & desk.exposure().terms.keys()
    desk.hide("search/research", hide=False)
    assert "search/research" not in dict(desk.frozen.pairs)
    assert ("search/research", before["search/research"]) in desk.difference().added


def test_hiding_has_a_cost(desk):
    desk.choose(dial={"ratio": "1"}, mode="home")
    costs = {node.name: desk.cost_of_hiding(node) for node in desk.profile.root.walk() if node.label}
    assert costs["search/research"].ratio > 0
    assert (costs["search/research"].words, costs["engines"].words) == (6, 1)
    assert (
        costs["engines"].ratio == 0
    )  # somebody who is interested in parts of research is: the ratio is blind to names
    desk.hide("engines", hide=True)
    assert desk.cost_of_hiding(desk.profile.find("engines")[0]) == costs["engines"]


@given(
    st.lists(st.lists(st.sampled_from("abcdefg"), min_size=1, max_size=5, unique=True), min_size=4, max_size=14),
    st.integers(0, 30),
)
def test_the_costs_of_all_branches_are_those_of_each(documents, position):
    profile = Profile.build(documents, min_support=2)
    settings = profile.expose(ratio=1).settings()
    detail = settings[position % len(settings)].min_detail
    shown = profile.expose(min_detail=detail)
    nodes = dict(enumerate(profile.root.walk()))
    costs = costs_of_hiding(profile.root, shown)
    assert {id(nodes[at]) for at in costs} == {id(node) for node in shown.nodes}
    for at, cost in costs.items():
        hidden = profile.expose(min_detail=detail, hidden=[nodes[at].name])
        assert cost.ratio == pytest.approx(shown.ratio - hidden.ratio, abs=1e-9)
        assert cost.words == len(words(shown) - words(hidden))


def words(exposure):
    return {word for term in exposure.terms for word in term.split("/")}


def test_only_terms_related_to_the_query_if_the_user_wants_that(desk):
    desk.choose(dial={"ratio": "1"}, per_query=True)
    desk.refresh(desk.proposed().digest)
    sent = {term for term, _ in desk.preview("tennis shoes").terms.pairs}
    assert "tennis" in sent
    assert not {"search/research", "engines", "jazz"} & sent
    assert desk.preview("weather").terms.pairs == ()
    order = [term for term, _ in desk.frozen.pairs]
    shown = [term for term, _ in desk.preview("searching").terms.pairs]
    assert shown == [term for term in order if term in shown]


def test_choices_are_checked_before_any_is_stored(desk):
    for wrong in (
        {"mode": "away"},
        {"alpha": "2"},
        {"engine": "x"},
        {"server": "http://a.example"},
        {"colour": 1},
        {"server": ""},
    ):
        with refused(InvalidArgument):
            desk.choose(fetch=True, **wrong)
    with refused(InvalidArgument):
        desk.choose(dial={"ratio": "2"})
    assert not desk.fetches


def test_what_is_tried_out_is_not_kept(desk):
    desk.try_out(dial={"terms": 1}, hidden=["jazz"])
    assert (desk.dial, desk.hidden) == ({"terms": 1}, ["jazz"])
    assert Desk(desk.store).hidden == []
    desk.keep()
    assert Desk(desk.store).hidden == ["jazz"]


def test_until_a_weight_is_chosen_the_profile_counts_only_where_it_is_sent(desk):
    assert (desk.mode, desk.alpha) == ("exposing", "auto")
    desk.choose(mode="home")
    assert desk.alpha == "0"
    desk.choose(alpha="0.6")
    assert desk.alpha == "0.6"
    desk.choose(alpha=" ")  # takes the choice back
    assert desk.alpha == "0"


def test_no_term_is_sent_where_none_could_change_the_order(desk):
    desk.choose(dial={"ratio": "1"})
    desk.refresh(desk.proposed().digest)
    assert desk.preview("football").terms.pairs
    assert desk.preview("how to string a tennis racket at home").terms.pairs == ()
    desk.choose(alpha="0")
    assert desk.preview("football").terms.pairs == ()
    desk.choose(alpha="0.6")
    assert desk.preview("how to string a tennis racket at home").terms.pairs == desk.frozen.pairs


def test_what_another_process_forgets_is_not_sent(desk):
    desk.choose(dial={"ratio": "1"})
    desk.refresh(desk.proposed().digest)
    assert "jazz" in dict(desk.frozen.pairs)
    with Store.open(desk.store.path) as other:
        other.forget(Rule.of("word", "jazz"))
    assert "jazz" not in desk.exposure().terms
    assert b"jazz" not in desk.preview("tea").message.wire


@pytest.fixture
def agreed(desk):
    """Somebody who sends everything but what is about health."""
    desk.choose(dial={"ratio": "1"})
    desk.refresh(desk.proposed().digest)
    assert {"jazz", "football", "tennis"} <= dict(desk.frozen.pairs).keys()
    return desk


def sent(desk):
    return {word for term, _ in desk.preview("tea").terms.pairs for word in term.split("/")}


def test_what_is_hidden_while_ranking_at_home_is_not_sent_afterwards(agreed):
    agreed.choose(mode="home")
    agreed.try_out(hidden=["jazz"], allowed={"tennis": False})
    agreed.keep()
    agreed.choose(mode="exposing")
    assert not {"jazz", "tennis"} & sent(agreed)
    assert "jazz" not in str(agreed.store.get("frozen"))


def test_what_the_store_says_is_checked_when_it_is_sent(agreed):
    """Whoever changed it: another version, another process, an edited file."""
    agreed.store.set("hidden", ["jazz"])
    agreed.store.set("allowed", {"tennis": False})
    agreed.store.set("sensitive", ["football"])
    assert not {"jazz", "tennis", "football"} & sent(agreed)


def test_what_a_new_rule_excludes_is_not_sent(agreed):
    with Store.open(agreed.store.path) as other:
        assert other.exclude(Exclusions.of(words=["jazz"])) == 4
    assert "jazz" in str(agreed.store.get("frozen"))
    assert "football" in sent(agreed)
    assert not {"jazz", "trumpet", "concert"} & sent(agreed)


def test_a_hidden_interest_is_not_sent_under_another_word_of_its_stem(agreed):
    agreed.store.set("frozen", [["concerts", "0.3"], ["tenni", "0.4"], ["footballs", "0.5"]])
    assert "footballs" in sent(agreed)
    agreed.hide("football", hide=True)
    agreed.store.set("frozen", [["concerts", "0.3"], ["footballs", "0.5"]])
    assert sent(agreed) == {"concerts"}


def test_a_word_that_becomes_sensitive_is_no_longer_sent(agreed):
    agreed.choose(sensitive=["jazz"])
    assert "jazz" not in sent(agreed)
    agreed.choose(sensitive=[])
    assert "jazz" not in sent(agreed)


def test_hiding_and_denying_is_no_agreement(desk):
    desk.hide("jazz", hide=True)
    desk.decide("diabetes", allow=False)
    assert desk.frozen_at == ""
    with refused(InvalidArgument):
        desk.search("tea")


def test_an_agreement_is_for_one_server(agreed):
    """Choosing another one, for good or for a look, sends it nothing; nor is the first one sent the terms again."""
    agreed.try_out(server="https://other.example")
    assert (sent(agreed), agreed.frozen_at) == (set(), "")
    assert {term for term, _ in agreed.difference().added} >= {"jazz", "football"}
    other = Desk(agreed.store)
    assert "jazz" in sent(other)
    other.choose(server="https://other.example")
    with refused(InvalidArgument):
        other.search("tea")
    other.choose(server="https://wrapper.example")
    assert (sent(other), other.store.entries("sent")) == (set(), [])
    other.refresh(other.proposed().digest)
    assert "jazz" in sent(other)


def test_what_was_forgotten_is_not_proposed(tmp_path):
    """Neither by the process that forgot it, nor by one that had the store open before."""
    store = reader_store(tmp_path, mode="exposing", server="https://wrapper.example", dial={"ratio": "1"})
    with store, Store.open(store.path) as other:
        desks = [Desk(store), Desk(other)]
        assert all("jazz" in dict(desk.proposed().pairs) for desk in desks)
        store.forget(Rule.of("word", "jazz"))
        assert not any("jazz" in dict(desk.proposed().pairs) for desk in desks)


def test_what_is_said_of_pseudonyms_is_what_was_measured():
    with (ROOT / "docs" / "experiments" / "search.csv").open() as file:
        rows = [row for row in csv.DictReader(file) if row["kind"] == "pseudonym"]
    measured = {int(float(row["exposed"])): (int(row["cases"]), float(row["own"])) for row in rows}
    for terms in (1, 2, 3, 4, 5):
        assert measured[terms] == (USERS, TOLD_APART[terms])
    assert min(alone for terms, (_, alone) in measured.items() if terms > 5) >= TOLD_APART[5] == max(TOLD_APART)
    assert [pseudonym(terms) == pseudonym(5) for terms in (4, 6, 200)] == [False, True, True]
    assert pseudonym(0) == ""
