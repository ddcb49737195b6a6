"""``gencrawl completion``: completions for bash, zsh and fish.

The scripts are static: pressing Tab starts no Python.  They complete commands, options, the
words of an option that has a list of them, and names of files and directories.
"""

import argparse
import re
from collections.abc import Callable, Iterable

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


def render_bash(commands: Iterable[DescribedCommand]) -> str:
    """Return a script that bash sources."""
    commands = list(commands)
    names = " ".join(command.name for command in commands)
    lines = [
        "# Completions of gencrawl for bash.",
        "_gencrawl() {",
        "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}",
        "    local command=${COMP_WORDS[1]}",
        "    COMPREPLY=()",
        "    # bash makes three words of --option=value.",
        "    if [[ $word == = ]]; then word=",
        "    elif [[ $before == = ]]; then before=${COMP_WORDS[COMP_CWORD-2]}",
        "    fi",
        "    if (( COMP_CWORD == 1 )); then",
        f"        COMPREPLY=($(compgen -W '{names} help --help --version' -- \"$word\"))",
        "        return",
        "    fi",
        '    case "$command $before" in',
    ]
    for command in commands:
        for option in command.options:
            if option.metavar and not option.is_value_optional:
                patterns = "|".join(f'"{command.name} {flag}"' for flag in option.flags)
                lines.append(f"    {patterns}) {_bash_values(option)}; return ;;")
    lines += ["    esac", '    case "$command:$word" in']
    for command in commands:
        flags = " ".join(flag for option in command.options for flag in option.flags)
        lines.append(f"    {command.name}:-*) {_bash_words(flags)} ;;")
        for argument in command.arguments:
            if argument.choices or argument.is_path:
                lines.append(f"    {command.name}:*) {_bash_values(argument)} ;;")
                break
    lines += [
        f"    help:*) {_bash_words(names)} ;;",
        "    esac",
        "}",
        "complete -F _gencrawl gencrawl",
    ]
    return "\n".join(lines) + "\n"


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


def render_zsh(commands: Iterable[DescribedCommand]) -> str:
    """Return an autoloaded function for zsh."""
    commands = list(commands)
    lines = [
        "#compdef gencrawl",
        "# Completions of gencrawl for zsh.",
        "_gencrawl() {",
        "    local -a commands",
        "    commands=(",
        *(f"        {_quoted(f'{c.name}:{c.help}')}" for c in commands),
        "    )",
        "    if (( CURRENT == 2 )); then",
        "        _describe command commands",
        "        return",
        "    fi",
        "    local command=$words[2]",
        "    shift words",
        "    (( CURRENT-- ))",
        "    case $command in",
    ]
    for command in commands:
        lines.append(f"    {command.name})")
        specs = [_zsh_option(option, flag) for option, flag in _each_flag(command)]
        specs += [_zsh_argument(argument) for argument in command.arguments]
        lines.append("        _arguments -s \\")
        lines += [f"            {_quoted(spec)} \\" for spec in specs[:-1]]
        lines += [f"            {_quoted(specs[-1])}", "        ;;"]
    lines += [
        "    help) _describe command commands ;;",
        "    esac",
        "}",
        'if [[ $funcstack[1] == _gencrawl ]]; then _gencrawl "$@"',
        "else compdef _gencrawl gencrawl",
        "fi",
    ]
    return "\n".join(lines) + "\n"


def _each_flag(command: DescribedCommand) -> list[tuple[DescribedOption, str]]:
    return [(option, flag) for option in command.options for flag in option.flags]


def _zsh_option(option: DescribedOption, flag: str) -> str:
    # The star: also if it was given before, since some options can be repeated.
    text = re.sub(r"([\[\]:])", r"\\\1", option.help)
    if not option.metavar:
        return f"*{flag}[{text}]"
    colon = "::" if option.is_value_optional else ":"
    equals = "=-" if option.is_value_optional else ""
    return f"*{flag}{equals}[{text}]{colon}{_zsh_values(option)}"


def _zsh_argument(argument: DescribedOption) -> str:
    return f"*:{_zsh_values(argument)}"


def _zsh_values(option: DescribedOption) -> str:
    name = option.metavar.replace(":", "\\:")
    if option.choices:
        return f"{name}:({' '.join(option.choices)})"
    if option.is_path:
        return f"{name}:_files" + (" -/" if option.is_directory else "")
    return f"{name}:"


def render_fish(commands: Iterable[DescribedCommand]) -> str:
    """Return a script for fish."""
    commands = list(commands)
    names = " ".join(command.name for command in commands)
    after_help = "-n '__fish_seen_subcommand_from help'"
    lines = [
        "# Completions of gencrawl for fish.",
        "complete -c gencrawl -f",
        "complete -c gencrawl -n __fish_use_subcommand -l help -d 'show the help'",
        "complete -c gencrawl -n __fish_use_subcommand -l version -d 'show the version'",
        f"complete -c gencrawl {after_help} -a {_quoted(names)}",
    ]
    for command in commands:
        lines.append(
            f"complete -c gencrawl -n __fish_use_subcommand -a {command.name} "
            f"-d {_quoted(command.help)}"
        )
        begin = f"complete -c gencrawl -n '__fish_seen_subcommand_from {command.name}'"
        for option in command.options:
            flags = " ".join(map(_fish_flag, option.flags))
            lines.append(
                f"{begin} {flags}{_fish_values(option)} -d {_quoted(option.help)}"
            )
        for argument in command.arguments:
            values = _fish_values(argument).removeprefix(" -x")
            if values:
                lines.append(f"{begin}{values}")
    return "\n".join(lines) + "\n"


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
    return " -x" if option.metavar and not option.is_value_optional else ""


def _quoted(text: str) -> str:
    """Quote a text for a shell; in fish, a quote is escaped in another way."""
    return "'" + text.replace("\\", "\\\\").replace("'", "’") + "'"


RENDER_BY_SHELL: dict[str, Callable[[Iterable[DescribedCommand]], str]] = {
    "bash": render_bash,
    "zsh": render_zsh,
    "fish": render_fish,
}
