"""The packages that are converted, as they were published for Tornado 3 to 5."""

from typing import NamedTuple

__all__ = ["PACKAGES", "Package"]


class Package(NamedTuple):
    """A source distribution.

    Attributes:
        name: Its name.
        version: Its version.
        paths: What is converted of it.
        suite: The arguments with which pytest runs its own tests; empty if they are not
            published with it, or need a server or an older Python.
        successor: The version for which its maintainers converted it by hand.
    """

    name: str
    version: str
    paths: str
    suite: str = ""
    successor: str = ""

    @property
    def title(self) -> str:
        """Its name and version."""
        return f"{self.name} {self.version}"


PACKAGES = (
    Package("bokeh", "0.12.16", "bokeh tests"),
    Package("circus", "0.17.2", "circus", "circus/tests"),
    Package(
        "distributed",
        "1.21.8",
        "distributed",
        "distributed/tests/test_batched.py distributed/tests/test_core.py "
        "distributed/tests/test_locks.py distributed/tests/test_queues.py "
        "distributed/tests/test_utils.py distributed/tests/test_variable.py",
    ),
    Package("dockerspawner", "0.9.1", "dockerspawner"),
    Package("elasticsearch-tornado", "2.0.9", "elasticsearch_tornado"),
    Package("flower", "0.9.7", "flower tests", "tests/unit"),
    Package("gredis", "0.0.9", "gredis"),
    Package("greenado", "0.2.5", "greenado tests", "tests"),
    Package("ipykernel", "5.1.4", "ipykernel", "ipykernel/tests"),
    Package("ipyparallel", "6.3.0", "ipyparallel"),
    Package("jaeger-client", "4.8.0", "jaeger_client tests crossdock", "tests"),
    Package("jupyter-kernel-gateway", "2.1.0", "kernel_gateway"),
    Package("jupyterhub", "0.9.6", "jupyterhub"),
    Package("jupyterhub-kubespawner", "0.8.1", "kubespawner"),
    Package("katcp", "0.9.2", "katcp", "katcp/test"),
    Package("kiel", "0.9.3", "kiel"),
    Package("limonado", "0.2.1", "limonado examples"),
    Package("looppool", "0.4.0", "looppool", "looppool/test.py"),
    Package("momoko", "2.2.5.1", "momoko tests.py examples"),
    Package("mutornadomon", "0.5.1", "mutornadomon"),
    Package("nbviewer", "1.0.1", "nbviewer"),
    Package("notebook", "4.4.1", "notebook", "notebook"),
    Package("notebook", "5.4.1", "notebook", "notebook"),
    Package("oauthenticator", "0.7.3", "oauthenticator"),
    Package("pilbox", "1.3.4", "pilbox"),
    Package("pynsq", "0.9.1", "nsq"),
    Package("pyzmq", "19.0.2", "zmq examples"),
    Package("rejected", "3.22.1", "rejected tests"),
    Package(
        "salt",
        "3006.9",
        "salt/*.py salt/channel salt/cli salt/client salt/cloud salt/daemons "
        "salt/netapi salt/pillar salt/proxy salt/transport salt/utils",
        successor="3007.1",
    ),
    Package("sockjs-tornado", "1.0.7", "sockjs examples"),
    Package("sprockets.mixins.http", "1.1.1", "sprockets"),
    Package(
        "streamz",
        "0.3.0",
        "streamz",
        "streamz/tests --ignore streamz/tests/test_dask.py",
    ),
    Package("tchannel", "2.1.0", "tchannel crossdock"),
    Package("testnado", "1.0.3", "testnado tests", "tests"),
    Package("th2c", "0.4.1", "th2c"),
    Package("threadloop", "1.0.2", "threadloop tests", "tests"),
    Package("tormysql", "0.4.3", "tormysql"),
    Package("tornadis", "0.8.1", "tornadis"),
    Package("tornado-alf", "0.4.4", "tornadoalf"),
    Package("tornado-json", "1.3.4", "tornado_json"),
    Package("tornado-jsonapi", "0.1.4", "tornado_jsonapi test"),
    Package("tornado-mysql", "0.5.1", "tornado_mysql"),
    Package(
        "tornado-proxy-handlers",
        "0.0.6",
        "tornado_proxy_handlers",
        "tornado_proxy_handlers",
    ),
    Package("toro", "1.0.1", "toro test examples", "test"),
    Package("voila", "0.1.23", "voila"),
    Package("webthing", "0.11.3", "webthing example"),
)
