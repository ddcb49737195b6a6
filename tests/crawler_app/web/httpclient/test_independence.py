"""The client can be used in any Tornado program: it imports nothing else of the crawler."""

import ast
import pathlib

from crawler_app.web import httpclient


def imports_of(path):
    """Yield the modules that a file imports, in functions too."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom):
            yield "." * node.level + (node.module or "")
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


def test_no_module_imports_other_parts_of_the_crawler():
    folder = pathlib.Path(httpclient.__file__).parent
    imported = {name for path in folder.glob("*.py") for name in imports_of(path)}

    ours = {name for name in imported if name.startswith(("crawler_app", "."))}
    assert ours
    assert [name for name in ours if not name.startswith(httpclient.__name__)] == []
