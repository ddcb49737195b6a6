"""The table of legacy names is complete and correct, and tests use each row."""

import importlib.util
import pathlib
import re

from gencoro.compat import installer
from gencoro.compat.names import INSTEAD, PYTHON, TABLE
from tests.helpers.compat.rows import USED, uses

HERE = pathlib.Path(__file__).parent

OURS = "gencoro.compat.modules."

# Names that differ in their own module, apart from underscores.
OTHER_NAMES = {
    "EPollIOLoop": "PollIOLoop",
    "KQueueIOLoop": "PollIOLoop",
    "Multi": "multi",
    "SSLCertificateError": "CertificateError",
    "SelectIOLoop": "PollIOLoop",
    "TracebackFuture": "Future",
    "WebSocketProtocol8": "WebSocketProtocol13",
    "_BadRequestException": "HTTPInputError",
    "_DummyFuture": "Future",
    "_O": "ObjectDict",
    "_create_signature": "create_signature_v1",
    "_json_decode": "loads",
    "_json_encode": "dumps",
    "_non_deprecated_return_future": "return_future",
    "_pipe_cloexec": "pipe",
    "_time_independent_equals": "compare_digest",
    "long": "int",
    "monotonic_time": "monotonic",
    "ssl_match_hostname": "match_hostname",
    "unichr": "chr",
    "urllib_parse": "parse",
    "xrange": "range",
}

# Names of another module, whose tests use them: this module had imported them for itself,
# and programs import them from here.
REEXPORTS = [
    name
    for name, row in TABLE.items()
    if (row.how == "put" or row.place.startswith("tornado."))
    and name.rpartition(".")[0] == installer._module_of(name)
    and (
        row.place.partition(":")[0] != f"{OURS}{name.split('.')[-2]}"
        or name.split(".")[-1] in OTHER_NAMES
    )
]


def test_row_is_well_formed():
    for name, row in TABLE.items():
        assert row.how in {"put", "wrap", "base", "add", "module", "none"}, name
        assert bool(row.place) == (row.how in {"put", "wrap", "base", "add"}), name
        assert name in INSTEAD or row.how != "none", name
        is_pythons = name in PYTHON
        assert (row.how == "add") == is_pythons != name.startswith("tornado."), name
        first, last = ([*map(int, v.split("."))] for v in (row.first, row.last))
        newest = [3, 15] if is_pythons else [6, 6]
        assert [2, 0] <= first <= last <= newest, name


def test_instead_has_no_other_names():
    assert set(INSTEAD) <= set(TABLE)


@uses(*REEXPORTS, *(TABLE.keys() & {name.rpartition(".")[0] for name in REEXPORTS}))
def test_name_is_imported_from_where_it_was(compat):
    has_twisted = importlib.util.find_spec("twisted") is not None
    for name in REEXPORTS:
        module, _, own_name = name.rpartition(".")
        if module == "tornado.platform.twisted" and not has_twisted:
            continue
        namespace = {}
        exec(f"from {module} import {own_name}", namespace)  # noqa: S102

        place = TABLE[name].place
        assert namespace[own_name] is installer._at(place), name
        # It is the same thing, and no other one that is there too.
        found = re.split(r"[.:]", place)[-1]
        assert found.strip("_") in (own_name.strip("_"), OTHER_NAMES.get(own_name))


def test_each_row_is_used_by_a_test():
    for file in sorted(HERE.glob("test_*.py")):
        spec = importlib.util.spec_from_file_location(f"read_{file.stem}", file)
        spec.loader.exec_module(importlib.util.module_from_spec(spec))

    assert sorted(set(TABLE) - USED) == []
    assert sorted(USED - set(TABLE)) == []
