"""HTTP servers and proxies for the tests: correct ones, and faulty ones."""
