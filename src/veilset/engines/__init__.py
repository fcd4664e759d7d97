"""Where counting runs when transactions are not in the memory of this process.

`Held` is all that an auditor needs from such a place. `veilset.engines.spark` is one; `veilset.engines.local` is this
process. An algorithm is written once, against the protocol.
"""

from veilset.engines.counts import HeldCounts
from veilset.engines.engine import Dealt, Engine, Held, Mark, Piece, Shared, Thin, Work
from veilset.engines.local import Local

__all__ = ["Dealt", "Engine", "Held", "HeldCounts", "Local", "Mark", "Piece", "Shared", "Thin", "Work"]
