"""Jupyter Kernel Gateway, which serves kernels to other servers, and cells as an API."""

from tests.applications.application import Application, Environment
from tests.applications.notebook_client import TOKEN, Client
from tests.applications.notebook_requirements import FOR_NEW, FOR_OLD
from tests.applications.processes import Running

__all__ = ["APPLICATION"]

REQUIREMENTS = """
    jupyter_kernel_gateway==2.1.0
    notebook==5.4.1
    send2trash==1.8.0
"""

FURTHER_FOR_OLD = """
    tornado==4.5.3
    certifi==2021.10.8
    charset-normalizer==2.0.12
    idna==3.4
    requests==2.27.1
    urllib3==1.26.15
"""


async def use_gateway(program: Running) -> None:
    """Run cells in two kernels of the gateway at once."""
    client = Client(
        f"http://127.0.0.1:{program.port}", {"Authorization": f"token {TOKEN}"}
    )
    async with program.step("two kernels start"):
        ids = [(await client.post("/api/kernels"))["id"] for _ in range(2)]
    first, second = (f"/api/kernels/{kernel_id}" for kernel_id in ids)
    async with (
        program.step("one runs a cell while the other waits"),
        client.kernel(first) as left,
        client.kernel(second) as right,
    ):
        waiting = await left.begin("import time; time.sleep(1); print('tea')")
        assert await right.printed("print('milk')") == "milk\n"
        assert (await left.until("stream", waiting))["text"] == "tea\n"
    async with program.step("a kernel restarts"):
        await client.post(first + "/restart")
        async with client.kernel(first) as kernel:
            assert await kernel.printed("print(6 * 7)") == "42\n"
    async with program.step("both are shut down"):
        await client.delete(first)
        await client.delete(second)
        assert await client.get("/api/kernels") == "[]"


APPLICATION = Application(
    name="Jupyter Kernel Gateway",
    version="2.1.0",
    job=use_gateway,
    command="-m kernel_gateway",
    options=(
        "--KernelGatewayApp.ip=127.0.0.1",
        "--KernelGatewayApp.port={port}",
        f"--KernelGatewayApp.auth_token={TOKEN}",
        "--JupyterWebsocketPersonality.list_kernels=True",
    ),
    new=Environment(REQUIREMENTS + "requests==2.31.0" + FOR_NEW),
    old=Environment(REQUIREMENTS + FURTHER_FOR_OLD + FOR_OLD, python="3.6"),
)
