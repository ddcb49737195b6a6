"""Escaping of untrusted text, and formatting of numbers, times and URLs."""
