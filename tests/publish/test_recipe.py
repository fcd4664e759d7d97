"""Recipes as files: what they write they read, and what is none is refused."""

import math
import tomllib

import pytest

from tests.support.errors import refused
from veilset import UnreadableInput
from veilset.publish import Recipe

PROMISE = "[promise]\nk = 2\np = 1\n"


def test_numbers_are_written_as_toml_has_them():
    options = {"a": math.inf, "b": -math.inf, "c": 0.1, "d": 1e300, "e": True, "f": 3}
    recipe = Recipe.model_validate({"promise": {"k": 2, "p": None}, "method": {"options": options}})
    content = tomllib.loads(recipe.to_toml())
    assert content["method"]["options"] == options
    assert content["promise"] == {"model": "coherence", "k": 2, "p": "unlimited"}
    assert recipe.promise.make().p is None


@pytest.mark.parametrize("content", [b"k = " + b"9" * 5000, b"\xff", b"k = ", b"k = " + b"[" * 100_000])
def test_what_is_no_toml_is_refused(tmp_path, content):
    path = tmp_path / "odd.toml"
    path.write_bytes(content + b"\n" + PROMISE.encode())
    with refused(UnreadableInput, "odd.toml"):
        Recipe.load(path, needs_input=False)
