"""Where things are in the checkout."""

from pathlib import Path

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
