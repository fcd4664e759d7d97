"""A small shop and its release on disk, and how bundles are looked at, and copied before they are changed."""

import csv
import dataclasses
import json
import shutil
from pathlib import Path

import veilset as vs
from veilset.publish import Recipe

PROMISE = vs.Coherence(h="1/2", k=2, p=2)
ROWS = [["ale", "bun", "cure"], ["ale", "bun"], ["ale", "fig"], ["ale", "bun"], ["bun"], ["ale"], []]

# Whoever knows a is left with five people: two have s, two others t. So one: 40%, some: 80%.
FIVE = [["a", "s"], ["a", "s"], ["a", "t"], ["a", "t"], ["a"], [], [], [], [], []]


def write_rows(path: Path, rows: list[list[str]]) -> Path:
    path.write_text("".join(",".join(row) + "\n" for row in rows))
    return path


def baskets(folder: Path) -> vs.Transactions:
    return vs.read(write_rows(folder / "baskets.csv", ROWS), sensitive=["cure"])


def published(folder: Path, **options) -> vs.Bundle:
    """The shop's release, in which fig is gone, at out/ beside its baskets.csv."""
    release = vs.anonymize(baskets(folder), PROMISE)
    assert release.certified
    return vs.publish(release, folder / "out", **options)


def copied(bundle: vs.Bundle, folder: Path) -> vs.Bundle:
    return dataclasses.replace(bundle, path=shutil.copytree(bundle.path, folder / bundle.path.name))


def files(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def certificate(release: Path) -> dict:
    return json.loads((release / "public" / "certificate.json").read_text())


def edits(release: Path) -> dict[str, dict[str, str]]:
    """The lines of the custodian's edits.csv, by item."""
    with (release / "custodian" / "edits.csv").open(newline="") as file:
        return {line["item"]: line for line in csv.DictReader(file)}


def replayed(bundle: vs.Bundle, folder: Path) -> vs.Bundle:
    """Published once more, by its recipe: every public byte is the same."""
    recipe = Recipe.load(bundle.custodian / "recipe.toml")
    data = recipe.read_data()
    release = vs.anonymize(data, recipe.promise_for(data), method=recipe.method.name, **recipe.method.options)
    again = vs.publish(release, folder, random_state=recipe.seed)
    assert files(again.public) == files(bundle.public)
    return again


def message(path: Path, verdict: str, exit_code: int) -> str:
    """What `verify` says, with this verdict and exit code."""
    assert answer(path) == (verdict, exit_code)
    return vs.verify(path).message


def answer(path: Path) -> tuple[str, int]:
    """What `verify` answers: verdict and exit code."""
    found = vs.verify(path)
    assert found.message
    assert found.holds == (found.verdict == "holds")
    return found.verdict, found.exit_code
