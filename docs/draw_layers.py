"""Draws the architecture, from .importlinter, as layers.svg: ``python docs/draw_layers.py``.

Each box is a module or a package, with the first line of its docstring; it may import what is
in the rows below its own.
"""

import ast
import configparser
import html
import re
import textwrap
from pathlib import Path

__all__ = ["draw", "main"]

ROOT = Path(__file__).resolve().parent.parent
PICTURE = ROOT / "docs" / "layers.svg"

WIDTH = 1000
MARGIN = 16
GAP = 8
LINE = 13
CHAR_WIDTH = 5.6  # of a letter of the captions, roughly
FILL_BY_PACKAGE = {
    "crawler_app": "#e3eefb",
    "gencoro": "#e8f3e4",
    "gencoro.porting": "#f7efdc",
}

STYLE = """
text { font: 10.5px system-ui, sans-serif; fill: #333 }
.name { font: bold 13px ui-monospace, monospace; fill: #111 }
.package { font: bold 17px system-ui, sans-serif; fill: #111 }
"""


def main() -> None:
    """Write the picture."""
    PICTURE.write_text(draw(), encoding="utf-8")


def draw() -> str:
    """Return the picture as SVG."""
    parts: list[str] = []
    top = MARGIN
    for package in FILL_BY_PACKAGE:
        parts.append(_text(MARGIN, top + 15, package, "package"))
        top += 26
        for layer in _layers_of(package):
            boxes, height = _row(package, layer, top)
            parts += boxes
            top += height + GAP
        top += MARGIN
    lines = "\n".join(parts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {top}" '
        f'role="img" aria-label="The layers of crawler_app, of gencoro and of its converter">\n'
        f"<style>{STYLE}</style>\n"
        f'<rect width="{WIDTH}" height="{top}" fill="#fff"/>\n{lines}\n</svg>\n'
    )


def _layers_of(package: str) -> list[list[str]]:
    """Read the layers of a package, the highest first."""
    contracts = configparser.ConfigParser()
    contracts.read(ROOT / ".importlinter", encoding="utf-8")
    for section in contracts.sections():
        if contracts[section].get("containers") == package:
            lines = contracts[section]["layers"].strip().splitlines()
            return [re.findall(r"\w+", line) for line in lines]
    raise LookupError(f".importlinter has no layers of {package}")


def _row(package: str, layer: list[str], top: int) -> tuple[list[str], int]:
    width = (WIDTH - 2 * MARGIN - GAP * (len(layer) - 1)) / len(layer)
    captions = [
        textwrap.wrap(_first_line(package, name), int((width - 16) / CHAR_WIDTH))
        for name in layer
    ]
    height = 24 + LINE * max(map(len, captions)) + 5
    parts = []
    for place, (name, lines) in enumerate(zip(layer, captions, strict=True)):
        left = MARGIN + place * (width + GAP)
        parts.append(
            f'<rect x="{left:.1f}" y="{top}" width="{width:.1f}" height="{height}" '
            f'rx="6" fill="{FILL_BY_PACKAGE[package]}" stroke="#99a"/>'
        )
        parts.append(_text(left + 8, top + 17, name, "name"))
        for number, line in enumerate(lines):
            parts.append(_text(left + 8, top + 33 + LINE * number, line))
    return parts, height


def _text(x: float, y: float, text: str, kind: str = "") -> str:
    attribute = f' class="{kind}"' if kind else ""
    return f'<text x="{x:.1f}" y="{y}"{attribute}>{html.escape(text)}</text>'


def _first_line(package: str, name: str) -> str:
    folder = ROOT / package.replace(".", "/")
    path = folder / f"{name}.py"
    if not path.exists():
        path = folder / name / "__init__.py"
    docstring = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    return docstring.partition("\n")[0].rstrip(":").replace("`", "")


if __name__ == "__main__":
    main()
