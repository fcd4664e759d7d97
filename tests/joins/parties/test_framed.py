"""How long one waits for a peer that takes nothing."""

import asyncio
from types import SimpleNamespace

import pytest

from tests.support.party_network import run
from veilset.joins.parties.framed import FrameStream, Traffic
from veilset.joins.parties.reasons import Reasons
from veilset.joins.parties.wire import Disrupted

_TIME_OUT = 0.08


class _Slow:
    """A connection that takes some bytes each time somebody has waited for it, and is done when none are left."""

    def __init__(self, *left: int) -> None:
        self._left = list(left)

    @property
    def waiting(self) -> int:
        """Bytes left; the last number stays."""
        return self._left.pop(0) if len(self._left) > 1 else self._left[0]

    async def drained(self) -> None:
        """Wait for the end."""
        if self._left != [0]:
            await asyncio.Event().wait()


def _frames(slow: _Slow) -> FrameStream:
    reasons = Reasons("shop at 127.0.0.1:1", "shop", "127.0.0.1:1", SimpleNamespace(name="bank"), {}, _TIME_OUT)
    return FrameStream(slow, reasons, Traffic(), None)


def test_who_takes_a_little_each_time_is_not_silent():
    run(_frames(_Slow(9, 8, 7, 6, 5, 4, 3, 2, 1, 0)).drained())


@pytest.mark.parametrize("left", [[5], [9, 5]])
def test_who_stops_to_take_is_silent(left):
    with pytest.raises(Disrupted) as caught:
        run(_frames(_Slow(*left)).drained())
    assert (caught.value.fault, caught.value.party) == ("silent", "shop")


def test_who_says_to_be_busy_is_waited_for():
    async def work():
        busy = _frames(_Slow(5))
        busy.peer_busy = True
        waiting = asyncio.create_task(busy.drained())
        await asyncio.sleep(2 * _TIME_OUT)
        assert not waiting.done()
        busy.peer_busy = False
        with pytest.raises(Disrupted):
            await waiting

    run(work())
