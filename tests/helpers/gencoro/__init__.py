"""Helpers for the tests of gencoro: random programs, run and compared."""
