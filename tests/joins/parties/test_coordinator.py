"""What the coordinator says when a run cannot go on, and what the other parties hear of it."""

import re

import pytest

from tests.support.parties import Parties, golden, run
from veilset.joins.parties import server
from veilset.joins.parties.disrupted import Disrupted
from veilset.joins.parties.party_file import PartyFile


@pytest.fixture(autouse=True)
def impatient(monkeypatch):
    monkeypatch.setattr("veilset.joins.parties.coordinator._PAUSE", 0.05)


def swap_ports(parties: Parties, one: str, other: str) -> None:
    """Put the address of each in the place of the other."""
    parties.proxies |= {one: parties.ports[other], other: parties.ports[one]}
    parties.write()


def swap_certificates(parties: Parties, one: str, other: str) -> None:
    """In the study of the coordinator, which has a party file of its own, and approves it."""
    text = parties.study_path.read_text()
    first, second = (re.search(rf'\[parties\.{name}\]\n.*\ncertificate = "(.*)"', text)[1] for name in (one, other))
    swapped = text.replace(first, "?").replace(second, first).replace("?", second)
    (parties.folder / "other.toml").write_text(swapped)
    path = parties.path(parties.names[0])
    path.write_text(path.read_text().replace('"study.toml"', '"other.toml"'))
    approved = PartyFile.load(path).study.hash
    path.write_text(re.sub("(?m)^approve = .*$", f'approve = "{approved}"', path.read_text()))


@pytest.mark.parametrize("swap", [swap_ports, swap_certificates])
def test_parties_that_are_swapped_in_the_study_are_both_named(tmp_path, swap):
    parties, said = golden(tmp_path), []
    swap(parties, "p1", "p2")
    with pytest.raises(Disrupted, match=r"p\d at .* shows the certificate of p\d") as caught:
        run(parties.train(tell=said.append))
    assert "perhaps two are swapped" in str(caught.value)
    assert (caught.value.fault, caught.value.party in ("p1", "p2")) == ("certificate", True)


def test_a_neighbour_that_is_another_party_is_named(tmp_path, monkeypatch):
    """The coordinator reaches all of them; p1 reaches p3 where it looks for p2."""
    parties = golden(tmp_path)
    plain = server.dial
    elsewhere = f"127.0.0.1:{parties.ports['p3']}"
    monkeypatch.setattr(server, "dial", lambda address, *more, **named: plain(elsewhere, *more, **named))
    with pytest.raises(Disrupted, match=r"p1 says: p2 at .* shows the certificate of p3") as caught:
        run(parties.train())
    assert (caught.value.fault, caught.value.party) == ("certificate", "p2")


def test_other_parties_hear_why_a_run_has_ended(tmp_path):
    """p3 does not run; p1 and p2 hear more than that the session is over."""
    parties, said = golden(tmp_path, time_out=0.5), []

    async def without_p3():
        async with parties.serving(["p1", "p2"], tell=said.append):
            await parties.coordinator().train()

    with pytest.raises(Disrupted, match="p3 at"):
        run(without_p3())
    assert [one for one in said if "hub has ended the session and says: “p3 at 127.0.0.1:" in one]
