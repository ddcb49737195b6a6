"""Names of methods that objects of the standard library and of Tornado have, too.

Rule: a call of such a method on an unknown object says nothing about a coroutine of that
name; any other name that only coroutines of the program have, does.

Pure.  Used by `gencoro.porting.uses`.
"""

import asyncio
import collections
import io
import logging
import queue
import socket
import subprocess
import threading
from concurrent.futures import Executor, Future

__all__ = ["COMMON_METHODS"]

_CLASSES = (
    asyncio.Queue,
    asyncio.Task,
    bytes,
    collections.deque,
    dict,
    Executor,
    Future,
    io.TextIOWrapper,
    list,
    logging.Logger,
    queue.Queue,
    set,
    socket.socket,
    str,
    subprocess.Popen,
    threading.Condition,
    threading.Thread,
)

# Of Tornado, and of clients of databases and of HTTP.
_OTHERS = (
    "call commit connect cursor delete execute fetch fetchall fetchone find finish flush get "
    "handle head initialize insert listen load log_message main on_close on_message open "
    "options patch post process publish put query read_bytes read_message read_until "
    "remove request resolve rollback save search start status stop subscribe update upload "
    "wait write_message"
)

COMMON_METHODS = frozenset(_OTHERS.split()).union(*map(dir, _CLASSES))
