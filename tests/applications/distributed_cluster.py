"""distributed, dask's cluster, with workers in threads and in processes."""

from tests.applications.application import Application, Environment, run_program

__all__ = ["APPLICATION"]

REQUIREMENTS = """
    --no-deps
    distributed==1.21.8
    dask==0.17.5
    msgpack==0.5.6
    psutil==5.9.8
    six==1.16.0
    sortedcontainers==2.4.0
    tblib==1.7.0
    toolz==0.12.0
    zict==1.0.0
    HeapDict==1.0.1
    click==7.1.2
"""

APPLICATION = Application(
    name="distributed",
    version="1.21.8",
    job=run_program,
    command="{here}/files/use_distributed.py",
    options=(),
    new=Environment(REQUIREMENTS + "tornado==6.5.6 cloudpickle==2.2.1"),
    old=Environment(REQUIREMENTS + "tornado==4.5.3 cloudpickle==0.5.6", python="3.6"),
)
