"""Over a network that fails, an exchange ends with the right data or with a named error, in time."""

import random

import numpy as np
import pytest

from tests.support.effort import repeats
from tests.support.fault_proxy import KINDS, FaultProxy, NetworkFault, random_script
from tests.support.party_network import TIME_OUT, Pair, Shop, run
from veilset.joins.parties.wire import Disrupted

pytestmark = pytest.mark.attack

_SHORT = 0.3  # where a connection may stand still: an error is right then, however busy the machine is
_ROUNDS = 4
_SIZES = (0, 3, 2_000, 40_000)


@pytest.fixture(scope="module")
def pair(tmp_path_factory):
    """A bank that dials and a shop that listens."""
    return Pair(tmp_path_factory.mktemp("keys"))


async def _echo(channel, theirs):
    for _ in range(_ROUNDS):
        message = await channel.expect("ask", most=1 << 20)
        await channel.send("answer", message.fields, message.arrays)
    await channel.expect("done")


async def _ask(channel):
    for number, size in zip(range(_ROUNDS), _SIZES, strict=True):
        sent = np.arange(size) * 7919
        await channel.send("ask", {"number": number}, {"x": sent})
        message = await channel.expect("answer", most=1 << 20)
        assert message.fields == {"number": number}
        assert np.array_equal(message.arrays["x"], sent)
    await channel.send("done")


async def _attempt(pair, address, time_out) -> Disrupted | None:
    """How an exchange ends: with the right data, or with an error."""
    try:
        channel = await pair.dial(address, time_out=time_out)
    except Disrupted as error:
        return error
    try:
        await _ask(channel)
    except Disrupted as error:
        return error
    finally:
        await channel.close()
    return None


async def _exchange(pair, script, time_out=_SHORT) -> list[Disrupted | None]:
    """How the attempts end, until the network has nothing more in store, or somebody must change something."""
    shop = Shop(pair.shop, pair.certificates, time_out=time_out)
    async with shop.listener(_echo) as listener, FaultProxy(listener.address, script) as proxy:
        ends = []
        while not ends or (ends[-1] is not None and proxy.connections <= max(fault.connection for fault in script)):
            ends.append(await _attempt(pair, proxy.address, time_out))
    return ends


_ALWAYS = {"delay": None, "stall": "silent", "cut": "closed", "truncate": "closed", "corrupt": "garbage"}


@pytest.mark.parametrize(("after", "direction"), [(0, "there"), (900, "back"), (20_000, "there"), (20_000, "back")])
@pytest.mark.parametrize("kind", KINDS)
def test_each_fault_ends_in_right_data_or_a_named_error(pair, kind, after, direction):
    is_certain = after == 20_000 and kind in _ALWAYS
    time_out = (5 * _SHORT if kind == "stall" else TIME_OUT) if is_certain else _SHORT
    (end, *_) = run(_exchange(pair, [NetworkFault(kind, after, direction)], time_out))
    if end is not None:
        assert end.party == "shop"
        assert end.next_step
    if is_certain:
        assert (end and end.fault) == _ALWAYS[kind]


@pytest.mark.parametrize("seed", range(repeats(100)))
def test_random_faults_end_in_right_data_or_a_named_error(pair, seed):
    ends = run(_exchange(pair, random_script(random.Random(seed), connections=2)))
    assert all(end is None or end.party == "shop" for end in ends)
