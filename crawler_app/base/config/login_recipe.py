"""A login recipe: how to log in to a site, in a TOML file of its own.

Rule: no secret is in the file.  A value takes it from the environment or from a file that only its
owner can read, as ``${NAME}``, and no error shows it.
"""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Self

from crawler_app.base.config import validators
from crawler_app.base.config.option import option, options_of
from crawler_app.base.config.secret_values import REFERENCE, filled, secrets_in
from crawler_app.base.config.toml import read_config_file
from crawler_app.base.config.validators import count
from crawler_app.base.errors import ConfigError
from crawler_app.base.urls import canonicalize, origin_of

__all__ = ["LoginRecipe"]

# Where the token of an answer goes in `send`.
TOKEN = "{token}"

SIGNS = ("text:", "link:", "cookie:")

_SECRET_NAME = re.compile("pass|pwd|secret|token|otp", re.IGNORECASE)


def _require_sign(name: str, value: str) -> None:
    is_right = value.startswith(SIGNS) and len(value.partition(":")[2]) > 0
    if value and not is_right:
        raise ConfigError(
            f"{name} is {value!r}; it must be text:TEXT, link:PART-OF-A-URL or cookie:NAME"
        )


def _require_fields(name: str, value: tuple[str, ...]) -> None:
    for text in value:
        key, equals, content = text.partition("=")
        if not (key and equals):
            raise ConfigError(f"{name} must be a list of texts such as 'user=alice'")
        if _SECRET_NAME.search(key) and not REFERENCE.search(content):
            raise ConfigError(
                f"{name}: a secret does not belong in the file; write '{key}=${{NAME}}', "
                "and set NAME in the environment or in the file that `secrets` names"
            )


@dataclass(frozen=True)
class LoginRecipe:
    """How to log in, and how to see that one is logged in.

    Raises:
        ConfigError: a value is not allowed.

    >>> recipe = LoginRecipe("http://a.test/in", ("user=me",), logged_in="link:/logout")
    >>> recipe.values_by_field()
    {'user': 'me'}
    """

    url: str = option(
        "", "page of the login form, or where JSON is sent", metavar="URL"
    )
    fields: tuple[str, ...] = option(
        (), "what to fill in, NAME=VALUE each", rule=_require_fields, is_secret=True
    )
    login_origin: str = option(
        "", "origin of the form, if `url` leads to another", metavar="ORIGIN"
    )
    form: str = option("", "id, name or action of the form, if the page has several")
    json: bool = option(False, "send the fields as JSON")
    token: str = option(
        "", "where the token is in the JSON of the answer, such as data.token"
    )
    send: str = option(
        "Authorization: Bearer {token}", "request header that carries the token"
    )
    secrets: str = option(
        "",
        "file of NAME=VALUE lines that only its owner can read",
        is_path=True,
        rule=validators.require_path,
    )
    logged_in: str = option("", "what shows that one is logged in", rule=_require_sign)
    max_logins: int = option(10, "end the crawl after this many", rule=count(1, 1000))
    # Set by `read`.
    _secret_by_name: ClassVar[Mapping[str, str]] = {}

    def __post_init__(self) -> None:
        object.__setattr__(self, "url", canonicalize(self.url))
        if self.login_origin:
            origin = origin_of(canonicalize(self.login_origin))
            object.__setattr__(self, "login_origin", origin)
        if not self.fields:
            raise ConfigError(
                "fields is empty; give what the form wants, NAME=VALUE each"
            )
        if not (self.logged_in or self.token):
            raise ConfigError(
                "logged-in is missing, so that no login could be seen to succeed; it must be "
                "text:TEXT, link:PART-OF-A-URL or cookie:NAME"
            )
        if self.token and not (self.json and TOKEN in self.send and ":" in self.send):
            raise ConfigError(
                "a token needs `json = true`, and `send` such as "
                "'Authorization: Bearer {token}'"
            )

    @classmethod
    def read(cls, path: str) -> Self:
        """Read a recipe, and the secrets that it refers to.

        Raises:
            ConfigError: it cannot be read, a value is not allowed, or a secret is missing or
                readable by others.
        """
        known = options_of(cls)
        try:
            recipe = cls(**read_config_file(path, known))
            secrets = dict(os.environ) | secrets_in(recipe.secrets)
            object.__setattr__(recipe, "_secret_by_name", secrets)
            recipe.values_by_field()  # raises if a secret is missing
        except (ConfigError, ValueError) as exc:
            raise ConfigError(
                f"{exc}" if path in str(exc) else f"{path}: {exc}"
            ) from None
        return recipe

    def values_by_field(self) -> dict[str, str]:
        """Return the fields with their secrets.

        Raises:
            ConfigError: one is missing.
        """
        pairs = (text.partition("=") for text in self.fields)
        return {name: filled(value, self._secret_by_name) for name, _, value in pairs}
