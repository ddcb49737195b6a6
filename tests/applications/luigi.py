"""luigi's central scheduler, which workers ask over HTTP what to run."""

import json
from urllib.parse import urlencode

from tests.applications.application import Application, Environment
from tests.applications.notebook_client import Client
from tests.applications.processes import Running

__all__ = ["APPLICATION"]

REQUIREMENTS = """
    --no-deps
    luigi==2.8.3
    docutils==0.17.1
    lockfile==0.12.2
    python-daemon==2.1.2
    python_dateutil==2.8.2
    six==1.16.0
"""


async def use_luigi(program: Running) -> None:
    """Run two tasks, one of which requires the other."""
    async with program.step("a worker runs two tasks"):
        port = f"--scheduler-port={program.port}"
        await program.call("-m", "luigi_tasks", port)
        assert (program.folder / "brew").read_text() == "hot tea"
    client = Client(f"http://127.0.0.1:{program.port}", {})
    async with program.step("the scheduler shows them as done"):
        asked = json.dumps({"status": "DONE", "upstream_status": ""})
        answer = await client.get(f"/api/task_list?{urlencode({'data': asked})}")
        done = json.loads(answer)["response"].values()
        assert {task["display_name"] for task in done} == {"Boil()", "Brew()"}
    async with program.step("its page opens"):
        assert "Luigi Task Visualiser" in await client.get("/")


APPLICATION = Application(
    name="luigi",
    version="2.8.3",
    job=use_luigi,
    command="-m luigid",
    options=("--address=127.0.0.1", "--port={port}", "--state-path={folder}/state"),
    new=Environment(REQUIREMENTS + "tornado==6.5.6 setuptools==65.5.0"),
    old=Environment(REQUIREMENTS + "tornado==4.5.3", python="3.6"),
)
