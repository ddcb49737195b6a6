"""Keeps pytest from importing the programs here, which `test_packages` runs."""

collect_ignore_glob = ["*.py"]
