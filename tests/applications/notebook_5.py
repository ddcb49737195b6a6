"""Jupyter notebook 5, the server of notebooks, kernels and terminals."""

from tests.applications.application import Application, Environment
from tests.applications.notebook_client import TOKEN, use_notebook
from tests.applications.notebook_requirements import FOR_NEW, FOR_OLD

__all__ = ["APPLICATION"]

APPLICATION = Application(
    name="Jupyter notebook",
    version="5.2.2",
    job=use_notebook,
    command="-m notebook",
    options=(
        "--no-browser",
        "--allow-root",
        "--ip=127.0.0.1",
        "--port={port}",
        f"--NotebookApp.token={TOKEN}",
    ),
    new=Environment("notebook==5.2.2" + FOR_NEW),
    old=Environment("notebook==5.2.2 tornado==4.5.3" + FOR_OLD, python="3.6"),
)
