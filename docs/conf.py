"""How Sphinx builds this site: ``python -m sphinx docs docs/_build/html``."""

import pydoc
import re
import runpy
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from sphinx.util.docutils import SphinxDirective

import gencoro
from tests.applications import results
from tests.porting import results as conversions

project = "gencoro"
author = "the gencoro authors"
project_copyright = author
version = release = gencoro.__version__

extensions = ["sphinx.ext.autodoc", "sphinx.ext.napoleon"]
exclude_patterns = ["_build"]
html_theme = "furo"
html_title = f"gencoro {release}"
html_copy_source = False
html_show_copyright = False
html_static_path = ["static"]
html_css_files = ["pages.css"]
html_js_files = ["accessible.js"]

# A name in single backquotes is a Python one, here as in the docstrings.
default_role = "py:obj"
add_module_names = False
toc_object_entries = False
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 72

autodoc_inherit_docstrings = False
autodoc_member_order = "bysource"
autodoc_typehints_format = "short"
autodoc_preserve_defaults = True
napoleon_numpy_docstring = False
napoleon_use_ivar = True
napoleon_attr_annotations = False

# Names of the standard library, of Tornado and of other libraries: a link to them would
# need the network.
ELSEWHERE = (
    r"(argparse|_?asyncio|collections|concurrent|contextlib|contextvars|datetime|http|io"
    r"|ipaddress|os|pathlib|protego|re|requests|signal|socket|sqlite3|ssl|time|turbohtml"
    r"|tornado|types|typing|xml|AsyncHTTPClient|CoroutineType"
    r"|HTTP(Headers|Request|Response))(\..*)?"
)

# Every reference must lead somewhere, save those that leave this site.
nitpicky = True
nitpick_ignore_regex = [
    ("py:.*", ELSEWHERE),
    ("py:class", r"([\w.]+\.)?([TFKP]|Ts)"),  # type variables
    ("py:obj", r"([\w.]+\.)?[A-Z][A-Z_]+"),  # constants, which have no entry
    ("py:obj", r"flush|release"),  # of several classes
]

# The files in `patterns`, in the order in which they are shown.
CAPTION_BY_VERSION = {
    "old": "Tornado 2 to 4",
    "new": "Today",
    "native": "Today, with async def",
}

# One signature says it all; Sphinx would show one for each registered type.
gencoro.convert_yielded.dispatch.__module__ = gencoro.convert_yielded.__module__

DRAWING = Path(__file__).with_name("draw_fixers.py")
PORTING = Path(gencoro.__file__).parent / "porting"

# Modules that only hand out what others define.
FACADES = ("gencoro",)


class Applications(SphinxDirective):
    """The table of the applications that were run, from their results."""

    def run(self) -> list[Any]:
        self.env.note_dependency(results.RESULTS)
        return list(self.parse_text_to_nodes(results.draw()))


class Pattern(SphinxDirective):
    """The versions of a pattern side by side: ``.. pattern:: NAME...``.

    Of each file in ``patterns``, the functions and classes of these names.
    """

    required_arguments = 1
    final_argument_whitespace = True

    def run(self) -> list[Any]:
        names = self.arguments[0].split()
        lines = [".. container:: versions", ""]
        for version, caption in CAPTION_BY_VERSION.items():
            lines += self._column(version, caption, names)
        return list(self.parse_text_to_nodes("\n".join(lines)))

    def _column(self, version: str, caption: str, names: list[str]) -> list[str]:
        source = (Path(__file__).parent / f"patterns/{version}.py").read_text("utf-8")
        defined = re.findall(r"^(?:async def|def|class) (\w+)", source, re.MULTILINE)
        shown = [name for name in names if name in defined]
        lines = ["   .. container:: version", ""] if shown else []
        for name in shown:
            lines += [f"      .. literalinclude:: patterns/{version}.py"]
            lines += [f"         :pyobject: {name}"]
            lines += [f"         :caption: {caption}"] if name == shown[0] else []
            lines += [""]
        return lines


class Fixers(SphinxDirective):
    """The small edits of ``python -m gencoro convert``."""

    draw = "draw_fixers"

    def run(self) -> list[Any]:
        for path in PORTING.rglob("*.py"):
            self.env.note_dependency(path)
        drawing = runpy.run_path(str(DRAWING))[self.draw]
        return list(self.parse_text_to_nodes(drawing(), allow_section_headings=True))


class Reasons(Fixers):
    """The reasons for which coroutines stay."""

    draw = "draw_reasons"


class Listed(Fixers):
    """What is listed for a person to look at."""

    draw = "draw_listed"


class Conversions(SphinxDirective):
    """A table of the packages that were converted, from their results."""

    required_arguments = 1
    final_argument_whitespace = True

    def run(self) -> list[Any]:
        self.env.note_dependency(conversions.RESULTS)
        table = conversions.draw(self.arguments[0], conversions.read())
        return list(self.parse_text_to_nodes(table))


def list_reexports(
    app: Any, what: str, name: str, module: Any, options: Any, lines: list[str]
) -> None:
    """Add the names that a facade hands out to what its docstring says."""
    if name in FACADES:
        lines += ["", "Its names:", ""]
        lines += [", ".join(f":py:obj:`{public}`" for public in module.__all__) + "."]


def mend_signature(
    app: Any, what: str, name: str, obj: Any, options: Any, args: Any, returns: Any
) -> tuple[str, str] | None:
    """Write a signature as a person would."""
    if args is None:  # a module, or what cannot be called
        return None
    args, returns = mend_types(args), mend_types(returns or "")
    if getattr(obj, "__tornado_coroutine__", False) and returns:
        # Calling it returns a Future; that its body is a generator is its own affair.
        value = returns.removesuffix("]").split(", ", 2)[2]
        returns = f"~asyncio.Future[{value}]"
    return args, returns


def mend_types(text: str) -> str:
    # asyncio's Future is the one that is meant by the bare name.
    text = text.replace("~concurrent.futures._base.Future", "concurrent.futures.Future")
    return text.replace("~typing.~P", "P").replace("<factory>", "...")


def find_by_last_part(app: Any, env: Any, node: Any, contnode: Any) -> Any:
    """Find what is called by the end of its name: in this module, or the only one.

    What is inside the packages has no entry; it must exist all the same.
    """
    target = node["reftarget"]
    if node.get("refdomain") != "py" or re.fullmatch(ELSEWHERE, target):
        return None
    domain = env.domains["py"]
    last_part = target.rpartition(".")[2]
    objects = domain.objects.items()
    found = [name for name, entry in objects if not entry.aliased]
    found = [name for name in found if name.rpartition(".")[2] == last_part]
    found = [name for name in found if name.endswith(f".{target}")] or found
    here = f"{node.get('py:module')}."
    found = [name for name in found if name.startswith(here)] or found
    if len(found) == 1:
        return domain.resolve_xref(
            env, node["refdoc"], app.builder, node["reftype"], found[0], node, contnode
        )
    is_inside = target.startswith(("gencoro.", "crawler_app."))
    return contnode if is_inside and pydoc.locate(target) is not None else None


def setup(app: Any) -> None:
    """Called by Sphinx."""
    app.add_directive("applications", Applications)
    app.add_directive("pattern", Pattern)
    app.add_directive("fixers", Fixers)
    app.add_directive("reasons", Reasons)
    app.add_directive("listed", Listed)
    app.add_directive("conversions", Conversions)
    app.connect("autodoc-process-docstring", list_reexports)
    app.connect("autodoc-process-signature", mend_signature)
    app.connect("missing-reference", find_by_last_part)
