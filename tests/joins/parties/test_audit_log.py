"""The record of what was sent: complete, for its owner only, and readable after a crash."""

import datetime
import errno
import json
import os
import stat
from contextlib import closing

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.effort import examples
from tests.support.errors import refused
from veilset.errors import CannotWrite, InvalidArgument
from veilset.joins.parties.audit_log import AuditLog, Begin

NEIGHBOURS = {"visits.patient = accounts.owner": "bank", "visits.drug = drugs.id": "shop"}


def session(run="r1", study="s1", neighbours=NEIGHBOURS, **rows):
    """The hash of a table is that of its keys and classes, and one of its other columns after a dash."""
    tables = rows or {"visits": "h1"}
    rows = {name: one.partition("-")[0] for name, one in tables.items()}
    policies = dict.fromkeys(neighbours, "report")
    return Begin(run, study, neighbours, tables, rows, policies, {"study": study, "class": "bank, shop"})


class Clock:
    """A minute later each time it is asked, in another time zone."""

    def __init__(self):
        self.time = datetime.datetime(2025, 3, 1, 23, 58, tzinfo=datetime.timezone(datetime.timedelta(hours=-1)))

    def __call__(self):
        self.time += datetime.timedelta(minutes=1)
        return self.time


@pytest.fixture
def log(tmp_path):
    with closing(AuditLog(tmp_path / "state" / "audit.jsonl", Clock())) as made:
        yield made


def lines(log):
    return [json.loads(line) for line in log.path.read_text().splitlines()]


def recorded(log, begin, *to, outcome="finished"):
    log.begin(begin)
    for party in to:
        log.sending(begin, party, "class summary", size=10)
    if outcome:
        log.end(begin, outcome)


def test_lines(log, snapshot):
    begin = session()
    log.begin(begin)
    log.sending(begin, "bank", "class summary", edge="visits.patient = accounts.owner", entries=2, size=40)
    log.sending(begin, "bank", "split summary", edge="visits.patient = accounts.owner", level=1, nodes=1, size=0)
    log.settle()
    log.end(begin, "stopped", InvalidArgument("The value is 'secret'.", "Change it."))
    assert lines(log) == snapshot
    assert "secret" not in log.path.read_text()


def test_only_its_owner_can_open_it(log):
    assert stat.S_IMODE(log.path.stat().st_mode) == 0o600
    assert stat.S_IMODE(log.path.parent.stat().st_mode) == 0o700


def test_one_that_others_can_open_is_refused(log):
    log.path.chmod(0o640)
    with refused(CannotWrite, str(log.path)):
        AuditLog(log.path)


def test_a_link_is_refused(log):
    link = log.path.with_name("link")
    link.symlink_to(log.path)
    with refused(CannotWrite, str(link)):
        AuditLog(link)


def test_sessions(log):
    recorded(log, session("r1"), "bank", "bank", "shop", outcome="stopped")
    recorded(log, session("r2"), "bank", outcome=None)
    log.begin(session("r1"))  # resumed
    log.sending(session("r1"), "bank", "split summary", size=5)
    first, second = log.sessions()
    assert (first.begin, first.outcome) == (session("r1"), "stopped")
    assert (first.messages, first.bytes) == ({"bank": 3, "shop": 1}, {"bank": 25, "shop": 10})
    assert (second.begin, second.outcome, second.messages) == (session("r2"), None, {"bank": 1})
    assert (first.begun, second.begun[:16]) == ("2025-03-02T00:59:00.000+00:00", "2025-03-02T01:04")


@pytest.mark.parametrize("wrote", [0, 7])
def test_a_full_disk_stops_the_session(log, monkeypatch, wrote, snapshot):
    """A part of the line may have been written. What is written later stands on a line of its own."""
    begin = session()
    log.begin(begin)
    write, left = os.write, [wrote]

    def full(file, content):
        if left and left[0]:
            return write(file, content[: left.pop()])
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(os, "write", full)
        with refused(CannotWrite, str(log.path)) as caught:
            log.sending(begin, "bank", "class summary", size=1)
    assert str(caught.value).replace(str(log.path), "LOG") == snapshot
    log.sending(begin, "bank", "class summary", size=2)
    (found,) = log.sessions()
    assert found.bytes == {"bank": 2}


def test_a_disk_that_is_full_when_it_is_flushed(log, monkeypatch):
    def full(file):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with refused(CannotWrite, str(log.path)):
        log.begin(session())


