"""Classification over a join that is never computed (thesis ch. 3)."""
