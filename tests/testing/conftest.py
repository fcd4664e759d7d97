"""No test of mutants looks at charts."""

from tests.support.light import light

__all__ = ["light"]
