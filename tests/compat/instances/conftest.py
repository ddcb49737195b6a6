"""The program here is run by `test_instances`; it cannot be imported without compat."""

collect_ignore_glob = ["*.py"]
