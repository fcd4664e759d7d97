"""``python -m veilset``."""

import sys

from veilset.cli import main

if __name__ == "__main__":
    sys.exit(main())
