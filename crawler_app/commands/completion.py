"""``gencrawl completion``: completions for bash, zsh and fish.

The scripts are static: pressing Tab starts no Python.  They complete commands, options, the
words of an option that has a list of them, and names of files and directories.
"""

import argparse
import re
from collections.abc import Callable, Iterable, Iterator, Sequence

from crawler_app.commands.described import DescribedCommand, DescribedOption
from crawler_app.commands.exit_status import OK

__all__ = ["RENDER_BY_SHELL", "add_completion", "completion"]

INSTALL = """\
to install, for yourself:
  bash  gencrawl completion bash > \\
            ~/.local/share/bash-completion/completions/gencrawl
  zsh   gencrawl completion zsh > DIR/_gencrawl, with DIR in $fpath
  fish  gencrawl completion fish > ~/.config/fish/completions/gencrawl.fish
"""


def add_completion(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `completion`."""
    parser.epilog = INSTALL
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    shells = list(RENDER_BY_SHELL)
    parser.add_argument(
        "shell", metavar="SHELL", choices=shells, help=" or ".join(shells)
    )
    parser.set_defaults(command=completion)


def completion(arguments: argparse.Namespace) -> int:
    """Print the completions for a shell."""
    print(RENDER_BY_SHELL[arguments.shell](arguments.described()), end="")
    return OK


BASH = """\
# Completions of gencrawl for bash.
_gencrawl() {
    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}
    local command=${COMP_WORDS[1]}
    COMPREPLY=()
    # bash makes three words of --option=value.
    if [[ $word == = ]]; then word=
    elif [[ $before == = ]]; then before=${COMP_WORDS[COMP_CWORD-2]}
    fi
    if (( COMP_CWORD == 1 )); then
        COMPREPLY=($(compgen -W '@NAMES@ help --help --version' -- "$word"))
        return
    fi
    case "$command $before" in
@VALUES@
    esac
    case "$command:$word" in
@ARGUMENTS@
    help:*) COMPREPLY=($(compgen -W '@NAMES@' -- "$word")) ;;
    esac
}
complete -F _gencrawl gencrawl
"""


def render_bash(commands: Sequence[DescribedCommand]) -> str:
    """Return a script that bash sources."""
    values = [
        f"    {'|'.join(patterns)}) {_bash_values(option)}; return ;;"
        for command in commands
        for option in command.options
        if option.needs_value
        if (patterns := [f'"{command.name} {flag}"' for flag in option.flags])
    ]
    arguments = [line for command in commands for line in _bash_arguments(command)]
    return _filled(BASH, NAMES=[_names(commands)], VALUES=values, ARGUMENTS=arguments)


def _bash_arguments(command: DescribedCommand) -> Iterator[str]:
    yield f"    {command.name}:-*) {_bash_words(' '.join(command.flags))} ;;"
    for argument in command.arguments:
        if argument.choices or argument.is_path:
            yield f"    {command.name}:*) {_bash_values(argument)} ;;"
            return


def _bash_words(words: str) -> str:
    return f"COMPREPLY=($(compgen -W '{words}' -- \"$word\"))"


def _bash_values(option: DescribedOption) -> str:
    if option.choices:
        return _bash_words(" ".join(option.choices))
    if option.is_path:
        kind = "-d" if option.is_directory else "-f"
        # A name may contain blanks; with -o filenames, bash escapes them.
        return (
            f'compopt -o filenames; mapfile -t COMPREPLY < <(compgen {kind} -- "$word")'
        )
    return ":"


ZSH = """\
#compdef gencrawl
# Completions of gencrawl for zsh.
_gencrawl() {
    local -a commands
    commands=(
@COMMANDS@
    )
    if (( CURRENT == 2 )); then
        _describe command commands
        return
    fi
    local command=$words[2]
    shift words
    (( CURRENT-- ))
    case $command in
@ARGUMENTS@
    help) _describe command commands ;;
    esac
}
if [[ $funcstack[1] == _gencrawl ]]; then _gencrawl "$@"
else compdef _gencrawl gencrawl
fi
"""


def render_zsh(commands: Sequence[DescribedCommand]) -> str:
    """Return an autoloaded function for zsh."""
    return _filled(
        ZSH,
        COMMANDS=[f"        {_quoted(f'{c.name}:{c.help}')}" for c in commands],
        ARGUMENTS=list(map(_zsh_command, commands)),
    )


def _zsh_command(command: DescribedCommand) -> str:
    specs = [
        _zsh_option(option, flag) for option in command.options for flag in option.flags
    ]
    last = len(command.arguments)
    for place, argument in enumerate(command.arguments, 1):
        specs.append(f"{'*' if place == last else place}:{_zsh_values(argument)}")
    lines = ["        _arguments -s", *map(_quoted, specs)]
    whole = " \\\n            ".join(lines)
    return f"    {command.name})\n{whole}\n        ;;"


def _zsh_option(option: DescribedOption, flag: str) -> str:
    # The star: also if it was given before, since some options can be repeated.
    text = re.sub(r"([\[\]:])", r"\\\1", option.help)
    if not option.metavar:
        return f"*{flag}[{text}]"
    colon = "::" if option.is_value_optional else ":"
    equals = "=-" if option.is_value_optional else ""
    return f"*{flag}{equals}[{text}]{colon}{_zsh_values(option)}"


def _zsh_values(option: DescribedOption) -> str:
    name = option.metavar.replace(":", "\\:")
    if option.choices:
        return f"{name}:({' '.join(option.choices)})"
    if option.is_path:
        return f"{name}:_files" + (" -/" if option.is_directory else "")
    return f"{name}:"


FISH = """\
# Completions of gencrawl for fish.
complete -c gencrawl -f
complete -c gencrawl -n __fish_use_subcommand -l help -d 'show the help'
complete -c gencrawl -n __fish_use_subcommand -l version -d 'show the version'
complete -c gencrawl -n '__fish_seen_subcommand_from help' -a '@NAMES@'
@COMMANDS@
"""


def render_fish(commands: Sequence[DescribedCommand]) -> str:
    """Return a script for fish."""
    lines = [line for command in commands for line in _fish_command(command)]
    return _filled(FISH, NAMES=[_names(commands)], COMMANDS=lines)


def _fish_command(command: DescribedCommand) -> Iterator[str]:
    yield (
        f"complete -c gencrawl -n __fish_use_subcommand -a {command.name} "
        f"-d {_quoted(command.help)}"
    )
    begin = f"complete -c gencrawl -n '__fish_seen_subcommand_from {command.name}'"
    for option in command.options:
        flags = " ".join(map(_fish_flag, option.flags))
        yield f"{begin} {flags}{_fish_values(option)} -d {_quoted(option.help)}"
    for argument in command.arguments:
        if values := _fish_values(argument).removeprefix(" -x"):
            yield begin + values


def _fish_flag(flag: str) -> str:
    kind = "-l" if flag.startswith("--") else "-s"
    return f"{kind} {flag.lstrip('-')}"


def _fish_values(option: DescribedOption) -> str:
    """Return the values that follow an option; empty if it takes none."""
    if option.choices:
        return f" -x -a {_quoted(' '.join(option.choices))}"
    if option.is_directory:
        return " -x -a '(__fish_complete_directories)'"
    if option.is_path:
        return " -r -F"
    return " -x" if option.needs_value else ""


def _names(commands: Iterable[DescribedCommand]) -> str:
    return " ".join(command.name for command in commands)


def _filled(template: str, **lines_by_name: Iterable[str]) -> str:
    """Return a template with lines in the place of ``@NAME@``."""
    for name, lines in lines_by_name.items():
        template = template.replace(f"@{name}@", "\n".join(lines))
    return template


def _quoted(text: str) -> str:
    """Quote a text for any shell; a quote in it becomes one that needs no escape."""
    return "'" + text.replace("'", "’") + "'"


RENDER_BY_SHELL: dict[str, Callable[[Sequence[DescribedCommand]], str]] = {
    "bash": render_bash,
    "zsh": render_zsh,
    "fish": render_fish,
}
