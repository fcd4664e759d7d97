"""What is given instead of transactions is answered with how to read it."""

from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import veilset as vs
from tests.support.errors import refused
from veilset import Coherence, InvalidArgument, RhoUncertainty, Taxonomy, Transactions, mining

PROMISE = Coherence(k=2, p=2)
VISITS = {"visit_date": ["2020-01-01", "2020-01-02"], "patient_id": [1, 2], "icd_code": ["B20", "E11"]}
WIDE = {"age": [31, 45], "milk": [0, 1], "beer": [1, 0], "figs": [1.0, 0.0]}
DATA = Transactions.from_lists([["milk", "beer"], ["milk", "beer"]])

USES = {
    "audit": lambda data: vs.audit(data, PROMISE),
    "anonymize": lambda data: vs.anonymize(data, PROMISE),
    "measure": lambda data: vs.measure(data, vs.anonymize(DATA, PROMISE)),
    "apply": lambda data: vs.apply("nowhere", data),
    "matching_items": lambda data: vs.matching_items(data, ["milk"]),
    "by_co_occurrence": lambda data: Taxonomy.by_co_occurrence(data, 2, min_support=2),
    "frequent": lambda data: mining.frequent(data, 2),
    "count_frequent": lambda data: mining.count_frequent(data, 2),
    "rules": lambda data: mining.rules(data, 2, 0.5),
    "pairs": mining.pairs,
    "support": lambda data: mining.support(data, ["milk"]),
    "supports": lambda data: mining.supports(data, [["milk"]]),
    "cover": lambda data: mining.cover(data, ["milk"]),
    "expected_supports": lambda data: mining.expected_supports(data, [["milk"]]),
    "minimal_rare": lambda data: mining.minimal_rare(data, 2),
    "minimal_rare_chunks": lambda data: next(mining.minimal_rare_chunks(data, 2)),
    "items_in_moles": lambda data: mining.items_in_moles(data, 2),
    "count_moles": lambda data: mining.count_moles(data, 2),
    "giveaways": lambda data: mining.giveaways(data, 2),
    "proxies": lambda data: mining.proxies(data, min_support=2),
    "private items": lambda data: vs.generate.with_private_items(data, cap=0.5),
}


@pytest.mark.parametrize("use", USES.values(), ids=USES)
def test_every_function_asks_for_transactions(use):
    with refused(InvalidArgument, "DataFrame", "vs.read", "long=('patient_id', 'icd_code')"):
        use(pd.DataFrame(VISITS))


@pytest.mark.parametrize(
    ("given", "values"),
    [
        (pl.DataFrame(VISITS), ("polars DataFrame", "long=('patient_id', 'icd_code')")),
        (pa.table(VISITS), ("pyarrow Table", "long=('patient_id', 'icd_code')")),
        (pa.table(VISITS).to_reader(), ("RecordBatchReader", "long=('patient_id', 'icd_code')")),
        (pd.DataFrame(WIDE), ("wide=True", "ignore=('age',)")),
        (pd.DataFrame(WIDE)[["milk", "beer"]].astype(bool), ("wide=True",)),
        (pd.DataFrame({"items": [["milk"], ["beer"]], "who": [1, 2]}), ("vs.read(frame)",)),
        (pd.DataFrame({"a": [["milk"]], "b": [["beer"]]}), ("column='a'",)),
        (pd.DataFrame(), ("DataFrame", "vs.read")),
        ("visits.csv", ("'visits.csv'", "vs.read('visits.csv')")),
        (Path("visits.csv"), ("'visits.csv'", "vs.read('visits.csv')")),
        ([["milk", "beer"]], ("list", "from_lists")),
        ((frozenset({"milk"}),), ("tuple", "from_lists")),
        (np.eye(2), ("numpy ndarray", "vs.read")),
        (None, ("None", "vs.read")),
        (PROMISE, ("Coherence", "vs.read")),
    ],
)
def test_what_is_no_transactions(given, values):
    with refused(InvalidArgument, *values):
        vs.audit(given, PROMISE)


def test_a_release_has_transactions():
    release = vs.anonymize(DATA, PROMISE)
    with refused(InvalidArgument, "Release", "custodian_data"):
        vs.audit(release, PROMISE)


def test_a_reader_is_left_as_it_was():
    reader = pa.table(VISITS).to_reader()
    with pytest.raises(InvalidArgument):
        vs.audit(reader, PROMISE)
    assert len(vs.read(reader, long=("patient_id", "icd_code"))) == 2


@pytest.mark.parametrize("use", [vs.audit, vs.anonymize])
@pytest.mark.parametrize(
    ("promise", "values"),
    [
        ("coherence", ("'coherence'", "Coherence(k=20, p=4)")),
        ("rho-uncertainty", ("'rho-uncertainty'", "RhoUncertainty")),
        ("cohesion", ("'cohesion'", "Coherence")),
        ({"k": 5, "p": 2}, ("dict", "Coherence(**promise)")),
        ({"rho": 0.5}, ("RhoUncertainty(**promise)",)),
        ({"z": 5}, ("dict", "Coherence")),
        (None, ("None", "Coherence")),
        (5, (5, "Coherence")),
        (RhoUncertainty, ("RhoUncertainty", "rho")),
        (DATA, ("Transactions", "Coherence")),
    ],
)
def test_what_is_no_promise(use, promise, values):
    with refused(InvalidArgument, *values):
        use(DATA, promise)


@pytest.mark.parametrize("given", [DATA, None, "release", pd.DataFrame(VISITS)])
def test_what_is_no_release(given, tmp_path):
    for use in (lambda: vs.publish(given, tmp_path / "out"), lambda: vs.measure(DATA, given)):
        with refused(InvalidArgument, "vs.anonymize"):
            use()
    assert not (tmp_path / "out").exists()


def test_what_is_said_of_a_frame(snapshot):
    with pytest.raises(InvalidArgument) as caught:
        vs.audit(pd.DataFrame(VISITS), PROMISE)
    assert str(caught.value) == snapshot
    with pytest.raises(InvalidArgument) as caught:
        vs.audit(DATA, {"k": 5, "p": 2})
    assert str(caught.value) == snapshot
