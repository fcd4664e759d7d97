"""Recipes as files: what they write they read, and what is none is refused."""

import math
import tomllib

import pytest

from tests.support.errors import refused
from veilset import InvalidArgument, UnreadableInput
from veilset.cli import main
from veilset.publish import Recipe

PROMISE = "[promise]\nk = 2\np = 1\n"
L_DIVERSE = '[promise]\nmodel = "l-diverse-anatomy"\nl = 2\n'


def test_numbers_are_written_as_toml_has_them():
    options = {"a": math.inf, "b": -math.inf, "c": 0.1, "d": 1e300, "e": True, "f": 3}
    recipe = Recipe.model_validate({"promise": {"k": 2, "p": None}, "method": {"options": options}})
    content = tomllib.loads(recipe.to_toml())
    assert content["method"]["options"] == options
    assert content["promise"] == {"model": "coherence", "k": 2, "p": "unlimited"}
    assert recipe.promise.make().p is None


@pytest.mark.parametrize("content", [b"\xff", b"k = ", b"k = " + b"[" * 100_000])
def test_what_is_no_toml_is_refused(tmp_path, content):
    path = tmp_path / "odd.toml"
    path.write_bytes(content + b"\n" + PROMISE.encode())
    with refused(UnreadableInput, "odd.toml"):
        Recipe.load(path, needs_input=False)


@pytest.mark.parametrize("value", ["9" * 5000, "-" + "9" * 5000, "0x" + "f" * 5000, "18446744073709551616"])
@pytest.mark.parametrize("place", ["seed = {}\n[promise]\np = 1", "[promise]\nk = {}\np = 1", "[promise]\np = [[{}]]"])
def test_a_number_of_thousands_of_digits_is_refused(tmp_path, place, value):
    """Python cannot write it into an error; hexadecimal it can read it."""
    path = tmp_path / "odd.toml"
    path.write_text(place.format(value))
    with refused(UnreadableInput, "odd.toml", "20 digits") as caught:
        Recipe.load(path, needs_input=False)
    assert "9999" not in str(caught.value)
    assert main(["publish", str(path), "--out", str(tmp_path / "out")]) == 2


def recipe_with(folder, method: str, promise: str = PROMISE):
    path = folder / "run.toml"
    path.write_text(f'[input]\npath = "baskets.csv"\n{promise}{method}\n')
    return path


@pytest.mark.parametrize(
    ("promise", "method", "option", "values"),
    [
        (PROMISE, "generalize", "taxonomy = 3", (3, "string", "dictionary")),
        (PROMISE, "generalize", r'taxonomy = "\u0000"', ("zero",)),
        (PROMISE, "border", 'nugget_size = "x"', ("'x'", "integer")),
        (PROMISE, "border", "nugget_size = true", ("True", "integer")),
        (PROMISE, "border", "nugget_support = []", ("[]", "string")),
        (PROMISE, "border", "restore = 0", (0, "boolean")),
        (PROMISE, "optimal", "utility = 3", (3, "'items'", "'nuggets'")),
        (PROMISE, "auto", "weights = []", ("[]", "dictionary")),
        (PROMISE, "auto", 'keep = "ale"', ("'ale'", "list")),
        (PROMISE, "replay", 'generalized = {ale = ["beer"]}', ("ale", "string")),
        ('[promise]\nmodel = "rho-uncertainty"\nrho = 0.5\n', "suppress", 'as_published = "yes"', ("'yes'", "boolean")),
        (L_DIVERSE, "multi-anatomy", r'columns = "\u0000"', ("zero",)),
        (L_DIVERSE, "multi-anatomy", "columns = [1]", ("[1]",)),
    ],
)
def test_an_option_of_the_wrong_type_is_an_error_of_the_recipe(tmp_path, promise, method, option, values):
    """It names the recipe, the option, its value and what is expected."""
    path = recipe_with(tmp_path, f'[method]\nname = "{method}"\n[method.options]\n{option}', promise)
    with refused(InvalidArgument, "run.toml", f"method.options.{option.split()[0]}", *values):
        Recipe.load(path)


def test_a_secret_of_the_wrong_type_is_not_shown(tmp_path):
    path = recipe_with(tmp_path, '[method.options]\nrandom_state = "hush"', L_DIVERSE)
    with refused(InvalidArgument, "run.toml", "method.options.random_state", "integer") as caught:
        Recipe.load(path)
    assert "hush" not in str(caught.value)


@pytest.mark.parametrize("value", ['"yes"', "1", "[]"])
@pytest.mark.parametrize("switch", ["drop_empty", "allow_sensitive", "header", "wide", "counts"])
def test_a_switch_is_true_or_false(tmp_path, switch, value):
    section = "method" if switch in ("drop_empty", "allow_sensitive") else "input"
    path = recipe_with(tmp_path, f"[method]\n{switch} = {value}" if section == "method" else "")
    if section == "input":
        path.write_text(path.read_text().replace("[input]\n", f"[input]\n{switch} = {value}\n"))
    with refused(InvalidArgument, "run.toml", f"{section}.{switch}", value.replace('"', "'"), "boolean"):
        Recipe.load(path)
