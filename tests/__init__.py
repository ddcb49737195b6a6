"""The test suite; its helpers are in `tests.helpers`."""
