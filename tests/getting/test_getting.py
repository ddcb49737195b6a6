"""Every way to get the program that the documentation shows, as printed, from a copy of the
checkout with a git repository of its own.

Not part of the suite, because it installs packages for a minute: `.ci/run` calls it.
"""

import functools
import json
import os
import re
import shutil
import subprocess
import sys
import textwrap
import threading
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
EXTRAS = re.compile(r"gencoro\[([a-z,]+)\]")
IGNORED = shutil.ignore_patterns(
    ".git", ".venv", "build", "dist", "_build", "__pycache__", "*.egg-info", ".*_cache"
)
BROKEN = '<!doctype html><title>Home</title>\n<a href="missing.html">gone</a>\n'


def run(command, cwd, status=0, **environment):
    """Run a snippet in bash, as the runner of GitHub does; return what it prints."""
    done = subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", command],
        cwd=cwd,
        env={**os.environ, **environment},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == status, done.stdout + done.stderr
    return done.stdout


def block(page, language, start):
    """Return the block of a page that begins with a text."""
    text = (ROOT / page).read_text(encoding="utf-8")
    blocks = re.findall(
        rf"^\.\. code-block:: {language}\n\n((?: {{3}}.*\n|\n)+)", text, re.MULTILINE
    )
    (found,) = [each for each in map(textwrap.dedent, blocks) if each.startswith(start)]
    return found


@pytest.fixture(scope="module")
def checkout(tmp_path_factory):
    """A clone of the repository."""
    folder = tmp_path_factory.mktemp("clone") / "gencoro"
    shutil.copytree(ROOT, folder, ignore=IGNORED)
    commit(folder)
    return folder


def commit(folder):
    who = "-c user.name=me -c user.email=me@a.test"
    run(f"git init -q && git add -A . && git {who} commit -qm x --no-verify", folder)


@pytest.fixture(scope="module")
def served(checkout):
    """The URL of the clone on a server, as pip takes no file for a named package."""
    run("git update-server-info", checkout)
    handler = functools.partial(SimpleHTTPRequestHandler, directory=checkout / ".git")
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


@pytest.fixture
def site(tmp_path):
    """A repository with a page that has a broken link."""
    page = tmp_path / "build/html/index.html"
    page.parent.mkdir(parents=True)
    page.write_text(BROKEN)
    source = tmp_path / "docs/index.html"
    source.parent.mkdir()
    source.write_text(BROKEN)
    return tmp_path


@pytest.fixture(scope="module")
def installed(checkout, tmp_path_factory):
    """PATH with a fresh environment, in which the snippet of the start page has run."""
    venv = tmp_path_factory.mktemp("environment") / ".venv"
    path = f"{venv}/bin:{os.environ['PATH']}"
    run(f"{sys.executable} -m venv {venv}", checkout)
    home = str(venv.parent)
    run(block("docs/index.rst", "sh", "pip wheel"), checkout, PATH=path, HOME=home)
    return path


def test_snippet_of_the_start_page_installs_the_program(installed, tmp_path):
    from gencoro import __version__

    assert run("gencrawl --version", tmp_path, PATH=installed) == f"{__version__}\n"


def test_single_file_crawls_without_the_environment_that_made_it(
    installed, checkout, tmp_path
):
    made = run(block("docs/index.rst", "sh", "pip install"), checkout, PATH=installed)
    shutil.move(checkout / "gencrawl.pex", tmp_path)
    (tmp_path / "pages").mkdir()
    (tmp_path / "pages/index.html").write_text(BROKEN)

    said = run("./gencrawl.pex check pages --no-external", tmp_path, status=3)

    assert "64 pages" in made
    assert "missing.html" in said


def test_extras_in_documentation_and_messages_exist_and_can_be_installed_together(
    installed, checkout, tmp_path
):
    pages = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.rst")]
    modules = [*ROOT.glob("gencoro/**/*.py"), *ROOT.glob("crawler_app/**/*.py")]
    texts = [path.read_text(encoding="utf-8") for path in pages + modules]
    found = {
        e for text in texts for names in EXTRAS.findall(text) for e in names.split(",")
    }

    said = run(
        f"pip install --dry-run --report - --quiet 'gencoro[{','.join(sorted(found))}]'",
        tmp_path,
        PATH=installed,
        PIP_FIND_LINKS=f"{Path(installed.split(':')[0]).parents[1]}/wheels "
        + os.environ.get("PIP_FIND_LINKS", ""),
    )

    assert {"crawler", "analysis", "sign"} <= found
    (made,) = [
        each["metadata"]
        for each in json.loads(said)["install"]
        if each["metadata"]["name"] == "gencoro"
    ] or [{"provides_extra": found}]
    assert found <= set(made["provides_extra"])


