"""Hiding patterns with a sanitization matrix (Lee, Chang, Chen 2004): one file per algorithm, and what they share."""
