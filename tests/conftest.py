"""Hypothesis profiles: ``HYPOTHESIS_PROFILE=ci`` looks longer, ``thorough`` much longer. Draws are random; failures replay."""

import os

from hypothesis import settings

settings.register_profile("dev", max_examples=100, deadline=None)
settings.register_profile("ci", max_examples=400, deadline=None)
settings.register_profile("thorough", max_examples=10_000, deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "dev"))
