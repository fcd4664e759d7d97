"""Classification over a join that is never computed (thesis ch. 3)."""

from veilset.joins.tables import Csv, Query

__all__ = ["Csv", "Query"]
