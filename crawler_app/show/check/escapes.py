"""Makes any text harmless in the formats of a check.  Pure."""

from xml.sax.saxutils import quoteattr

from crawler_app.base.text.escaping import printable

__all__ = ["in_markdown", "in_xml", "of_command", "xml_attribute"]


def of_command(text: str, more: str = "") -> str:
    """Escape a value of a workflow command, which may have several lines.

    Args:
        more: What ends the value of a parameter.
    """
    text = "\n".join(map(printable, text.split("\n")))
    for char in "%\n" + more:
        text = text.replace(char, f"%{ord(char):02X}")
    return text


def in_markdown(text: str) -> str:
    """Escape what Markdown and HTML would take for markup."""
    text = printable(text).replace("\\", "\\\\")
    for char in "|<>[]*_`":
        text = text.replace(
            char, f"\\{char}" if char not in "<>" else f"&#{ord(char)};"
        )
    return text


def in_xml(text: str) -> str:
    """Replace characters that XML does not allow."""
    return "".join(
        c if c in "\t\n" or c >= " " and c not in "\ufffe\uffff" else "?" for c in text
    )


def xml_attribute(text: str) -> str:
    """Return the value of an attribute in XML, with its quotes."""
    return quoteattr(in_xml(printable(text)))
