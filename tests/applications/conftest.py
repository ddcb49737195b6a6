"""The programs in ``files`` are run by their applications; to import them would run them."""

collect_ignore_glob = ["files/*"]
