"""Helpers that tests import: servers, peers, clocks, programs."""
