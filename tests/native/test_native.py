"""The typed stubs say what the extension has."""

import ast
from pathlib import Path

import pytest

import veilset
from veilset import _native

STUBS = {
    stub.stem: ast.parse(stub.read_text()).body
    for stub in (Path(veilset.__file__).parent / "_native").glob("[a-z]*.pyi")
}


def public(names) -> set[str]:
    return {name for name in names if not name.startswith("_")}


def test_every_submodule_has_a_stub():
    assert len(STUBS) > 5
    assert STUBS.keys() == public(dir(_native))


@pytest.mark.parametrize("folder", sorted(STUBS))
def test_the_stub_names_everything(folder):
    named = {node.name for node in STUBS[folder] if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
    assert public(named) == public(dir(getattr(_native, folder)))


@pytest.mark.parametrize("folder", sorted(STUBS))
def test_keywords_of_the_stub_are_those_of_the_kernels(folder):
    """nanobind writes each signature into the docstring."""
    functions = [node for node in STUBS[folder] if isinstance(node, ast.FunctionDef)]
    assert functions
    for function in functions:
        arguments = [a.arg for a in (*function.args.args, *function.args.kwonlyargs)]
        signature = getattr(getattr(_native, folder), function.name).__doc__.split(" -> ")[0]
        assert [name for name in arguments if f"{name}: " not in signature] == [], signature
