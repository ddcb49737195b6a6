"""Names that Python has removed or reserved since 3.6, and gencoro.compat does not restore.

Rule: what can be put back as it was is in `gencoro.compat.names`; this table has the
rest, with what to do.

Pure: names and text.  Used by `gencoro.compat.doctor`.
"""

from gencoro.compat.names import Row

__all__ = ["ASYNC", "REMOVED", "REMOVED_INSTEAD"]

# Under this name the use of ``async`` or ``await`` as a name is reported.
ASYNC = "async"

# A name, the last version of Python that had it, and what to do.
_REMOVED = """
aifc                                          3.12 install the package standard-aifc
array.array.fromstring                        3.8  use frombytes
array.array.tostring                          3.8  use tobytes
ast.Bytes                                     3.13 use ast.Constant
ast.Ellipsis                                  3.13 use ast.Constant
ast.NameConstant                              3.13 use ast.Constant
ast.Num                                       3.13 use ast.Constant
ast.Str                                       3.13 use ast.Constant
async                                         3.6  rename it: it is a keyword since Python 3.7
asynchat                                      3.11 install the package pyasynchat
asyncio.AbstractChildWatcher                  3.13 it is not needed: asyncio waits for processes itself
asyncio.FastChildWatcher                      3.13 it is not needed: asyncio waits for processes itself
asyncio.MultiLoopChildWatcher                 3.13 it is not needed: asyncio waits for processes itself
asyncio.PidfdChildWatcher                     3.13 it is not needed: asyncio waits for processes itself
asyncio.SafeChildWatcher                      3.13 it is not needed: asyncio waits for processes itself
asyncio.Task.all_tasks                        3.8  use asyncio.all_tasks
asyncio.Task.current_task                     3.8  use asyncio.current_task
asyncio.ThreadedChildWatcher                  3.13 it is not needed: asyncio waits for processes itself
asyncio.async                                 3.6  use asyncio.ensure_future
asyncio.compat                                3.6  it is not needed: it was about Python 3.3
asyncio.coroutines.coroutine                  3.10 use asyncio.coroutine, which gencoro.compat serves
asyncio.futures.CancelledError                3.7  use asyncio.CancelledError
asyncio.futures.InvalidStateError             3.7  use asyncio.InvalidStateError
asyncio.futures.TimeoutError                  3.7  use asyncio.TimeoutError
asyncio.get_child_watcher                     3.13 it is not needed: asyncio waits for processes itself
asyncio.set_child_watcher                     3.13 it is not needed: asyncio waits for processes itself
asyncio.streams.IncompleteReadError           3.7  use asyncio.IncompleteReadError
asyncio.streams.LimitOverrunError             3.7  use asyncio.LimitOverrunError
asyncio.tasks.async                           3.6  use asyncio.ensure_future
asyncio.test_utils                            3.6  use an event loop of your own in tests
asyncore                                      3.11 install the package pyasyncore
audioop                                       3.12 install the package audioop-lts
binascii.a2b_hqx                              3.10 there is no successor
binascii.b2a_hqx                              3.10 there is no successor
binascii.rlecode_hqx                          3.10 there is no successor
binascii.rledecode_hqx                        3.10 there is no successor
binhex                                        3.10 there is no successor
cgi                                           3.12 install the package legacy-cgi
cgitb                                         3.12 install the package legacy-cgi
chunk                                         3.12 install the package standard-chunk
collections.ByteString                        3.9  use (bytes, bytearray, memoryview)
configparser.LegacyInterpolation              3.12 use configparser.BasicInterpolation
crypt                                         3.12 install the package standard-crypt
ctypes.SetPointerType                         3.14 use ctypes.POINTER
distutils                                     3.11 install the package setuptools, which brings it
dummy_threading                               3.8  use threading
formatter                                     3.9  there is no successor
ftplib.FTP_TLS.ssl_version                    3.11 use ssl.SSLContext
gettext.NullTranslations.lgettext             3.10 use gettext
gettext.NullTranslations.lngettext            3.10 use ngettext
gettext.NullTranslations.output_charset       3.10 it is not needed: gettext returns text
gettext.NullTranslations.set_output_charset   3.10 it is not needed: gettext returns text
gettext.bind_textdomain_codeset               3.10 it is not needed: gettext returns text
gettext.ldgettext                             3.10 use gettext.dgettext
gettext.ldngettext                            3.10 use gettext.dngettext
gettext.lgettext                              3.10 use gettext.gettext
gettext.lngettext                             3.10 use gettext.ngettext
glob.glob0                                    3.14 use glob.glob with root_dir
glob.glob1                                    3.14 use glob.glob with root_dir
html.parser.HTMLParser.error                  3.9  raise an error of your own
html.parser.HTMLParser.unescape               3.8  use html.unescape
http.server.CGIHTTPRequestHandler             3.14 there is no successor
imghdr                                        3.12 install the package standard-imghdr
imp                                           3.11 use importlib, or install the package zombie-imp
importlib.abc.Finder                          3.11 use importlib.abc.MetaPathFinder
importlib.abc.Loader.load_module              3.14 use exec_module
importlib.abc.Loader.module_repr              3.11 it is not needed: importlib does it
importlib.abc.MetaPathFinder.find_module      3.11 use find_spec
importlib.abc.PathEntryFinder.find_loader     3.11 use find_spec
importlib.abc.PathEntryFinder.find_module     3.11 use find_spec
importlib.abc.ResourceReader                  3.13 use importlib.resources.abc.ResourceReader
importlib.abc.Traversable                     3.13 use importlib.resources.abc.Traversable
importlib.abc.TraversableResources            3.13 use importlib.resources.abc.TraversableResources
importlib.find_loader                         3.11 use importlib.util.find_spec
importlib.util.module_for_loader              3.11 it is not needed: importlib does it
importlib.util.set_loader                     3.11 it is not needed: importlib does it
importlib.util.set_package                    3.11 it is not needed: importlib does it
inspect.Signature.from_builtin                3.10 use inspect.signature
inspect.Signature.from_function               3.10 use inspect.signature
inspect.formatargspec                         3.10 use str(inspect.signature(function))
locale.format                                 3.11 use locale.format_string
locale.resetlocale                            3.12 use locale.setlocale(locale.LC_ALL, "")
macpath                                       3.7  use os.path
macurl2path                                   3.6  use urllib.request
mailcap                                       3.12 install the package standard-mailcap
nis                                           3.12 there is no successor
nntplib                                       3.12 install the package standard-nntplib
ntpath.splitunc                               3.6  use ntpath.splitdrive
os.errno                                      3.6  import errno
os.stat_float_times                           3.6  it is not needed: times are floats
ossaudiodev                                   3.12 there is no successor
parser                                        3.9  use ast
pathlib.Path.link_to                          3.11 use hardlink_to
pathlib.PurePath.is_reserved                  3.14 use os.path.isreserved
pipes                                         3.12 use shlex.quote, or install the package standard-pipes
pkgutil.ImpImporter                           3.11 use importlib
pkgutil.ImpLoader                             3.11 use importlib
pkgutil.find_loader                           3.13 use importlib.util.find_spec
pkgutil.get_loader                            3.13 use importlib.util.find_spec
platform.dist                                 3.7  install the package distro
platform.java_ver                             3.14 there is no successor
platform.linux_distribution                   3.7  install the package distro
platform.popen                                3.7  use subprocess
plistlib.Data                                 3.8  use bytes
plistlib.Dict                                 3.6  use dict
plistlib.Plist                                3.6  use plistlib.load and plistlib.dump
plistlib.readPlist                            3.8  use plistlib.load
plistlib.readPlistFromBytes                   3.8  use plistlib.loads
plistlib.writePlist                           3.8  use plistlib.dump
plistlib.writePlistToBytes                    3.8  use plistlib.dumps
pty.master_open                               3.13 use pty.openpty
pty.slave_open                                3.13 use pty.openpty
re.template                                   3.12 use re.compile
smtpd                                         3.11 use the package aiosmtpd
sndhdr                                        3.12 install the package standard-sndhdr
spwd                                          3.12 there is no successor
sqlite3.Cache                                 3.7  it is not needed: it was an internal class
sqlite3.OptimizedUnicode                      3.11 use str
sqlite3.Statement                             3.7  it is not needed: it was an internal class
sqlite3.enable_shared_cache                   3.11 use a URI with cache=shared
ssl.RAND_pseudo_bytes                         3.11 use os.urandom
sunau                                         3.12 install the package standard-sunau
symbol                                        3.9  there is no successor
sys.callstats                                 3.8  there is no successor
sys.get_coroutine_wrapper                     3.7  use sys.get_coroutine_origin_tracking_depth
sys.getcheckinterval                          3.8  use sys.getswitchinterval
sys.set_coroutine_wrapper                     3.7  use sys.set_coroutine_origin_tracking_depth
sys.setcheckinterval                          3.8  use sys.setswitchinterval
telnetlib                                     3.12 install the package standard-telnetlib
unittest.TestCase.assertDictContainsSubset    3.11 use assertEqual(actual, {**actual, **expected})
unittest.findTestCases                        3.12 use unittest.defaultTestLoader
unittest.getTestCaseNames                     3.12 use unittest.defaultTestLoader
urllib.request.FancyURLopener                 3.13 use urllib.request.build_opener
urllib.request.URLopener                      3.13 use urllib.request.build_opener
uu                                            3.12 use binascii, or install the package standard-uu
wave.Wave_read.getmark                        3.14 there is no successor: it never worked
wave.Wave_read.getmarkers                     3.14 there is no successor: it never worked
wave.Wave_write.getmark                       3.14 there is no successor: it never worked
wave.Wave_write.getmarkers                    3.14 there is no successor: it never worked
wave.Wave_write.setmark                       3.14 there is no successor: it never worked
wave.openfp                                   3.8  use wave.open
xdrlib                                        3.12 there is no successor
xml.etree.ElementTree.Element.getchildren     3.8  use list(element)
xml.etree.ElementTree.Element.getiterator     3.8  use element.iter
xml.etree.ElementTree.ElementTree.getiterator 3.8  use tree.iter
zipimport.zipimporter.find_loader             3.11 use find_spec
zipimport.zipimporter.find_module             3.11 use find_spec
zipimport.zipimporter.load_module             3.14 use exec_module
"""


def _read(rows: str) -> tuple[dict[str, Row], dict[str, str]]:
    """Return the rows and the advice by name.

    >>> _read("a.b 3.8 use c")
    ({'a.b': Row(first='', last='3.8', how='none', place='')}, {'a.b': 'use c'})
    """
    table, instead = {}, {}
    for line in rows.strip().splitlines():
        name, last, instead[name] = line.split(maxsplit=2)
        table[name] = Row("", last, "none", "")
    return table, instead


REMOVED, REMOVED_INSTEAD = _read(_REMOVED)
