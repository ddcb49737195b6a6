"""Names and forms of Python 2 in sources that Python 3 parses.

Rule: only names that no module of today's Python has.  A module that defines one of them,
or takes all names of another module, is believed to have it.

Pure: names and syntax trees.  Used by `gencoro.compat.doctor.known` and the visitor.
"""

import ast
import collections
from collections.abc import Iterator, Sequence

from gencoro.compat.doctor.parsing import statements
from gencoro.compat.names import Row

__all__ = ["BUILTINS", "PYTHON_2", "PYTHON_2_INSTEAD", "FormsOfPython2"]

# A name, and what Python 3 has instead.
_NAMES = """
BaseHTTPServer         http.server
ConfigParser           configparser
Cookie                 http.cookies
HTMLParser             html.parser
Queue                  queue
SimpleHTTPServer       http.server
SocketServer           socketserver
StringIO               io.StringIO or io.BytesIO
Tkinter                tkinter
UserDict               collections.UserDict
__builtin__            builtins
builtins.StandardError Exception
builtins.apply         function(*args)
builtins.basestring    str
builtins.buffer        memoryview
builtins.cmp           a key function, or (a > b) - (a < b)
builtins.coerce        nothing: Python 3 has no coercion of numbers
builtins.dict.has_key  the operator in
builtins.dict.iteritems dict.items
builtins.dict.iterkeys dict.keys
builtins.dict.itervalues dict.values
builtins.dict.viewitems dict.items
builtins.dict.viewkeys dict.keys
builtins.dict.viewvalues dict.values
builtins.execfile      exec(compile(...))
builtins.file          open
builtins.intern        sys.intern
builtins.iterator.next next(iterator), and the method __next__
builtins.long          int
builtins.object.__metaclass__ class C(metaclass=M), as an attribute has no effect
builtins.object.__nonzero__ __bool__, as Python 3 does not call __nonzero__
builtins.raw_input     input
builtins.reduce        functools.reduce
builtins.reload        importlib.reload
builtins.str.decode    codecs.decode: the method knows encodings of text only
builtins.str.encode    codecs.encode: the method knows encodings of text only
builtins.unichr        chr
builtins.unicode       str
builtins.xrange        range
cPickle                pickle
cStringIO              io.StringIO or io.BytesIO
commands               subprocess
cookielib              http.cookiejar
copy_reg               copyreg
htmlentitydefs         html.entities
httplib                http.client
itertools.ifilter      filter
itertools.ifilterfalse itertools.filterfalse
itertools.imap         map
itertools.izip         zip
itertools.izip_longest itertools.zip_longest
md5                    hashlib.md5
os.getcwdu             os.getcwd
robotparser            urllib.robotparser
sha                    hashlib.sha1
string.join            str.join
string.letters         string.ascii_letters
string.lowercase       string.ascii_lowercase
string.maketrans       str.maketrans
string.uppercase       string.ascii_uppercase
sys.exc_clear          nothing: Python 3 does it at the end of an except clause
sys.maxint             sys.maxsize
sys.setdefaultencoding nothing: the encoding is UTF-8
thread                 threading
types.ClassType        type
types.DictType         dict
types.IntType          int
types.ListType         list
types.LongType         int
types.StringType       str or bytes
types.StringTypes      str
types.TupleType        tuple
types.UnicodeType      str
urllib.quote           urllib.parse.quote
urllib.quote_plus      urllib.parse.quote_plus
urllib.unquote         urllib.parse.unquote
urllib.unquote_plus    urllib.parse.unquote_plus
urllib.urlencode       urllib.parse.urlencode
urllib.urlopen         urllib.request.urlopen
urllib.urlretrieve     urllib.request.urlretrieve
urllib2                urllib.request
urlparse               urllib.parse
xmlrpclib              xmlrpc.client
"""

PYTHON_2_INSTEAD = {
    name: f"this is Python 2, to be converted first: use {instead}"
    for name, instead in (line.split(maxsplit=1) for line in _NAMES.split("\n") if line)
}
PYTHON_2 = {name: Row("", "2.7", "none", "") for name in PYTHON_2_INSTEAD}

# The builtin functions and types of Python 2, and their rows.
BUILTINS = {
    name.removeprefix("builtins."): name
    for name in PYTHON_2
    if name.startswith("builtins.") and name.count(".") == 1
}

# What the methods ``encode`` and ``decode`` of Python 2 took too.
_NOT_OF_TEXT = frozenset(
    [
        "base64",
        "base64_codec",
        "bz2",
        "bz2_codec",
        "hex",
        "hex_codec",
        "quopri",
        "rot13",
        "rot_13",
        "string-escape",
        "string_escape",
        "uu",
        "zip",
        "zlib",
        "zlib_codec",
    ]
)


