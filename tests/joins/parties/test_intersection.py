"""Set intersection: both sides find what `set` finds, and nothing but points of the group passes between them."""

import asyncio
import secrets
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pytest
import rbcl
from hypothesis import given
from hypothesis import strategies as st

from tests.support.channels import connected
from tests.support.effort import examples, repeats
from veilset.errors import InvalidArgument
from veilset.joins.parties import intersection
from veilset.joins.parties.disrupted import Disrupted
from veilset.joins.parties.intersection import Blinding, intersect
from veilset.joins.parties.key_bytes import encode_keys
from veilset.joins.parties.workers import Workers

_POINT = 32
KINDS = ["intersection", "blinded keys", "promise", "twice blinded"]
_SECONDS = 60  # until a test is taken to hang


async def _settled(*calls):
    """The result of each, or its error; those that still wait when another has failed are ended."""
    tasks = [asyncio.ensure_future(call) for call in calls]
    await asyncio.wait(tasks, return_when=asyncio.FIRST_EXCEPTION, timeout=_SECONDS)
    for task in tasks:
        task.cancel()
    return await asyncio.gather(*tasks, return_exceptions=True)


def _met(one, other, *, declared=None, pad=False, domains=(b"run 1", b"run 1"), forge=None, threads=1):
    """What both sides learn, and the channels with all that was sent; *forge* is about what the second side sends."""
    mine, theirs = connected("bank", "shop")
    theirs.forge = forge or {}
    sizes = declared or (len(set(one)), len(set(other)))

    async def both(workers):
        return await _settled(
            intersect(mine, one, domain=domains[0], declared=sizes, pad=pad, workers=workers),
            intersect(theirs, other, domain=domains[1], declared=sizes[::-1], pad=pad, workers=workers),
        )

    with Workers(threads) as workers:
        return asyncio.run(both(workers)), (mine, theirs)


def _shared(one, other, **options):
    found, _ = _met(one, other, **options)
    for side in found:
        if isinstance(side, BaseException):
            raise side
    return [side.tolist() for side in found]


def _expected(one, other):
    ours, theirs = set(one), set(other)
    return [[key in theirs for key in one], [key in ours for key in other]]


_KEYS = st.lists(st.sampled_from([f"key {at}".encode() for at in range(12)]), max_size=15)


@examples(60)
@given(_KEYS, _KEYS, st.booleans(), st.integers(0, 3))
def test_both_sides_find_what_sets_find(one, other, pad, more):
    declared = (len(set(one)) + more, len(set(other)) + 2 * more)
    assert _shared(one, other, pad=pad, declared=declared) == _expected(one, other)


@pytest.mark.parametrize("pad", [False, True])
@pytest.mark.parametrize(
    ("one", "other"),
    [([], []), ([], [b"a"]), ([b"a", b"b"], [b"b", b"a"]), ([b"a"], [b"b"]), ([b""], [b"", b"\x00"])],
    ids=["both empty", "one empty", "all shared", "none shared", "empty keys"],
)
def test_borders(one, other, pad):
    assert _shared(one, other, pad=pad, declared=(3, 4)) == _expected(one, other)


@examples(30)
@given(*[st.lists(st.tuples(st.text("ab", max_size=2), st.integers(0, 2)), max_size=8)] * 2)
def test_composite_keys(one, other):
    def encoded(keys):
        texts, numbers = zip(*keys, strict=True) if keys else ((), ())
        return encode_keys([pa.array(texts, pa.large_string()), pa.array(numbers, pa.int64())])

    assert _shared(encoded(one), encoded(other)) == _expected(one, other)


def test_processes_find_the_same():
    one, other = ([b"key %d" % at for at in range(start, start + 4_500, 2)] for start in (0, 1_500))
    assert _shared(one, other, threads=2) == _expected(one, other)


def _sent(ends):
    return b"".join(message.all_bytes for end in ends for message in end.sent)


