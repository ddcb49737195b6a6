"""Helpers for the tests of `gencoro.compat`."""
