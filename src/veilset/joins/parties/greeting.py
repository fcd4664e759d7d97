"""How two parties greet each other over a new channel: the caller first; both see what does not fit."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import asdict

from veilset.joins.parties.channel import Channel
from veilset.joins.parties.disrupted import Disrupted
from veilset.joins.parties.frames import Malformed
from veilset.joins.parties.hello import Hello, compare, hello_of

_KIND = "hello"


async def greet_first(channel: Channel, ours: Hello) -> Hello:
    """Say hello to the party we dialled; its answer, if that is acceptable."""
    await channel.send(_KIND, asdict(ours))
    message = await channel.expect(_KIND)
    async with _refusing(channel):
        theirs = hello_of(channel.peer, message.fields)
        compare(channel.peer, ours, theirs)
    return theirs


async def greet_back(channel: Channel, greet: Callable[[str, Hello], Hello]) -> Hello:
    """Answer the hello of a caller, and return it, if it is acceptable.

    The answer is sent before the two are compared, so that the caller sees the difference, too.
    """
    message = await channel.expect(_KIND)
    async with _refusing(channel):
        theirs = hello_of(channel.peer, message.fields)
        ours = greet(channel.peer, theirs)
        await channel.send(_KIND, asdict(ours))
        compare(channel.peer, ours, theirs)
    return theirs


@contextlib.asynccontextmanager
async def _refusing(channel: Channel) -> AsyncIterator[None]:
    """What is not acceptable ends the channel, and the peer is told why."""
    try:
        yield
    except Malformed as error:
        raise await channel.refuse(channel.garbage(str(error))) from None
    except Disrupted as error:
        raise await channel.refuse(error) from None


async def in_time(channel: Channel, greeting: Awaitable[Hello], deadline: float) -> Hello:
    """The hello that a greeting gives; if it fails, or is not done at the deadline, the channel is closed."""
    try:
        async with asyncio.timeout_at(deadline):
            return await greeting
    except TimeoutError:
        raise await channel.refuse(channel.silent()) from None
    except BaseException:
        await channel.close()
        raise
