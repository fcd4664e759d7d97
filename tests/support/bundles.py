"""Published bundles, and what others might do to them."""

import json
from pathlib import Path

from veilset.io import sha256_of


def edit_certificate(public: Path, change, *, fix_sums: bool = False) -> None:
    path = public / "certificate.json"
    content = json.loads(path.read_text())
    change(content)
    path.write_text(json.dumps(content, indent=2, ensure_ascii=False) + "\n")
    if fix_sums:
        redo_sums(public)


def redo_sums(public: Path) -> None:
    sums = public / "SHA256SUMS"
    names = [line.split("  ")[1] for line in sums.read_text().splitlines()]
    sums.write_text("".join(f"{sha256_of(public / name)}  {name}\n" for name in names))


def exchange_file(public: Path, name: str, content: bytes) -> None:
    """Put other bytes into a file of the release, with the certificate and the sums that would go with them."""
    (public / name).write_bytes(content)
    kind = name.partition(".")[0]
    if kind in ("data", "anatomy"):
        edit_certificate(public, lambda c: c[kind].update(sha256=sha256_of(content)))
    redo_sums(public)
