"""Kernels of veilset: no policy, no Python objects inside loops."""

from veilset._native import anatomy, audit, core, hiding, joins, mining, partial, rules, text

__all__ = ["anatomy", "audit", "core", "hiding", "joins", "mining", "partial", "rules", "text"]
