"""Legacy `tornado.locale`."""

import functools
from collections.abc import Callable, Iterable
from typing import Any

__all__ = ["get_locale", "get_supported_locales", "make_locale"]


def make_locale(original: Callable[..., None]) -> Callable[..., None]:
    """Make ``Locale(code, translations)`` store the translations."""

    @functools.wraps(original)
    def __init__(self: Any, code: str, translations: Any = None) -> None:
        if translations is not None:
            # Set first, since the constructor already translates.
            self.translations = translations
        original(self, code)

    return __init__


def get_locale(original: "classmethod[Any, Any, Any]") -> "classmethod[Any, Any, Any]":
    """Make ``Locale.get`` create its cache if missing: legacy tests delete it."""
    get = original.__func__

    @functools.wraps(get)
    def wrapper(cls: Any, code: str) -> Any:
        if not hasattr(cls, "_cache"):
            cls._cache = {}
        return get(cls, code)

    return classmethod(wrapper)


def get_supported_locales(
    original: Callable[[], Iterable[str]],
) -> Callable[..., Iterable[str]]:
    """Accept ``get_supported_locales(cls)``; the argument had no effect."""

    @functools.wraps(original)
    def wrapper(cls: Any = None) -> Iterable[str]:
        del cls
        return original()

    return wrapper
