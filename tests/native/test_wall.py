"""The auditors count for themselves: neither their kernels nor their Python reach for anybody else's."""

import ast
import re
import shutil
from pathlib import Path

import pytest

import veilset

NATIVE = Path(__file__).parents[2] / "native"
AUDITORS = Path(veilset.__file__).parent / "audit"


def foreign_includes(kernels: Path) -> list[str]:
    """Every include of ours that `kernels/audit/` has from a folder other than `audit/` and `core/`, and core's own."""
    allowed = {"audit": ("audit/", "core/"), "core": ("core/",)}
    return [
        f"{source.relative_to(kernels)} includes {included}"
        for folder, known in allowed.items()
        for source in sorted((kernels / folder).glob("*.?pp"))
        for included in re.findall(r'^\s*#\s*include\s*"([^"]+)"', source.read_text(), re.MULTILINE)
        if not included.startswith(known) or ".." in included
    ]


def foreign_calls(auditors: Path) -> list[str]:
    """Every way in which a module of `auditors` gets at kernels that are not in `_native.audit`."""
    return [
        f"{module.name}:{node.lineno}: {ast.unparse(node)}"
        for module in sorted(auditors.rglob("*.py"))
        for node in foreign_nodes(ast.parse(module.read_text()))
    ]


def foreign_nodes(tree: ast.Module) -> list[ast.AST]:
    own = {
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and node.attr == "audit" and isinstance(node.value, ast.Name)
    }
    return [node for node in ast.walk(tree) if node not in own and is_foreign(node)]


def is_foreign(node: ast.AST) -> bool:
    """`_native` may stand before `.audit` only, and be imported under its own name only."""
    match node:
        case ast.Name(id="_native"):
            return True
        case ast.Attribute(attr="_native"):
            return True
        case ast.Import(names=names):
            return any("_native" in name.name for name in names)
        case ast.ImportFrom(module=module, names=names):
            return "_native" in (module or "") or any(name.name == "_native" and name.asname for name in names)
    return False


def test_kernels_of_auditors_include_only_their_own():
    assert len(list((NATIVE / "audit").glob("*.cpp"))) > 5
    assert foreign_includes(NATIVE) == []


@pytest.mark.parametrize("place", ["audit/coherence.cpp", "audit/rows.hpp", "core/csr.hpp"])
@pytest.mark.parametrize("included", ["mining/limits.hpp", "audit/../mining/limits.hpp"])
def test_a_planted_include_is_found(tmp_path, place, included):
    kernels = shutil.copytree(NATIVE, tmp_path / "native")
    with (kernels / place).open("a") as source:
        source.write(f'#include "{included}"\n')
    assert foreign_includes(kernels) == [f"{place} includes {included}"]


def test_auditors_call_only_their_own_kernels():
    assert sum("_native.audit." in module.read_text() for module in AUDITORS.rglob("*.py")) > 5
    assert foreign_calls(AUDITORS) == []


@pytest.mark.parametrize(
    "planted",
    [
        "_native.mining.supports()",
        "_native.core.count_codes()",
        "getattr(_native, 'mining').supports()",
        "from veilset._native import mining",
        "from veilset._native.mining import supports",
        "import veilset._native.mining",
        "from veilset import _native as kernels",
        "veilset._native.mining.supports()",
    ],
)
def test_a_planted_call_is_found(tmp_path, planted):
    auditors = shutil.copytree(AUDITORS, tmp_path / "audit")
    with (auditors / "coherence.py").open("a") as module:
        module.write(f"\n{planted}\n")
    assert len(foreign_calls(auditors)) == 1
