"""The tests of Jupyter notebook 5."""

from tests.applications import notebook_5
from tests.applications.own_tests import NEW_PYTEST, OLD_PYTEST, OPTIONS, run_tests

__all__ = ["APPLICATION"]

SERVER = notebook_5.APPLICATION

APPLICATION = SERVER._replace(
    name="The tests of Jupyter notebook",
    job=run_tests,
    command="-m pytest --pyargs notebook",
    options=OPTIONS,
    new=SERVER.new._replace(requirements=SERVER.new.requirements + NEW_PYTEST),
    old=SERVER.old._replace(requirements=SERVER.old.requirements + OLD_PYTEST),
)
