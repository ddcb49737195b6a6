"""The programs here are run by `test_packages`; to import them would run them."""

collect_ignore_glob = ["*.py"]
