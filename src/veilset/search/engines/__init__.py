"""Search engines: the embedded one, SearXNG, OpenSearch, and whatever has the same three things as `Engine`."""

from veilset.search.engines.embedded import Embedded
from veilset.search.engines.engine import MOST_RESULTS, Engine, Found
from veilset.search.engines.named import check_engine, engine_named
from veilset.search.engines.opensearch import OpenSearch
from veilset.search.engines.searxng import SearXNG

__all__ = ["MOST_RESULTS", "Embedded", "Engine", "Found", "OpenSearch", "SearXNG", "check_engine", "engine_named"]
