"""Hiding patterns with a sanitization matrix (Lee, Chang, Chen 2004): one file per algorithm; `hide` is what they share."""