def test_nothing_but_points_passes():
    for _ in range(repeats(20)):
        one, other = ([secrets.token_bytes(16) for _ in range(20)] for _ in range(2))
        other[:5] = one[:5]
        _, ends = _met(one, other)
        sent = _sent(ends)
        assert not any(key in sent or key.hex().encode() in sent for key in one + other)
        for end in ends:
            assert [message.kind for message in end.sent] == KINDS
            count, blinded, promise, twice = end.sent
            assert (set(count.fields), count.arrays) == ({"keys", "about"}, {})
            assert (set(promise.fields), promise.arrays) == ({"promise"}, {})
            assert (blinded.fields, set(twice.fields)) == ({}, {"nonce"})
            assert all(list(message.arrays) == ["points"] for message in (blinded, twice))
            points = [blinded, twice]
            assert all(rbcl.crypto_core_ristretto255_is_valid_point(point) for one in points for point in _listed(one))


def _listed(message):
    data = message.arrays["points"].tobytes()
    return [data[at : at + _POINT] for at in range(0, len(data), _POINT)]


def _points_sent(end):
    return {point for message in end.sent[1::2] for point in _listed(message)}


def test_every_run_has_points_of_its_own():
    keys = [b"a", b"b", b"c"]
    (_, first), (_, second), (_, elsewhere) = _met(keys, keys), _met(keys, keys), _met(keys, keys, domains=[b"2"] * 2)
    runs = [_points_sent(end) for ends in (first, second, elsewhere) for end in ends]
    # Within a run both sides send the points of shared keys; all others are met once.
    assert len(set().union(*runs)) == 3 * (3 + 3 + 3)


def test_the_domain_is_part_of_the_hash(monkeypatch):
    monkeypatch.setattr(rbcl, "crypto_core_ristretto255_scalar_random", lambda: b"\x05" + bytes(31))

    async def blinded(domain, key):
        with Workers(1) as workers:
            return (await Blinding(workers).hash_and_blind([key], domain)).tobytes()

    points = {asyncio.run(blinded(*of)) for of in [(b"", b"ab"), (b"a", b"b"), (b"ab", b""), (b"b", b"a")]}
    assert len(points) == 4


def test_points_are_sent_in_their_own_order():
    keys = [b"key %d" % at for at in range(50)]
    _, ends = _met(keys, keys)
    for end in ends:
        assert _listed(end.sent[1]) == sorted(_listed(end.sent[1]))


def test_padding_hides_the_number_of_keys():
    _, ends = _met([b"a", b"b"], [b"b"], declared=(5, 7), pad=True)
    assert [[len(_listed(message)) for message in end.sent[1::2]] for end in ends] == [[5, 7], [7, 5]]
    assert [end.sent[0].fields["keys"] for end in ends] == [5, 7]
    _, ends = _met([b"a", b"b"], [b"b"], declared=(5, 7), pad=False)
    assert [[len(_listed(message)) for message in end.sent[1::2]] for end in ends] == [[2, 1], [1, 2]]


def test_more_keys_than_we_declared_are_refused_before_anything_is_sent(snapshot):
    (error, _), (mine, _) = _met([b"a", b"b", b"b"], [b"a"], declared=(1, 1))
    assert isinstance(error, InvalidArgument)
    assert str(error) == snapshot
    assert mine.sent == []


def _saying(count):
    def forged(message):
        message.fields["keys"] = count
        return message

    return {"intersection": forged}


@pytest.mark.parametrize("pad", [False, True])
@pytest.mark.parametrize("count", [4, 10**9, -1, "3", 3.0, True, None])
def test_more_keys_than_the_other_side_declared_are_refused(count, pad, snapshot):
    (error, _), (mine, _) = _met([b"a", b"b"], [b"a"], declared=(2, 3), pad=pad, forge=_saying(count))
    assert isinstance(error, Disrupted)
    assert (error.party, error.fault, error.exit_code) == ("shop", "refused", 2)
    assert [message.kind for message in mine.sent] == ["intersection"]
    if count == 4:
        assert str(error) == snapshot


def test_padding_that_is_missing_is_refused():
    (error, _), _ = _met([b"a"], [b"a"], declared=(2, 3), pad=True, forge=_saying(2))
    assert isinstance(error, Disrupted)


def test_sides_that_mean_different_joins_are_told(snapshot):
    found, _ = _met([b"a"], [b"a"], domains=(b"edge 1", b"edge 2"))
    error = next(side for side in found if isinstance(side, Disrupted))
    assert (error.party in ("bank", "shop"), error.fault) == (True, "unexpected")
    assert str(error).replace("'bank'", "'shop'") == snapshot


