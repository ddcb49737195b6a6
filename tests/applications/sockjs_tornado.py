"""sockjs-tornado, the server side of SockJS: WebSockets, or what replaces them."""

from tests.applications.application import Application, Environment, run_program

__all__ = ["APPLICATION"]

REQUIREMENTS = "sockjs-tornado==1.0.3 "

APPLICATION = Application(
    name="sockjs-tornado",
    version="1.0.3",
    job=run_program,
    command="{here}/files/use_sockjs.py",
    options=(),
    new=Environment(REQUIREMENTS + "tornado==6.5.6"),
    old=Environment(REQUIREMENTS + "tornado==4.5.3", python="3.6"),
)
