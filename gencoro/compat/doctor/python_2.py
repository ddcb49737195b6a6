"""Names of Python 2 in sources that Python 3 parses.

Rule: only names that no module of today's Python has.  A module that defines one of them,
or takes all names of another module, is believed to have it.

Pure: names and text.  Used by `gencoro.compat.doctor.known` and the visitor.
"""

import ast

from gencoro.compat.names import Row

__all__ = ["BUILTINS", "PYTHON_2", "PYTHON_2_INSTEAD", "method_of_dict"]

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
builtins.long          int
builtins.raw_input     input
builtins.reduce        functools.reduce
builtins.reload        importlib.reload
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

_OF_DICT = "builtins.dict."

# The builtin functions and types of Python 2, and their rows.
BUILTINS = {
    name.removeprefix("builtins."): name
    for name in PYTHON_2
    if name.startswith("builtins.") and not name.startswith(_OF_DICT)
}


def method_of_dict(node: ast.Call) -> list[str]:
    """Return the row of a call of a dict's former method, by its name and arguments.

    >>> [method_of_dict(ast.parse(text, mode="eval").body)
    ...     for text in ("d.iteritems()", "six.iteritems(d)")]
    [['builtins.dict.iteritems'], []]
    """
    if not isinstance(node.func, ast.Attribute):
        return []
    name = _OF_DICT + node.func.attr
    count = 1 if node.func.attr == "has_key" else 0
    return [name] if name in PYTHON_2 and len(node.args) == count else []
