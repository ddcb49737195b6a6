"""tornado-redis, a client whose every method takes a callback."""

from tests.applications.application import Application, Environment, run_program

__all__ = ["APPLICATION", "REDIS"]

REQUIREMENTS = "tornado-redis==2.4.18 "

# Keeps nothing on the disk.
REDIS = "redis-server --bind 127.0.0.1 --port {service_port} --appendonly no"

APPLICATION = Application(
    name="tornado-redis",
    version="2.4.18",
    job=run_program,
    command="{here}/files/use_tornado_redis.py",
    options=("{service_port}",),
    new=Environment(REQUIREMENTS + "tornado==6.5.6"),
    old=Environment(REQUIREMENTS + "tornado==4.5.3", python="3.6"),
    services=(REDIS,),
)
