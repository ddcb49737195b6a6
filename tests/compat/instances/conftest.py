"""Keeps pytest from importing the program here, which `test_instances` runs."""

collect_ignore_glob = ["*.py"]
