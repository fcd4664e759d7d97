"""How long tests look: counts are those of CI, and the hypothesis profile multiplies them, each by one number.

``HYPOTHESIS_PROFILE`` names it; without it the profile is ``dev``.
"""

import os

from hypothesis import settings

MULTIPLIERS = {"quick": 0.1, "dev": 0.1, "ci": 1, "thorough": 50}
PROFILE = os.environ.get("HYPOTHESIS_PROFILE", "dev")


def repeats(in_ci: int) -> int:
    """How often a loop runs that runs *in_ci* times there; at least once."""
    return max(1, round(in_ci * MULTIPLIERS[PROFILE]))


def examples(in_ci: int) -> settings:
    """Hypothesis settings for a test that looks at *in_ci* examples there."""
    return settings(max_examples=repeats(in_ci), deadline=None)


def load_profile() -> None:
    """Give every test without a number of its own 200 examples in CI."""
    for name, multiplier in MULTIPLIERS.items():
        settings.register_profile(name, max_examples=round(200 * multiplier), deadline=None)
    settings.load_profile(PROFILE)
