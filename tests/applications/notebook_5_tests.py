"""The tests of Jupyter notebook 5."""

from tests.applications import notebook_5
from tests.applications.own_tests import tests_of

__all__ = ["APPLICATION"]

APPLICATION = tests_of(notebook_5.APPLICATION)
