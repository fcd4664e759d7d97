"""Private set intersection: two parties learn which of their own keys the other has too, and nothing about the rest.

Diffie–Hellman on ristretto255, a group of prime order. Each party hashes its keys to points and multiplies them by a
secret scalar, a for one and b for the other. Both send these points, and multiply those of the other by their own
scalar once more. These are promised, by a hash, before either is sent: else one party could send the other's back. A
shared key x gives the same point a·b·H(x) on both sides; all other points look random to whoever lacks one of the
scalars.

Protects keys that the other party does not have, against parties that follow the protocol. It does not stop a
dishonest party from testing keys that it made up: at most as many as it declared. The number of keys is told, up to
padding; so is the number of shared ones.
"""

from __future__ import annotations

import asyncio
import hashlib
import secrets
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from veilset.errors import InvalidArgument
from veilset.exact import is_whole
from veilset.joins.parties.channels import Channel, Message
from veilset.joins.parties.disrupted import Disrupted
from veilset.joins.parties.together import together
from veilset.joins.parties.workers import Workers
from veilset.views import installed

Points = npt.NDArray[np.bytes_]
"""Points as 32 bytes each. NumPy drops zeros at the end of single values: only whole arrays are ever read."""

_TAG = b"veilset join intersection 1"
_POINT = 32  # bytes
_CHUNK = 2_000  # keys: a tenth of a second
_NO_POINTS = "bytes that are no point of ristretto255, the identity, or the same point twice"


async def intersect(
    channel: Channel,
    keys: Sequence[bytes],
    *,
    domain: bytes,
    declared: tuple[int, int],
    pad: bool,
    workers: Workers,
    again: Callable[[int], None] = lambda count: None,
) -> npt.NDArray[np.bool_]:
    """Which of our keys the other party has too. Both parties call this at the same time.

    Parameters
    ----------
    channel : Channel
        The connection to the other party.
    keys : sequence of bytes
        As `key_bytes.encode_keys` gives them.
    domain : bytes
        What this intersection is about, the same on both sides: study, run, edge. Points of one are useless in another.
    declared : (int, int)
        The largest number of distinct keys that we may have, and the other party.
    pad : bool
        Add random keys up to the declared number, so that the number of keys is not told. Both sides must do so.
    workers : Workers
        What computes.
    again : callable
        Told how many points of the other party are about to go back to it.
    """
    numbers = {key: at for at, key in enumerate(dict.fromkeys(keys))}
    if len(numbers) > declared[0]:
        raise InvalidArgument(
            f"This party has {len(numbers):,} distinct keys to share with {channel.peer!r}, but the study declares at"
            f" most {declared[0]:,}. Nothing was sent.",
            "Correct the number of keys in the study, and have all parties approve it again.",
        )
    # Padding is hashed and multiplied as keys are: the time this takes does not tell how much of it there is.
    padding = [secrets.token_bytes(_POINT) for _ in range(declared[0] - len(numbers) if pad else 0)]
    theirs = await _agreed(channel, len(numbers) + len(padding), domain, declared[1], pad)

    blinding = Blinding(workers)
    blinded = await blinding.hash_and_blind([*numbers, *padding], domain)
    order = np.argsort(blinded)  # of points that look random, so it tells nothing
    _, received = await _exchanged(channel, "blinded keys", blinded[order], theirs)
    await asyncio.to_thread(_check_order, received, blinded, channel.peer)
    other_keys = await blinding.blind_again(received, channel.peer)
    again(len(other_keys))
    our_keys = await _as_promised(channel, other_keys, len(blinded), domain)
    await _check_points(our_keys, workers, channel.peer)

    shared = np.empty(len(blinded), bool)
    shared[order] = await asyncio.to_thread(np.isin, our_keys, other_keys)
    return shared[np.fromiter((numbers[key] for key in keys), np.int64, len(keys))]


class Blinding:
    """A secret scalar for one intersection, drawn here and never written anywhere.

    Parameters
    ----------
    workers : Workers
        What computes.
    """

    def __init__(self, workers: Workers) -> None:
        self._workers = workers
        self._scalar: bytes = _ristretto().crypto_core_ristretto255_scalar_random()

    async def hash_and_blind(self, keys: Sequence[bytes], domain: bytes) -> Points:
        """The keys as points of the group that belong to the domain, times the scalar."""
        chunks = (keys[start : start + _CHUNK] for start in range(0, len(keys), _CHUNK))
        found = await self._workers.map(_hashed_and_blinded, ((self._scalar, domain, chunk) for chunk in chunks))
        return _points(b"".join(found))

    async def blind_again(self, points: Points, party: str) -> Points:
        """The points of a party times the scalar; an error if one of them is none, or is the identity."""
        found = await self._workers.map(_blinded, ((self._scalar, chunk) for chunk in _chunks(points)))
        if None in found:
            raise _wrong(party, _NO_POINTS)
        return _points(b"".join(chunk for chunk in found if chunk is not None))


def _ristretto() -> Any:
    return installed("rbcl", "Private set intersection", "'veilset[join]'")