def _with(points):
    """A message whose points are changed by a function of their list."""

    def forged(message):
        message.arrays["points"] = np.frombuffer(b"".join(points(_listed(message))), np.uint8)
        return message

    return forged


_OFF_GROUP = b"\x01" + bytes(31)  # a negative field element is no encoding
_WRONG = {
    "not in the group": lambda points: sorted([_OFF_GROUP, *points[1:]]),
    "identity": lambda points: sorted([bytes(_POINT), *points[1:]]),
    "twice": lambda points: sorted([points[1], *points[1:]]),
    "one too few": lambda points: points[1:],
    "a byte too few": lambda points: [*points[:-1], points[-1][:-1]],
    "none": lambda points: [],
}


@pytest.mark.parametrize("kind", ["blinded keys", "twice blinded"])
@pytest.mark.parametrize("wrong", _WRONG)
def test_what_are_no_points_of_the_protocol_ends_it(kind, wrong, snapshot, monkeypatch):
    monkeypatch.setattr(intersection, "_promise", lambda *points: "whatever comes")
    keys = [b"a", b"b", b"c", b"d"]
    (error, _), (mine, _) = _met(keys, keys, forge={kind: _with(_WRONG[wrong])})
    assert isinstance(error, Disrupted)
    assert (error.party, error.fault, error.exit_code) == ("shop", "refused", 2)
    assert str(error) == snapshot
    if kind == "blinded keys":
        assert "twice blinded" not in [message.kind for message in mine.sent]


def test_a_message_without_points_ends_it():
    def emptied(message):
        message.arrays.clear()
        return message

    def retyped(message):
        message.arrays["points"] = message.arrays["points"].view(np.int64)
        return message

    for forged in (emptied, retyped):
        (error, _), _ = _met([b"a"], [b"a"], forge={"blinded keys": forged})
        assert isinstance(error, Disrupted)


def test_points_out_of_order_end_it():
    (error, _), _ = _met([b"a", b"b"], [b"a", b"b"], forge={"blinded keys": _with(lambda points: points[::-1])})
    assert isinstance(error, Disrupted)


def test_a_mirror_shares_nothing():
    """Whoever sends everything back would seem to have all our keys."""

    async def mirrored(workers):
        mine, _ = connected("bank", "shop")
        mine.inbox = mine.outbox
        return await _settled(
            intersect(mine, [b"a", b"b"], domain=b"", declared=(2, 2), pad=False, workers=workers),
        )

    with Workers(1) as workers:
        (error,) = asyncio.run(mirrored(workers))
    assert isinstance(error, Disrupted)


def test_points_that_were_not_promised_end_it(snapshot):
    """A party that waits for our points and sends them back would seem to have all our keys."""
    keys, received = [b"a", b"b", b"c", b"d"], {}

    async def echo(workers):
        mine, theirs = connected("bank", "shop")

        async def expect(*kinds, most=1 << 20):
            message = await type(theirs).expect(theirs, *kinds, most=most)
            received[message.kind] = message
            return message

        async def shop():
            made_up = await Blinding(workers).hash_and_blind([b"1", b"2", b"3", b"4"], b"run 1")
            await expect("intersection")
            await theirs.send("intersection", received["intersection"].fields)
            await theirs.send("blinded keys", {}, {"points": np.frombuffer(np.sort(made_up).tobytes(), np.uint8)})
            await expect("blinded keys")
            await theirs.send("promise", {"promise": "0" * 64})
            await expect("promise")
            twice = await expect("twice blinded")
            await theirs.send("twice blinded", twice.fields, twice.arrays)

        return await _settled(
            intersect(mine, keys, domain=b"run 1", declared=(4, 4), pad=False, workers=workers), shop()
        )

    with Workers(1) as workers:
        error, _ = asyncio.run(echo(workers))
    assert (type(error), error.party, error.fault) == (Disrupted, "shop", "refused")
    assert str(error) == snapshot


def test_a_missing_library_is_named_with_its_install_line(monkeypatch, snapshot):
    monkeypatch.setitem(sys.modules, "rbcl", None)
    found, _ = _met([b"a"], [b"a"])
    error = next(side for side in found if isinstance(side, InvalidArgument))
    assert str(error) == snapshot


def test_importing_veilset_does_not_load_the_library():
    code = "import sys, veilset, veilset.joins.parties.intersection; sys.exit('rbcl' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False, timeout=_SECONDS).returncode == 0
