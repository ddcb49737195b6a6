"""The tests of Jupyter notebook 4."""

from tests.applications import notebook_4
from tests.applications.own_tests import tests_of

__all__ = ["APPLICATION"]

APPLICATION = tests_of(notebook_4.APPLICATION)
