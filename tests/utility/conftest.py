"""No test of metrics looks at charts."""

from tests.support.light import light

__all__ = ["light"]
