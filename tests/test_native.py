"""The typed stub says what the extension has."""

import ast
from pathlib import Path

from veilset import _native


def test_the_stub_names_everything():
    import veilset

    stub = ast.parse((Path(veilset.__file__).parent / "_native.pyi").read_text())
    named = {node.name for node in stub.body if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
    assert {name for name in named if not name.startswith("_")} == {name for name in dir(_native) if name[0] != "_"}


def test_keywords_of_the_stub_are_those_of_the_kernels():
    """nanobind writes each signature into the docstring."""
    import veilset

    stub = ast.parse((Path(veilset.__file__).parent / "_native.pyi").read_text())
    functions = [node for node in stub.body if isinstance(node, ast.FunctionDef)]
    assert len(functions) > 10
    for function in functions:
        arguments = [a.arg for a in (*function.args.args, *function.args.kwonlyargs)]
        signature = getattr(_native, function.name).__doc__.split(" -> ")[0]
        assert [name for name in arguments if f"{name}: " not in signature] == [], signature
