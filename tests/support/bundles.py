"""Published bundles, and what others might do to them."""

import json
from pathlib import Path

from veilset.io import sha256_of


def edit_certificate(public: Path, change, *, fix_sums: bool = False) -> None:
    path = public / "certificate.json"
    content = json.loads(path.read_text())
    change(content)
    path.write_text(json.dumps(content))
    if fix_sums:
        sums = public / "SHA256SUMS"
        names = [line.split("  ")[1] for line in sums.read_text().splitlines()]
        sums.write_text("".join(f"{sha256_of(public / name)}  {name}\n" for name in names))
