"""Shell completions offer every command and option."""

import re
import subprocess

import pytest

from crawler_app.commands.arguments import SHELLS
from crawler_app.commands.command_table import make_complete_parser


def in_bash(script, words, here):
    """Return what bash offers for the last word."""
    line = " ".join(f"'{word}'" for word in ("gencrawl", *words))
    source = (
        f"{script}\nCOMP_WORDS=({line}); COMP_CWORD=$((${{#COMP_WORDS[@]}}-1))\n"
        'compopt() { :; }\n_shtab_gencrawl\nprintf "%s\\n" "${COMPREPLY[@]}"\n'
    )
    return subprocess.check_output(["bash", "-c", source], text=True, cwd=here)


@pytest.mark.once
@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (["cr"], "crawl"),
        (["postgres", "d"], "drop"),
        (["crawl", "--max-p"], "--max-pages"),
        (["crawl", "--no-rob"], "--no-robots"),
        (["crawl", "--scope", "h"], "host"),
        (["check", "--format", "js"], "json jsonl"),
        (["postgres", "work", "--sta"], "--stay --staging"),
        (["status", "a"], "a dir"),
        (["crawl", "--config", "a"], "a dir|a.toml"),
        (["check", "a"], "a dir|a.toml"),
        (["completion", "z"], "zsh"),
    ],
    ids=str,
)
def test_bash_completes(gencrawl, tmp_path, words, offered):
    tmp_path.joinpath("a dir").mkdir()
    tmp_path.joinpath("a.toml").touch()
    script = gencrawl("completion", "bash").out

    found = in_bash(script, words, tmp_path).replace("/\n", "\n").splitlines()

    wanted = offered.split("|") if " dir" in offered else offered.split()
    assert sorted(found) == sorted(wanted)


@pytest.mark.parametrize("shell", SHELLS)
def test_every_option_can_be_completed(gencrawl, shell):
    script = gencrawl("completion", shell).out

    parser = make_complete_parser()
    parsers = [parser, *parser.commands().values()]
    parsers += parser.commands()["postgres"].commands().values()
    flags = {f for each in parsers for f in re.findall(r"--[\w-]+", each.format_help())}
    assert len(flags) > 70
    for flag in flags:
        word = flag.lstrip("-") if shell == "fish" else flag
        assert re.search(rf"(?<![\w-]){word}(?![\w-])", script), flag
