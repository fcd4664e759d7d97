"""Classification over a join that is never computed (thesis ch. 3)."""

from veilset.joins import generate
from veilset.joins.classifier import JoinClassifier
from veilset.joins.graph import JoinGraph
from veilset.joins.linked import Match
from veilset.joins.tables import Csv, Query
from veilset.joins.tree import Node, Split, Tree

__all__ = ["Csv", "JoinClassifier", "JoinGraph", "Match", "Node", "Query", "Split", "Tree", "generate"]