class FormsOfPython2:
    """Finds forms of Python 2 in a module.

    Args:
        nodes: All nodes of the module.

    >>> module = ast.parse("g = iter(x)\\ng.next()\\nd.iteritems()\\nother.next()")
    >>> forms = FormsOfPython2(list(ast.walk(module)))
    >>> [forms.of_call(statement.value) for statement in module.body[1:]]
    [['builtins.iterator.next'], ['builtins.dict.iteritems'], []]
    """

    def __init__(self, nodes: Sequence[ast.AST]) -> None:
        self._bound = collections.Counter(map(_bound_by, nodes))
        attributes = {node.attr for node in nodes if isinstance(node, ast.Attribute)}
        self._mentioned = attributes | self._bound.keys()
        functions = [node for node in nodes if isinstance(node, ast.FunctionDef)]
        self._generators = {f.name for f in functions if self._is_generator(f)}
        self._iterators = {
            name
            for node in nodes
            if isinstance(node, ast.Assign) and self._is_iterator(node.value)
            for name in map(_bound_by, node.targets)
            if self._bound[name] == 1
        }

    def _is_generator(self, function: ast.FunctionDef) -> bool:
        is_plain = not function.decorator_list and self._bound[function.name] == 1
        return is_plain and any(
            isinstance(node, ast.Expr) and isinstance(node.value, ast.Yield)
            for node in statements(function.body)
        )

    def _is_iterator(self, node: ast.expr) -> bool:
        match node:
            case ast.GeneratorExp():
                return True
            case ast.Call(func=ast.Name(id="iter")):
                return "iter" not in self._bound
            case ast.Call(func=ast.Name(id=name)):
                return name in self._generators
        return False

    def of_call(self, node: ast.Call) -> list[str]:
        """Return the row of a call of a former method, by its name and arguments."""
        if not isinstance(node.func, ast.Attribute) or node.keywords:
            return []
        method = node.func.attr
        match method, node.args:
            case "next", []:
                owner = node.func.value
                name_of_owner = owner.id if isinstance(owner, ast.Name) else ""
                is_former = name_of_owner in self._iterators or self._is_iterator(owner)
                return ["builtins.iterator.next"] if is_former else []
            case (("encode" | "decode"), [ast.Constant(value=str(codec))]):
                name = f"builtins.str.{method}"
                is_former = codec in _NOT_OF_TEXT
            case _:
                name = f"builtins.dict.{method}"
                count = 1 if method == "has_key" else 0
                is_former = name in PYTHON_2 and len(node.args) == count
        return [name] if is_former and method not in self._bound else []

    def of_class(self, node: ast.ClassDef) -> Iterator[tuple[str, ast.AST]]:
        """Yield the row and the place of what has another name today."""
        for member in statements(node.body):
            names = member.targets if isinstance(member, ast.Assign) else [member]
            for name in map(_bound_by, names):
                if self._is_former(name, member, node):
                    yield _MEMBERS[name], member

    def _is_former(self, name: str, member: ast.stmt, owner: ast.ClassDef) -> bool:
        match name, member:
            case "__metaclass__", ast.Assign(value=ast.Name(id="type")):
                return False  # as all classes today
            case "__metaclass__", ast.Assign():
                # A decorator, or a call in place of a base, may read it.
                has_other = any(isinstance(base, ast.Call) for base in owner.bases)
                return not (has_other or owner.keywords or owner.decorator_list)
            case "__nonzero__", _:
                return "__bool__" not in self._mentioned
            case "next", ast.FunctionDef():
                return "__next__" not in self._mentioned and _is_iterator_class(owner)
        return False


_MEMBERS = {
    "__metaclass__": "builtins.object.__metaclass__",
    "__nonzero__": "builtins.object.__nonzero__",
    "next": "builtins.iterator.next",
}


def _is_iterator_class(owner: ast.ClassDef) -> bool:
    """Return True if ``__iter__`` returns self, and no base can have ``__next__``."""
    if owner.decorator_list or any(ast.unparse(b) != "object" for b in owner.bases):
        return False
    return any(
        isinstance(method, ast.FunctionDef)
        and method.name == "__iter__"
        and ast.unparse(method.body[-1]) == "return self"
        for method in owner.body
    )


def _bound_by(node: ast.AST) -> str:
    """Return the name that a node itself binds, also that of an attribute; "" for none."""
    match node:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
            return name
        case ast.ClassDef(name=name) | ast.arg(arg=name):
            return name
        case ast.alias(name=module, asname=name):
            return name or module
        case ast.Name(id=name, ctx=ast.Store()):
            return name
        case ast.Attribute(attr=name, ctx=ast.Store()):
            return name
    return ""
