"""What is known of a page, as the YAML at the head of a Markdown file.  Pure."""

from collections.abc import Mapping

from crawler_app.base.text.escaping import json_text

__all__ = ["front_matter"]


def front_matter(values: Mapping[str, str]) -> str:
    """Return some lines of YAML between two rules; values that are empty are left out.

    Strings are written as in JSON, which is YAML too, so that nothing in them has a meaning.

    >>> print(front_matter({"url": "http://a.test/", "title": 'Say "no: yes"'}), end="")
    ---
    url: "http://a.test/"
    title: "Say \\"no: yes\\""
    ---
    """
    lines = [f"{name}: {json_text(value)}" for name, value in values.items() if value]
    return "\n".join(["---", *lines, "---", ""])
