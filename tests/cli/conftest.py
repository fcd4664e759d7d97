"""Charts are drawn only where a test looks at them."""

from tests.support.light import light, real_charts

__all__ = ["light", "real_charts"]
