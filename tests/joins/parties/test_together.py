"""Work that ends together."""

import asyncio

import pytest

from tests.support.parties import run
from veilset.joins.parties.together import together


async def _value(value):
    await asyncio.sleep(0)
    return value


def test_results_come_in_the_order_of_the_work():
    assert run(together(_value(number) for number in range(3))) == [0, 1, 2]


def test_the_first_error_ends_the_others_before_it_is_raised():
    ended = []

    async def wait():
        try:
            await asyncio.sleep(60)
        finally:
            await asyncio.sleep(0)  # an end that takes a while
            ended.append(True)

    async def fail():
        await asyncio.sleep(0)
        raise ValueError

    async def both():
        with pytest.raises(ValueError):
            await together([wait(), fail()])
        return list(ended)

    assert run(both(), 10) == [True]
