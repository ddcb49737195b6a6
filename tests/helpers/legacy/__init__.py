"""Programs and tables for the tests of `gencoro.legacy`."""
