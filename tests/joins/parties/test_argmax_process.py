"""How the process divides its work."""

import asyncio
from types import SimpleNamespace

from veilset.joins.parties import argmax_process


def test_nodes_are_compared_some_at_a_time(monkeypatch):
    batches = []

    async def first_largest(mpc, gains):
        batches.append(len(gains))
        return [max(row) for row in gains]

    async def run():
        ready = asyncio.get_running_loop().create_future()
        ready.set_result(None)
        mpc = SimpleNamespace(pid=0, parties=[SimpleNamespace(protocol=ready)])
        return await argmax_process._compare(mpc, [[node, 0, 0] for node in range(400)])

    monkeypatch.setattr(argmax_process, "_first_largest", first_largest)
    assert asyncio.run(run()) == list(range(400))
    assert batches == [170, 170, 60]
