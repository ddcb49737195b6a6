"""``gencrawl sign-key``: makes keys that sign requests, and their public directory."""

import argparse
import json
import os
import sys
import tempfile
from pathlib import Path

from crawler_app.base.errors import ConfigError
from crawler_app.commands.arguments import STDOUT
from crawler_app.commands.exit_status import OK
from crawler_app.commands.output_file import opened_output, require_writable
from crawler_app.web.fetcher import signing_module

__all__ = ["sign_key"]


def sign_key(arguments: argparse.Namespace) -> int:
    """Make the keys that there are not, and write the directory of all."""
    signing = signing_module("message_signatures")
    where = arguments.output or STDOUT
    require_writable(where)
    if not arguments.keys:
        raise ConfigError("FILE is missing; see `gencrawl sign-key --help`")
    for path in map(Path, arguments.keys):
        if not path.exists():
            _make(path, signing.new_pem())
            print(f"made {path}, which only you can read", file=sys.stderr)
    keys = [signing.SigningKey.read(path, "FILE") for path in arguments.keys]
    jwks = [{**key.public_jwk, "kid": key.thumbprint, "use": "sig"} for key in keys]
    with opened_output(where) as output:
        output.write(json.dumps({"keys": jwks}, indent=2) + "\n")
    return OK


def _make(path: Path, pem: bytes) -> None:
    """Write a new key; a file that another process has made meanwhile is kept."""
    try:
        # A temporary file has mode 600, and a link is made only once it is complete.
        with tempfile.NamedTemporaryFile(dir=path.absolute().parent) as file:
            file.write(pem)
            file.flush()
            os.fsync(file.fileno())
            os.link(file.name, path)
    except OSError as exc:
        raise ConfigError(f"cannot write {path}: {exc.strerror}") from None
