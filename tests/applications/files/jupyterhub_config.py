"""What JupyterHub reads: any user may log in, and servers run as the user that runs this."""

import os
import shlex
import socket


def free_url():
    """Return a URL on loopback at which nothing listens."""
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{sock.getsockname()[1]}"


c = get_config()  # noqa: F821
c.JupyterHub.bind_url = os.environ["HUB_URL"]
c.JupyterHub.hub_bind_url = free_url()
c.JupyterHub.authenticator_class = "dummyauthenticator.DummyAuthenticator"
c.JupyterHub.spawner_class = "simplespawner.SimpleLocalProcessSpawner"
c.ConfigurableHTTPProxy.api_url = free_url()
c.SimpleLocalProcessSpawner.home_path_template = os.environ["HOME"] + "/{username}"
# The users' servers are started as the hub is.
c.Spawner.cmd = [*shlex.split(os.environ["LAUNCHER"]), "-m", "jupyterhub.singleuser"]
c.Spawner.args = ["--allow-root"]
