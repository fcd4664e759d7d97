"""Private personalised search (thesis ch. 5): a profile built at home, and a choice of what leaves the machine."""

from veilset.search.documents import Document
from veilset.search.exposure import Exposure, Setting
from veilset.search.node import Node
from veilset.search.profile import Profile
from veilset.search.ranking import Ranked, Result, rerank

__all__ = ["Document", "Exposure", "Node", "Profile", "Ranked", "Result", "Setting", "rerank"]