def test_each_begin_end_and_stage_is_flushed(log, monkeypatch):
    flushed = []
    monkeypatch.setattr(os, "fsync", lambda file: flushed.append(log.path.stat().st_size))
    sizes = []
    begin = session()
    for record in (
        lambda: log.begin(begin),
        lambda: log.sending(begin, "bank", "class summary", size=1),
        log.settle,
        lambda: log.end(begin, "finished"),
    ):
        record()
        sizes.append(log.path.stat().st_size)
    assert flushed == [sizes[0], sizes[1], sizes[3]]


@examples(100)
@given(st.data())
def test_a_torn_line_is_skipped(tmp_path_factory, data):
    path = tmp_path_factory.mktemp("log") / "audit.jsonl"
    with closing(AuditLog(path)) as log:
        recorded(log, session("r1"), "bänk", "shop")
        recorded(log, session("r2"), "shop")
    whole = path.read_bytes()
    cut = data.draw(st.integers(0, len(whole)))
    path.write_bytes(whole[:cut])
    complete = [json.loads(line) for line in whole[: whole.rfind(b"\n", 0, cut) + 1].splitlines()]
    if whole[cut : cut + 1] == b"\n":
        complete.append(json.loads(whole[:cut].splitlines()[-1]))  # only the end of the line is missing
    runs = [line["run"] for line in complete if line["event"] == "begin"]
    with closing(AuditLog(path)) as log:
        assert [one.begin.run for one in log.sessions()] == runs
        sent = sum(sum(one.messages.values()) for one in log.sessions())
        assert sent == sum(line["event"] == "sent" for line in complete)
        recorded(log, session("r3"), "shop")
        assert [(one.begin.run, one.messages) for one in log.sessions()][len(runs) :] == [("r3", {"shop": 1})]


def test_warnings(log, snapshot):
    """One for each neighbour that was told something, and each way in which it can be combined."""
    recorded(log, session("r1", visits="h1", labs="l1"), "bank")
    recorded(log, session("r2", visits="h2", labs="l1"), "bank", "shop", outcome="stopped")
    recorded(log, session("r3", visits="h1", labs="l2"), outcome="stopped")  # nothing was sent
    assert log.warnings_for(session("r4", "s1", visits="h1", labs="l1")) == snapshot
    assert log.warnings_for(session("r4", "s2", visits="h3", labs="l3")) == snapshot
    assert log.warnings_for(session("r4", "s2", {"visits.patient = accounts.owner": "bank"}, visits="h1")) == snapshot


def test_no_warning(log):
    begin = session("r1", visits="h1")
    recorded(log, begin, "bank", "coordinator")
    others = {"visits.drug = drugs.id": "shop", "visits.ward = wards.id": "coordinator"}
    assert log.warnings_for(session("r2", "s1", others, visits="h2")) == ()
    assert log.warnings_for(session("r1", visits="h2")) == ()  # it is resumed


def kind(log, study, **rows):
    """In what way a new session adds to what bank was told before."""
    (sentence,) = log.warnings_for(session("r9", study, **rows))
    words = {"difference": "not the same then", "cells": "more cells", "repeated": "the results of this study"}
    return next((name for name, part in words.items() if part in sentence), "unknown")


def test_what_has_changed(log):
    """Other columns are no other rows: both studies together tell more, and no rows have changed."""
    recorded(log, session("r1", visits="h1-age"), "bank")
    assert kind(log, "s1", visits="h1-age") == "repeated"
    assert kind(log, "s1", visits="h1-age2") == "difference"
    assert kind(log, "s1", visits="h2-age") == "difference"
    assert kind(log, "s2", visits="h1-age") == "cells"
    assert kind(log, "s2", visits="h1-age, ward") == "cells"
    assert kind(log, "s2", visits="h2-age, ward") == "difference"
    assert kind(log, "s2", renamed="h1-ward") == "cells"
    assert kind(log, "s2", renamed="h2-age") == "unknown"


def test_tables_by_other_names(log, snapshot):
    recorded(log, session("r1", visits="h1", labs="l1"), "bank")
    assert log.warnings_for(session("r2", "s2", stays="h2")) == snapshot


def test_foreign_lines_are_skipped(log):
    recorded(log, session("r1"), "bank")
    with log.path.open("a") as stream:
        stream.write('[]\n7\n{"event": "begin"}\n{"event": "sent", "run": "r9"}\n\n')
    assert [one.begin.run for one in log.sessions()] == ["r1"]