def test_snippet_for_gitlab_writes_its_report(served, site, tmp_path_factory):
    job = yaml.safe_load(block("docs/check.rst", "yaml", "links:"))["links"]
    venv = tmp_path_factory.mktemp("gitlab")
    run(f"{sys.executable} -m venv .", venv)

    run(
        "\n".join(job["script"]),
        site,
        status=3,
        PATH=f"{venv}/bin:{os.environ['PATH']}",
        GENCORO=served,
    )

    (finding,) = json.loads(
        (site / job["artifacts"]["reports"]["codequality"]).read_text()
    )
    assert finding["location"]["path"] == "docs/index.html"


# The action: a runner reads action.yml, and runs its steps with the inputs.


@pytest.fixture(scope="module")
def action(checkout):
    """The action, of which the first step, which installs, has run."""
    action = yaml.safe_load((checkout / "action.yml").read_text())
    run_steps(action, action["runs"]["steps"][:1], checkout)
    return action


def run_steps(
    action, steps, checkout, folder=None, status=0, inputs=None, **environment
):
    """Run steps as a runner does, which puts the inputs into `env`."""
    values = {name: each.get("default") for name, each in action["inputs"].items()}
    values |= inputs or {}
    (step,) = steps
    assert step["shell"] == "bash"
    assert "${{" not in step["run"]
    given = {
        name: re.sub(r"\${{ inputs\.(\w+) }}", lambda found: values[found[1]], text)
        for name, text in step["env"].items()
    }
    return run(
        step["run"],
        folder or checkout,
        status,
        GITHUB_ACTION_PATH=str(checkout),
        RUNNER_TEMP=str(checkout.parent),
        **environment,
        **given,
    )


def run_action(action, site, checkout, status=0, **inputs):
    """Run the check; return its outputs, what it prints and the summary."""
    files = {name: site / name for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")}
    environment = {name: str(path) for name, path in files.items()}
    steps = action["runs"]["steps"][1:]
    printed = run_steps(action, steps, checkout, site, status, inputs, **environment)
    lines = files["GITHUB_OUTPUT"].read_text().splitlines()
    outputs = dict(line.split("=", 1) for line in lines)
    return outputs, printed, files["GITHUB_STEP_SUMMARY"].read_text()


def test_action_shows_findings_at_their_source(action, site, checkout):
    outputs, printed, summary = run_action(
        action,
        site,
        checkout,
        3,
        target="build/html",
        sources="docs",
        options="--no-external\n",
    )

    assert outputs == {"findings": "1", "status": "3"}
    assert "::error file=docs/index.html," in printed
    assert "\n    docs/index.html:2:" in summary


def test_action_takes_its_inputs_as_words_not_as_code(action, site, checkout):
    trap = "$(touch trapped)`touch trapped`\"; touch trapped; '"

    outputs, _, _ = run_action(
        action,
        site,
        checkout,
        2,
        target=trap,
        sources=trap,
        options=f"--exclude\n{trap}",
    )

    assert outputs["status"] == "2"
    assert not (site / "trapped").exists()


def test_action_without_findings_ends_with_0(action, site, checkout):
    (site / "build/html/missing.html").write_text("<!doctype html><title>Here</title>")

    outputs, _, _ = run_action(action, site, checkout, target="build/html")

    assert outputs == {"findings": "0", "status": "0"}


def test_hook_stops_a_commit_with_a_broken_link(site, checkout, tmp_path_factory):
    snippet = block("docs/check.rst", "yaml", "repos:")
    revision = run("git rev-parse HEAD", checkout).strip()
    config = snippet.replace("URL", checkout.as_uri()).replace("REVISION", revision)
    (site / ".pre-commit-config.yaml").write_text(config)
    home = {"PRE_COMMIT_HOME": str(tmp_path_factory.mktemp("pre-commit"))}
    git = "git -c user.name=me -c user.email=me@a.test"
    run(
        "git init -q . && git add -A && "
        f"{sys.executable} -m pre_commit install --hook-type pre-commit",
        site,
        **home,
    )

    run(f"{git} commit -qm broken", site, status=1, **home)
    (site / "build/html/missing.html").write_text("<!doctype html><title>Here</title>")
    run(f"git add -A && {git} commit -qm mended", site, **home)

    assert run("git log --format=%s", site) == "mended\n"
