"""Messages between the coordinator and parties, checked before use: what a peer sends can be anything."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any, get_args

from veilset.exact import is_whole
from veilset.joins.parties.disrupted import PASSING, Disrupted, Fault, one_line
from veilset.joins.parties.wire import Channel, Message

LARGEST = 64 << 20
"""Bytes of a message about a level: a million nodes."""
_GRACE = 1.0  # seconds for a party to say itself why it stops


class Failed(Exception):
    """A party had to stop, for a reason that the coordinator can do something about: "wide" or "withheld"."""

    def __init__(self, party: str, reason: str, nodes: Iterable[int] = ()) -> None:
        super().__init__(party, reason)
        self.party, self.reason, self.nodes = party, reason, frozenset(nodes)


def senseless(peer: str, what: str) -> Disrupted:
    """The error for a message of a peer that is not what its kind promises."""
    return Disrupted(
        f"{peer} has sent {what!r} that makes no sense.",
        "Check that all parties run the same version, and train again.",
        party=peer,
        fault="unexpected",
    )


def whole(peer: str, message: Message, name: str) -> int:
    """A field that is a whole number, 0 or more."""
    value: Any = message.fields.get(name)
    if not is_whole(value, 0):
        raise senseless(peer, message.kind)
    return int(value)


def truth(peer: str, message: Message, name: str) -> bool:
    """A field that is true or false."""
    value = message.fields.get(name)
    if not isinstance(value, bool):
        raise senseless(peer, message.kind)
    return value


def array(peer: str, message: Message, name: str, dtype: Any, length: int | None = None) -> Any:
    """An array of this type and, if one is given, this length."""
    found = message.arrays.get(name)
    if found is None or found.dtype != dtype or length not in (None, len(found)):
        raise senseless(peer, message.kind)
    return found


async def hear(name: str, channel: Channel, kind: str, most: int = 0) -> Message:
    """The next message of a party, which must be of this kind; an error if the party says that it stops."""
    message = await channel.expect(kind, "failed", most=most)
    if message.kind == "failed":
        raise _failure(name, message.fields)
    return message


async def tell(name: str, channel: Channel, kind: str, fields: Any = None, arrays: Any = None) -> None:
    """Send a message to a party; if that fails because the party has stopped, its own words are the error."""
    try:
        await channel.send(kind, fields or {}, arrays or {})
    except Disrupted:
        raise _failure(name, (await channel.expect("failed")).fields) from None


async def all_of(work: Mapping[str, Awaitable[Any]]) -> dict[str, Any]:
    """What each party has to say, by name; the first error ends the others, and is raised.

    If one party only reports about another, that one's own words are waited for, since they may say why.
    """
    running = {name: asyncio.ensure_future(one) for name, one in work.items()}
    try:
        await asyncio.gather(*running.values())
        return {name: task.result() for name, task in running.items()}
    except Disrupted as error:
        about = running.get(error.party)
        if about is not None and not about.done():
            await asyncio.wait({about}, timeout=_GRACE)
            own = about.exception() if about.done() else None
            if own is not None and not (passing(own) and not passing(error)):
                raise own from None
        raise
    finally:
        for task in running.values():
            task.cancel()
        await asyncio.gather(*running.values(), return_exceptions=True)


def closing(channel: Any) -> Callable[..., Awaitable[None]]:
    """What closes a channel at the end of a block; if a fault has ended the block, the party is told which."""

    async def close(kind: object, error: BaseException | None, trace: object) -> None:
        await channel.close(error.what if isinstance(error, Disrupted) else "")

    return close


def passing(error: BaseException) -> bool:
    """Whether trying again may help."""
    return isinstance(error, Disrupted) and error.fault in PASSING


def _failure(name: str, fields: Mapping[str, Any]) -> Exception:
    """What a party says about why it stops."""
    reason, nodes = fields.get("reason"), fields.get("nodes", [])
    if reason in ("wide", "withheld") and isinstance(nodes, list) and all(is_whole(node, 0) for node in nodes):
        return Failed(name, reason, nodes)
    texts = [fields.get(part) for part in ("party", "sentence", "next")]
    if not all(isinstance(text, str) for text in texts):
        return senseless(name, "failed")
    about, sentence, next_step = (one_line(str(text)) for text in texts)
    fault: Fault = next((one for one in get_args(Fault) if one == reason), "refused")
    where = "" if about == name else f"{name} says: "
    return Disrupted(f"{where}{sentence}", next_step, party=about, fault=fault)
