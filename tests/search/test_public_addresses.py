"""Which addresses are public; what is not known to be is refused."""

from ipaddress import ip_address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.errors import refused
from veilset.search.public_addresses import NotPublic, is_public, public_addresses, resolved

PUBLIC = [
    "1.1.1.1",
    "93.184.215.14",
    "8.8.8.8",
    "2606:4700:4700::1111",
    "2a00:1450:4001::200e",
    "192.0.1.1",
    "100.128.0.1",
]
INNER = [
    "0.0.0.0",  # noqa: S104
    "0.1.2.3",
    "10.1.2.3",
    "100.64.0.1",
    "100.127.255.255",
    "127.0.0.1",
    "127.255.255.254",
    "169.254.169.254",
    "172.16.0.1",
    "172.31.255.255",
    "192.0.0.1",
    "192.0.0.9",
    "192.0.2.1",
    "192.88.99.1",
    "192.168.1.1",
    "198.18.0.1",
    "198.19.255.255",
    "198.51.100.1",
    "203.0.113.7",
    "224.0.0.1",
    "224.0.1.1",
    "239.255.255.250",
    "240.0.0.1",
    "255.255.255.255",
    "::",
    "::1",
    "::8.8.8.8",
    "::ffff:127.0.0.1",
    "::ffff:8.8.8.8",
    "::ffff:0:8.8.8.8",
    "64:ff9b::8.8.8.8",
    "64:ff9b:1::a00:1",
    "100::1",
    "2001::1",
    "2001:10::1",
    "2001:20::1",
    "2001:2::1",
    "2001:db8::1",
    "2002:808:808::1",
    "2002:7f00:1::",
    "3fff::1",
    "5f00::1",
    "fc00::1",
    "fd00:ec2::254",
    "fe80::1",
    "fe80::1%eth0",
    "2606:4700::1%eth0",
    "fec0::1",
    "ff02::1",
    "ff0e::1",
    "4000::1",
]


@pytest.mark.parametrize("address", PUBLIC)
def test_public_addresses_are_public(address):
    assert is_public(ip_address(address))


@pytest.mark.parametrize("address", INNER)
def test_all_others_are_not(address):
    assert not is_public(ip_address(address))


@given(st.ip_addresses())
def test_what_python_calls_private_is_never_public(address):
    python = address.is_private or address.is_multicast or address.is_reserved or address.is_loopback
    assert not (is_public(address) and (python or address.is_link_local or address.is_unspecified))


@given(st.ip_addresses(v=4))
def test_an_address_inside_another_counts_as_neither(address):
    """IPv4 in IPv6 reaches machines by ways of the network that nobody here knows."""
    for form in (
        f"::ffff:{address}",
        f"64:ff9b::{address}",
        f"::{address}",
        f"2002:{int(address) >> 16:x}:{int(address) & 65535:x}::",
    ):
        assert not is_public(ip_address(form))


def test_one_inner_address_of_a_host_is_enough_to_refuse_it():
    found = {"good.example": ["1.1.1.1", "2606:4700::1"], "mixed.example": ["1.1.1.1", "10.0.0.1"], "none.example": []}
    assert public_addresses("good.example", 80, lambda host, port: found[host]) == ["1.1.1.1", "2606:4700::1"]
    for host, address in (("mixed.example", "10.0.0.1"), ("none.example", "none.example")):
        with refused(NotPublic, address):
            public_addresses(host, 80, lambda host, port: found[host])


@pytest.mark.parametrize("host", ["127.0.0.1", "127.1", "0x7f000001", "2130706433", "localhost"])
def test_other_spellings_of_this_machine_are_found_out(host):
    with refused(NotPublic):
        public_addresses(host, 80, resolved)
