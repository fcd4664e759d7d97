"""``python -m veilset``."""

import sys

from veilset_start import main

if __name__ == "__main__":
    sys.exit(main())
