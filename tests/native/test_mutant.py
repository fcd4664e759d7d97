"""Mining kernels that are compiled with a mistake: what they miss, the auditor and `verify` still find."""

import importlib.util
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from unittest import mock

import cmake
import nanobind
import ninja
import pytest

from tests.support.forging import verified_all_the_same
from veilset import Release, _native
from veilset.mining import minimal_rare
from veilset.run import certify
from veilset.testing.mutants import MUTANTS, unbroken

pytestmark = pytest.mark.no_sanitizer(reason="compiles kernels of its own, without sanitizers")

DATA, PROMISE = MUTANTS[0].data, MUTANTS[0].promise


@pytest.fixture(scope="module")
def kernels(tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    """The kernels that decide what is a mole, with Sup < k taken for Sup < k - 1."""
    build = tmp_path_factory.mktemp("mutant")
    program = Path(cmake.CMAKE_BIN_DIR) / "cmake"
    settings = {
        "CMAKE_BUILD_TYPE": "Debug",
        "CMAKE_MAKE_PROGRAM": Path(ninja.BIN_DIR) / "ninja",
        "Python_EXECUTABLE": sys.executable,
        "nanobind_DIR": nanobind.cmake_dir(),
    }
    chosen = [f"-D{name}={value}" for name, value in settings.items()]
    sources = Path(__file__).parent / "mutant"
    subprocess.run([program, "-G", "Ninja", "-S", sources, "-B", build, *chosen], check=True)
    subprocess.run([program, "--build", build], check=True)
    (library,) = build.glob("_mutant*.so")
    found = importlib.util.spec_from_file_location("_mutant", library)
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


@pytest.fixture
def release(kernels: ModuleType) -> Release:
    """What the right method makes of their answers."""
    with mock.patch.multiple(_native.mining, MoleSearch=kernels.MoleSearch, Keeping=kernels.Keeping):
        assert {mole.support for mole in minimal_rare(DATA, PROMISE.k, h=1)} == {1}, "the mistake was not planted"
        return unbroken(DATA, PROMISE)


def test_without_the_mistake_all_is_well():
    assert {mole.support for mole in minimal_rare(DATA, PROMISE.k, h=1)} == {1, 2}
    assert certify(unbroken(DATA, PROMISE)).certified


def test_the_auditor_counts_for_itself(release):
    assert not certify(release).certified


def test_verify_rejects_the_bytes(release, tmp_path, monkeypatch):
    found = verified_all_the_same(release, tmp_path, monkeypatch)
    assert found.verdict == "broken"
    assert found.audit.witnesses
