"""Completions and the manual page: both have every option, and real shells take them."""

import pathlib
import re
import shutil
import subprocess

import pytest

from crawler_app.commands.completion import RENDER_BY_SHELL
from crawler_app.commands.described import described
from crawler_app.commands.main import COMMANDS, make_parser
from crawler_app.commands.manual import render_manual

MANUAL = pathlib.Path(__file__).parents[3] / "docs" / "gencrawl.1"


@pytest.fixture(scope="module")
def commands():
    return described(make_parser()[1], {name: c.help for name, c in COMMANDS.items()})


def complete_in_bash(script, words, here):
    """Return what bash offers for the last word."""
    line = " ".join(f"'{word}'" for word in ("gencrawl", *words))
    source = (
        f"{script}\nCOMP_WORDS=({line}); COMP_CWORD=$((${{#COMP_WORDS[@]}}-1))\n"
        'compopt() { :; }\n_gencrawl\nprintf "%s\\n" "${COMPREPLY[@]}"\n'
    )
    return subprocess.check_output(["bash", "-c", source], text=True, cwd=here)


def complete_in_fish(script, words, here):
    if shutil.which("fish") is None:
        pytest.skip("fish is not installed")
    source = f"{script}\ncomplete -C 'gencrawl {' '.join(words)}'"
    command = ["fish", "--no-config", "-c", source]
    offered = subprocess.check_output(command, text=True, cwd=here)
    return re.sub("(?m)\t.*", "", offered)


@pytest.mark.once
@pytest.mark.parametrize(
    ("shell", "complete"), [("bash", complete_in_bash), ("fish", complete_in_fish)]
)
@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (["cr"], "crawl crawls"),
        (["crawl", "--max-p"], "--max-pages --max-path-segments"),
        (["crawl", "--scope", "h"], "host"),
        (["check", "--format", "js"], "json jsonl"),
        (["status", "a"], "a dir"),
        (["crawl", "--config", "a"], "a dir|a.toml"),
        (["completion", "z"], "zsh"),
    ],
    ids=str,
)
def test_shell_completes(commands, tmp_path, shell, complete, words, offered):
    tmp_path.joinpath("a dir").mkdir()
    tmp_path.joinpath("a.toml").touch()
    script = RENDER_BY_SHELL[shell](commands)

    found = complete(script, words, tmp_path).replace("/\n", "\n").splitlines()

    wanted = offered.split("|") if " dir" in offered else offered.split()
    assert sorted(found) == sorted(wanted)


@pytest.mark.once
def test_zsh_takes_its_script(commands):
    if shutil.which("zsh") is None:
        pytest.skip("zsh is not installed")
    script = RENDER_BY_SHELL["zsh"](commands)

    subprocess.run(["zsh", "-f", "-n"], input=script, text=True, check=True)


def test_zsh_completes_one_rest_of_arguments_for_each_command(commands):
    script = RENDER_BY_SHELL["zsh"](commands)

    for part in script.split("_arguments -s")[1:]:
        arguments = part.partition(";;")[0]
        assert len(re.findall(r"(?m)^ +'\*:", arguments)) <= 1
    assert "'1:DIR:_files -/'" in script  # of search


@pytest.mark.parametrize("shell", RENDER_BY_SHELL)
def test_every_option_can_be_completed(commands, gencrawl, shell):
    script = gencrawl("completion", shell).out

    assert script == RENDER_BY_SHELL[shell](commands)
    for command in commands:
        for option in command.options:
            for flag in option.flags:
                long_flag = flag.lstrip("-") if shell == "fish" else flag
                assert re.search(rf"(?<![\w-]){long_flag}(?![\w-])", script)


def test_manual_page_is_current_and_has_every_option(commands, gencrawl):
    page = gencrawl("man").out

    assert page == render_manual(commands)
    assert page == MANUAL.read_text(), "run `gencrawl man > docs/gencrawl.1`"
    text = page.replace("\\-", "-")
    for command in commands:
        for option in command.options:
            assert option.flags[-1] == "--help" or rf"\fB{option.flags[-1]}\fR" in text


def test_manual_page_has_only_requests_of_its_own(commands):
    requests = set(re.findall(r"(?m)^[.'](\S*)", render_manual(commands)))

    assert requests == {"TH", "SH", "SS", "TP", "PP", "br"}
