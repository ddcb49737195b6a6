"""Legacy names of `tornado.util` for one source that runs on Python 2 and 3."""

__all__ = ["PY3", "b", "u"]

PY3 = True


def u(text: str) -> str:
    """Return the text unchanged: literals are text in Python 3.

    >>> u("caf\\xe9")
    'café'
    """
    return text


def b(text: str) -> bytes:
    """Return the bytes of a Python 2 literal.

    >>> b("caf\\xe9")
    b'caf\\xe9'
    """
    return text.encode("latin1")
