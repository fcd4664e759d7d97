"""Messages as bytes: what is sent comes back; anything else is refused before it is used."""

import contextlib
from unittest import mock

import msgpack
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.effort import examples
from tests.support.errors import refused
from veilset.errors import InvalidArgument
from veilset.joins.parties import frames
from veilset.joins.parties.frames import Alive, Chunk, Header, Malformed

_PLAIN = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**63), 2**64 - 1),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(),
    st.binary(),
)
_FIELDS = st.dictionaries(
    st.text(), st.recursive(_PLAIN, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=8)
)
_ARRAY = st.tuples(st.sampled_from(["int32", "int64", "uint64", "uint8"]), st.integers(0, 5))


@given(kind=st.text(), fields=_FIELDS, arrays=st.dictionaries(st.text(), _ARRAY, max_size=4))
@examples(200)
def test_a_header_comes_back_as_it_was(kind, fields, arrays):
    given_arrays = {name: np.zeros(length, dtype) for name, (dtype, length) in arrays.items()}
    header = frames.parse(frames.header_frame(kind, fields, given_arrays))
    assert (header.kind, header.fields) == (kind, fields)
    assert {name: (dtype.name, length) for name, (dtype, length) in header.layout.items()} == arrays
    assert header.size == sum(array.nbytes for array in given_arrays.values())


@given(frame=st.binary(max_size=40))
@examples(500)
def test_random_bytes_are_a_frame_or_malformed(frame):
    with contextlib.suppress(Malformed):
        assert isinstance(frames.parse(frame), (Header, Chunk, Alive))


@given(data=st.data())
@examples(500)
def test_damaged_frames_are_a_frame_or_malformed(data):
    frame = bytearray(frames.header_frame("sum", {"a": [1, {"b": "é"}], "c": 0.5}, {"x": np.zeros(3, "i4")}))
    frame[data.draw(st.integers(0, len(frame) - 1))] = data.draw(st.integers(0, 255))
    with contextlib.suppress(Malformed):
        assert isinstance(frames.parse(bytes(frame)), (Header, Chunk, Alive))


def _message(fields=None, arrays=None):
    return ["message", "sum", {} if fields is None else fields, {} if arrays is None else arrays]


_NO_FRAMES = {
    "nothing": b"",
    "two values": msgpack.packb(["alive", False]) * 2,
    "no form": msgpack.packb({"message": 1}),
    "alive with a number": msgpack.packb(["alive", 1]),
    "empty chunk": msgpack.packb(["chunk", b""]),
    "chunk of text": msgpack.packb(["chunk", "text"]),
    "chunk too large": msgpack.packb(["chunk", bytes(frames.CHUNK + 1)]),
    "extension": msgpack.packb(_message({"a": msgpack.ExtType(5, b"abc")})),
    "empty extension": msgpack.packb(_message({"a": msgpack.ExtType(5, b"")})),
    "time": msgpack.packb(_message({"a": msgpack.Timestamp(1, 2)})),
    "not a number": msgpack.packb(_message({"a": float("nan")})),
    "infinity": msgpack.packb(_message({"a": [float("inf")]})),
    "key of bytes": msgpack.packb(_message({b"a": 1})),
    "key of number": msgpack.packb(_message({1: 1})),
    "key twice": b"\x94\xa7message\xa3sum\x82\xa1a\x01\xa1a\x02\x80",
    "text not in UTF-8": msgpack.packb(["message", "sum", {}, {}]).replace(b"sum", b"\xff\xffm"),
    "deep": msgpack.packb(_message({"a": [[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]})),
    "very deep": b"\x91" * 100_000,
    "endless": b"\xdd\xff\xff\xff\xff",
    "kind of number": msgpack.packb(["message", 5, {}, {}]),
    "fields in a list": msgpack.packb(["message", "sum", [], {}]),
    "floats": msgpack.packb(_message(arrays={"x": ["float64", 3]})),
    "objects": msgpack.packb(_message(arrays={"x": ["O", 3]})),
    "negative length": msgpack.packb(_message(arrays={"x": ["int32", -1]})),
    "length as truth value": msgpack.packb(_message(arrays={"x": ["int32", True]})),
    "no length": msgpack.packb(_message(arrays={"x": ["int32"]})),
    "many arrays": msgpack.packb(_message(arrays={str(i): ["int32", 0] for i in range(65)})),
}


@pytest.mark.parametrize("frame", _NO_FRAMES.values(), ids=_NO_FRAMES)
def test_what_nobody_sends_is_malformed(frame):
    with pytest.raises(Malformed):
        frames.parse(frame)


@pytest.mark.parametrize("body", [b"\x80", b"\x90"], ids=["maps", "lists"])
def test_large_headers_are_refused_unread(body):
    """Reading a million empty maps would hold up everything else."""
    count = frames.CHUNK - 100
    start = b"\x94" + msgpack.packb("message") + msgpack.packb("kind") + b"\x81\xa1x\xdd" + count.to_bytes(4, "big")
    for frame in (start + body * count + b"\x80", b"\x92\xa5chunk\xdd" + count.to_bytes(4, "big") + body * count):
        with mock.patch.object(frames, "_unpack") as unpack, pytest.raises(Malformed, match="header"):
            frames.parse(frame)
        unpack.assert_not_called()


@pytest.mark.parametrize("length", [0, 1, frames.CHUNK // 8, frames.CHUNK // 8 + 1, frames.CHUNK // 2])
def test_arrays_pass_in_bounded_chunks(length):
    array = np.arange(length, dtype=np.int64)
    chunks = list(frames.chunk_frames(array))
    assert all(len(chunk) <= frames.LARGEST_FRAME for chunk in chunks)
    assert b"".join(frames.parse(chunk).content for chunk in chunks) == array.tobytes()


def test_bytes_are_little_endian_and_in_order():
    array = np.arange(6, dtype=">i4")[::2]
    (chunk,) = frames.chunk_frames(array)
    assert frames.parse(chunk).content == np.array([0, 2, 4], "<i4").tobytes()


@pytest.mark.parametrize(
    ("fields", "arrays"),
    [
        ({"a": 2**64}, {}),
        ({"a": np.int64(3)}, {}),
        ({"a": float("nan")}, {}),
        ({"a": {1: 2}}, {}),
        ({"a": {1, 2}}, {}),
        ({"a": "x" * frames.LARGEST_FRAME}, {}),
        ({}, {"x": np.zeros(3)}),
        ({}, {"x": np.zeros((3, 3), np.int64)}),
        ({}, {str(i): np.zeros(0, np.int64) for i in range(65)}),
    ],
)
def test_what_cannot_be_sent_is_refused_before_it_is(fields, arrays):
    with refused(InvalidArgument, "'sum'"):
        frames.header_frame("sum", fields, arrays)


@given(st.integers(-(2**127), 2**127))
@examples(100)
def test_large_numbers_pass_as_digits(number):
    assert frames.from_digits(frames.as_digits(number)) == number


@pytest.mark.parametrize("text", ["", "-", "-0", "007", "1.0", "1_0", " 1", "1\n", "٣", "1" * 40, 5, None])
def test_digits_have_one_form(text):
    with pytest.raises(Malformed):
        frames.from_digits(text)


def test_a_number_beyond_39_digits_is_refused():
    with refused(InvalidArgument):
        frames.as_digits(10**39)
