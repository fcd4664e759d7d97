"""The web page of personalised search: what `veilset search serve` shows. It needs the extra ``search``."""

from veilset.search.page.actions import SearchPage, search_site

__all__ = ["SearchPage", "search_site"]
