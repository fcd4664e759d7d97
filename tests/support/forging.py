"""Releases that are written although nothing about them is right."""

import dataclasses
from pathlib import Path

import pytest

from veilset import Release, Verification, publish, verify
from veilset.publish import bundle
from veilset.run import Run, certify


def verified_all_the_same(release: Release, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Verification:
    """What `verify` says of the bytes that a custodian's tool writes which skips every check."""
    honest = certify(release)
    options = {**honest.options, "truthful": False} if honest.thinned else honest.options
    believed = dataclasses.replace(honest.audit, holds=True)
    forged = dataclasses.replace(honest, audit=believed, discrepancy=None, options=options)
    monkeypatch.setattr(bundle, "verify", lambda *_, **__: Verification("holds", "believed"))
    monkeypatch.setattr(Run, "before", None)
    publish(forged, folder / "forged")
    return verify(folder / "forged" / "public")
