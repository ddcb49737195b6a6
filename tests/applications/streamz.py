"""streamz, pipelines of events with back pressure."""

from tests.applications.application import Application, Environment, run_program

__all__ = ["APPLICATION"]

REQUIREMENTS = "--no-deps streamz==0.3.0 six==1.16.0 toolz==0.12.0 zict==1.0.0 "

APPLICATION = Application(
    name="streamz",
    version="0.3.0",
    job=run_program,
    command="{here}/files/use_streamz.py",
    options=(),
    new=Environment(REQUIREMENTS + "heapdict==1.0.1 tornado==6.5.6"),
    old=Environment(REQUIREMENTS + "heapdict==1.0.1 tornado==4.5.3", python="3.6"),
)
