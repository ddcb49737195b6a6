"""pika's TornadoConnection, a client of RabbitMQ."""

from tests.applications.application import Application, Environment, run_program

__all__ = ["APPLICATION"]

APPLICATION = Application(
    name="pika",
    version="0.12.0",
    job=run_program,
    command="{here}/files/use_pika.py",
    options=("{service_port}",),
    new=Environment("pika==0.12.0 tornado==6.5.6"),
    old=Environment("pika==0.12.0 tornado==4.5.3", python="3.6"),
    # Debian's; the one on the path becomes another user.
    services=(
        "env RABBITMQ_NODE_PORT={service_port} /usr/lib/rabbitmq/bin/rabbitmq-server",
    ),
    variables={
        "ERL_EPMD_ADDRESS": "127.0.0.1",
        "RABBITMQ_DIST_PORT": "25672",
        "RABBITMQ_CONFIG_FILE": "{folder}/none",
        "RABBITMQ_ENABLED_PLUGINS_FILE": "{folder}/plugins",
        "RABBITMQ_LOG_BASE": "{folder}/rabbitmq-log",
        "RABBITMQ_MNESIA_BASE": "{folder}/mnesia",
        "RABBITMQ_NODENAME": "gencoro@localhost",
        "RABBITMQ_NODE_IP_ADDRESS": "127.0.0.1",
        "RABBITMQ_PID_FILE": "{folder}/pid",
        "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS": (
            "-kernel inet_dist_use_interface {{127,0,0,1}}"
        ),
    },
)