def _hashed_and_blinded(scalar: bytes, domain: bytes, keys: Sequence[bytes]) -> bytes:
    group = _ristretto()
    start = hashlib.sha512(_prefixed(_TAG) + _prefixed(domain))
    found = []
    for key in keys:
        digest = start.copy()
        digest.update(key)
        point = group.crypto_core_ristretto255_from_hash(digest.digest())
        found.append(group.crypto_scalarmult_ristretto255(scalar, point))
    return b"".join(found)


def _blinded(scalar: bytes, points: bytes) -> bytes | None:
    multiply = _ristretto().crypto_scalarmult_ristretto255
    try:
        return b"".join([multiply(scalar, points[at : at + _POINT]) for at in range(0, len(points), _POINT)])
    except RuntimeError:  # of the library: bytes that are no point, or the identity
        return None


def _are_points(points: bytes) -> bool:
    is_point = _ristretto().crypto_core_ristretto255_is_valid_point
    return all(is_point(points[at : at + _POINT]) for at in range(0, len(points), _POINT))


def _prefixed(value: bytes) -> bytes:
    return len(value).to_bytes(8, "little") + value


def _points(found: bytes) -> Points:
    return np.frombuffer(found, f"S{_POINT}")


def _chunks(points: Points) -> list[bytes]:
    return [points[start : start + _CHUNK].tobytes() for start in range(0, len(points), _CHUNK)]


async def _agreed(channel: Channel, count: int, domain: bytes, declared: int, pad: bool) -> int:
    """The number of points that the other party will send, after checking that both mean the same join and run."""
    about = hashlib.sha256(domain).hexdigest()
    fields = (await _both(channel, "intersection", {"keys": count, "about": about}, {}, 0)).fields
    party: str = channel.peer
    theirs: Any = fields.get("keys")
    if fields.get("about") != about:
        raise Disrupted(
            f"The party {party!r} compares keys for another join or another run than this party does.",
            "Start the run again at both parties.",
            party=party,
            fault="unexpected",
        )
    if not is_whole(theirs, declared if pad else 0, declared):
        raise Disrupted(
            f"The party {party!r} wants to compare {theirs!r} keys; the study declares {declared}"
            f"{' with padding' if pad else ' at most'}.",
            f"Ask {party!r} for its number of distinct keys, correct the study, and have all parties approve it again.",
            party=party,
            fault="refused",
        )
    return int(theirs)


async def _exchanged(channel: Channel, kind: str, points: Points, count: int, **fields: str) -> tuple[Message, Points]:
    """The points of the other party and their message, while ours are under way."""
    sent = {"points": np.frombuffer(points.tobytes(), np.uint8)}
    message = await _both(channel, kind, fields, sent, count * _POINT)
    received = message.arrays.get("points")
    if received is None or received.dtype != np.uint8 or received.size != count * _POINT:
        told = "nothing" if received is None else f"{received.nbytes:,} bytes"
        raise _wrong(channel.peer, f"{told} as {kind!r}, where {count:,} points have {count * _POINT:,} bytes")
    return message, _points(received.tobytes())


async def _as_promised(channel: Channel, points: Points, count: int, domain: bytes) -> Points:
    """Our points as the other party has multiplied them. It must have promised them before it sees how we multiply.

    Otherwise it could send back the points that we send it now, and all our keys would look shared.
    """
    nonce = secrets.token_hex(_POINT)
    ours = {"promise": _promise(domain, nonce, points)}
    promise = (await _both(channel, "promise", ours, {}, 0)).fields.get("promise")
    message, received = await _exchanged(channel, "twice blinded", points, count, nonce=nonce)
    if promise != _promise(domain, str(message.fields.get("nonce")), received):
        raise _wrong(channel.peer, "other points than it had promised")
    return received


def _promise(domain: bytes, nonce: str, points: Points) -> str:
    return hashlib.sha256(_prefixed(domain) + _prefixed(nonce.encode()) + points.tobytes()).hexdigest()


async def _both(channel: Channel, kind: str, fields: Any, arrays: Any, most: int) -> Message:
    # At once: if both waited until their points are taken, neither would take the other's.
    received: Message
    received, _ = await together([channel.expect(kind, most=most), channel.send(kind, fields, arrays)])
    return received


def _check_order(received: Points, ours: Points, party: str) -> None:
    """Points come in ascending order, each once. Ours sent back would make all keys look shared."""
    if not np.all(received[:-1] < received[1:]) or np.any(np.isin(received, ours)):
        raise _wrong(party, "blinded keys that are out of order, twice the same, or ours")


async def _check_points(points: Points, workers: Workers, party: str) -> None:
    """Our points times two scalars are points of the group, and each is another one."""
    valid = await workers.map(_are_points, ((chunk,) for chunk in _chunks(points)))
    distinct = await asyncio.to_thread(np.unique, points)
    if not all(valid) or np.any(points == b"") or len(distinct) < len(points):
        raise _wrong(party, _NO_POINTS)


def _wrong(party: str, sent: str) -> Disrupted:
    return Disrupted(
        f"The party {party!r} sent {sent}.",
        f"Ask {party!r} which version of Veilset it runs.",
        party=party,
        fault="refused",
    )
