"""The packages that are converted, and what is run with each, before and after.

An application of ``tests/applications`` does its job, or runs the tests that it brings with
it; the other packages are used by a program of ``tests/compat/packages``.
"""

import importlib
from typing import NamedTuple

from tests.applications.application import Application

__all__ = ["SUBJECTS", "Subject", "application_of"]


class Subject(NamedTuple):
    """A package that is converted.

    Attributes:
        title: Its name and version.
        folders: What is converted: folders in its environment or its archive.
        application: The module of ``tests/applications`` that uses it, if one does.
        program: Otherwise the program of ``tests/compat/packages``.
        using: The archives that this program uses.
    """

    title: str
    folders: tuple[str, ...]
    application: str = ""
    program: str = ""
    using: str = ""


SUBJECTS = {
    "distributed": Subject(
        "distributed 1.21.8", ("distributed",), application="distributed_cluster"
    ),
    "jupyterhub": Subject("JupyterHub 0.9.6", ("jupyterhub",), "jupyterhub"),
    "notebook": Subject(
        "Jupyter notebook 4.4.1",
        ("notebook", "jupyter_client", "ipykernel", "terminado"),
        "notebook_4_tests",
    ),
    "streamz": Subject("streamz 0.3.0", ("streamz",), "streamz"),
    "flower": Subject("flower 0.9.2", ("flower",), "flower"),
    "tornado-redis": Subject(
        "tornado-redis 2.4.18", ("tornadoredis",), "tornado_redis"
    ),
    "sockjs-tornado": Subject("sockjs-tornado 1.0.3", ("sockjs",), "sockjs_tornado"),
    "momoko": Subject(
        "momoko 1.1.6",
        ("momoko",),
        program="momoko_program.py",
        using="momoko psycopg2-binary",
    ),
    "tornadoes": Subject(
        "tornadoes 2.5.1",
        ("tornadoes",),
        program="tornadoes_program.py",
        using="tornadoes six",
    ),
    "toro": Subject("toro 1.0.1", ("toro",), program="toro_program.py", using="toro"),
}


def application_of(subject: Subject) -> Application:
    """Return the application that uses a package."""
    module = importlib.import_module(f"tests.applications.{subject.application}")
    application: Application = module.APPLICATION
    return application
