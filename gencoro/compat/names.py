"""The table of legacy names, and what `gencoro.compat.install` provides for each.

The legacy names of gencoro's own modules are in `gencoro.legacy_names`.

`TORNADO` has what Tornado has removed or changed, `PYTHON` what the standard library has
removed, and `TABLE` both.  A row has five columns:

- the dotted name;
- the first and the last version of Tornado, from 2.0 on, that had the feature, even under
  another name; if today's Tornado still has the name, the last version in which it had the
  meaning that legacy code expects.  For the standard library, Python's versions;
- how `gencoro.compat.install` provides it:

  - ``put``: the name is set to the object at the place;
  - ``wrap``: the object at the place is called with today's object of that name, and the
    name is set to the result;
  - ``base``: Tornado's class stays, and becomes a base of the one at the place;
  - ``add``: as ``put``, but only if the name does not exist;
  - ``module``: a module is created, whose names are rows;
  - ``none``: not at all;

- the place: a module, or a module and a name in it.

Many rows are private names, which programs and their tests nevertheless use.  For names
that cannot be used, including those that can be imported, `INSTEAD` says what to do.

Pure: names and text, nothing is imported.
"""

from typing import NamedTuple

__all__ = ["INSTEAD", "PYTHON", "TABLE", "TORNADO", "Row"]


class Row(NamedTuple):
    """One name of legacy Tornado.

    Attributes:
        first: The first version that had it, such as ``4.0``.
        last: The last version that had it.
        how: ``put``, ``wrap``, ``base``, ``add``, ``module`` or ``none``.
        place: The replacement: ``module`` or ``module:name``; empty if there is none.
    """

    first: str
    last: str
    how: str
    place: str


_TORNADO = """
# Callback-style coroutines.
tornado.gen.Arguments                                      2.1 5.1 put    gencoro.legacy.adaptors:Arguments
tornado.gen.BadYieldError                                  2.1 5.1 base   gencoro.errors:BadYieldError
tornado.gen.Callback                                       2.1 5.1 put    gencoro.legacy.yieldpoints:Callback
tornado.gen.Future                                         4.0 4.5 put    gencoro.compat.modules.concurrent:Future
tornado.gen.KeyReuseError                                  2.1 5.1 base   gencoro.errors:KeyReuseError
tornado.gen.LeakedCallbackError                            2.1 5.1 base   gencoro.errors:LeakedCallbackError
tornado.gen.Multi                                          2.1 5.1 put    gencoro.compat.modules.gen:multi
tornado.gen.MultiYieldPoint                                4.3 5.1 put    gencoro.legacy.yieldpoints:MultiYieldPoint
tornado.gen.ReturnValueIgnoredError                        3.0 5.1 base   gencoro.errors:ReturnValueIgnoredError
tornado.gen.Runner                                         2.1 5.1 put    gencoro.compat.modules.gen:Runner
tornado.gen.Task                                           2.1 5.1 put    gencoro.compat.modules.gen:Task
tornado.gen.UnknownKeyError                                2.1 5.1 base   gencoro.errors:UnknownKeyError
tornado.gen.Wait                                           2.1 5.1 put    gencoro.legacy.yieldpoints:Wait
tornado.gen.WaitAll                                        2.1 5.1 put    gencoro.legacy.yieldpoints:WaitAll
tornado.gen.YieldFuture                                    3.0 5.1 put    gencoro.legacy.yieldpoints:YieldFuture
tornado.gen.YieldPoint                                     2.1 5.1 put    gencoro.legacy.yieldpoints:YieldPoint
tornado.gen._NullFuture.__await__                          4.3 4.5 put    gencoro.compat.modules.gen:await_moment
tornado.gen._argument_adapter                              4.0 5.1 put    gencoro.legacy.adaptors:argument_adapter
tornado.gen._contains_yieldpoint                           4.3 5.1 put    gencoro.legacy.yieldpoints:contains_yieldpoint
tornado.gen._make_coroutine_wrapper                        4.0 5.1 put    gencoro.compat.modules.gen:coroutine
tornado.gen._null_future                                   4.0 4.5 put    gencoro.yieldables:_null_future
tornado.gen.convert_yielded                                4.3 4.5 wrap   gencoro.compat.modules.gen:convert_yielded
tornado.gen.coroutine                                      3.0 5.1 put    gencoro.compat.modules.gen:coroutine
tornado.gen.engine                                         2.1 5.1 put    gencoro.legacy.engine:engine
tornado.gen.multi                                          4.2 5.1 put    gencoro.compat.modules.gen:multi
tornado.gen.multi_future                                   4.0 5.1 put    gencoro.compat.modules.gen:multi
tornado.gen.with_timeout                                   4.0 4.5 put    gencoro.compat.modules.gen:with_timeout

# Futures that run their callbacks inside set_result.
tornado.concurrent.Future                                  3.0 4.5 put    gencoro.compat.modules.concurrent:Future
tornado.concurrent.ReturnValueIgnoredError                 3.0 5.1 base   gencoro.errors:ReturnValueIgnoredError
tornado.concurrent.TracebackFuture                         3.0 4.5 put    gencoro.compat.modules.concurrent:Future
tornado.concurrent._DummyFuture                            3.0 3.2 put    gencoro.compat.modules.concurrent:Future
tornado.concurrent._non_deprecated_return_future           5.1 5.1 put    gencoro.compat.modules.concurrent:return_future
tornado.concurrent.chain_future                            3.0 4.5 put    gencoro.futures:chain_future
tornado.concurrent.futures                                 3.0 5.1 put    concurrent.futures
tornado.concurrent.return_future                           3.0 5.1 put    gencoro.compat.modules.concurrent:return_future
tornado.concurrent.run_on_executor                         3.0 5.1 put    gencoro.executors:run_on_executor

# Stack contexts.
tornado.stack_context                                      2.0 5.1 module
tornado.stack_context.ExceptionStackContext                2.0 5.1 put    gencoro.legacy.contexts:ExceptionStackContext
tornado.stack_context.NullContext                          2.0 5.1 put    gencoro.legacy.contexts:NullContext
tornado.stack_context.StackContext                         2.0 5.1 put    gencoro.legacy.contexts:StackContext
tornado.stack_context.StackContextInconsistentError        3.0 5.1 put    gencoro.errors:StackContextInconsistentError
tornado.stack_context._state                               2.0 5.1 put    gencoro.legacy.stack_context:_state
tornado.stack_context.run_with_stack_context               3.1 5.1 put    gencoro.legacy.stack_context:run_with_stack_context
tornado.stack_context.wrap                                 2.0 5.1 put    gencoro.legacy.stack_context:wrap

# The loop.
tornado.ioloop.IOLoop._EPOLLERR                            2.0 5.1 put    gencoro.compat.modules.ioloop:EPOLLERR
tornado.ioloop.IOLoop._EPOLLET                             2.0 5.1 put    gencoro.compat.modules.ioloop:EPOLLET
tornado.ioloop.IOLoop._EPOLLHUP                            2.0 5.1 put    gencoro.compat.modules.ioloop:EPOLLHUP
tornado.ioloop.IOLoop._EPOLLIN                             2.0 5.1 put    gencoro.compat.modules.ioloop:EPOLLIN
tornado.ioloop.IOLoop._EPOLLONESHOT                        2.0 5.1 put    gencoro.compat.modules.ioloop:EPOLLONESHOT
tornado.ioloop.IOLoop._EPOLLOUT                            2.0 5.1 put    gencoro.compat.modules.ioloop:EPOLLOUT
tornado.ioloop.IOLoop._EPOLLPRI                            2.0 5.1 put    gencoro.compat.modules.ioloop:EPOLLPRI
tornado.ioloop.IOLoop._EPOLLRDHUP                          2.0 5.1 put    gencoro.compat.modules.ioloop:EPOLLRDHUP
tornado.ioloop.IOLoop._blocking_signal_threshold           2.0 5.1 put    gencoro.compat.modules.loop_state:blocking_signal_threshold
tornado.ioloop.IOLoop._callbacks                           2.0 5.1 put    gencoro.compat.modules.loop_state:callbacks
tornado.ioloop.IOLoop._cancellations                       3.1 5.1 put    gencoro.compat.modules.loop_state:cancellations
tornado.ioloop.IOLoop._closing                             3.0 5.1 put    gencoro.compat.modules.loop_state:closing
tornado.ioloop.IOLoop._events                              2.0 5.1 put    gencoro.compat.modules.loop_state:events
tornado.ioloop.IOLoop._handlers                            2.0 5.1 put    gencoro.compat.modules.loop_state:handlers
tornado.ioloop.IOLoop._running                             2.0 5.1 put    gencoro.compat.modules.loop_state:running
tornado.ioloop.IOLoop._stopped                             2.0 5.1 put    gencoro.compat.modules.loop_state:stopped
tornado.ioloop.IOLoop._thread_ident                        2.1 5.1 put    gencoro.compat.modules.loop_state:thread_ident
tornado.ioloop.IOLoop._timeouts                            2.0 5.1 put    gencoro.compat.modules.loop_state:timeouts
tornado.ioloop.IOLoop._waker                               2.1 5.1 put    gencoro.compat.modules.loop_state:waker
tornado.ioloop.IOLoop._impl                                2.0 5.1 none
tornado.ioloop.IOLoop.clear_current                        3.0 6.1 put    gencoro.compat.modules.ioloop:clear_current
tornado.ioloop.IOLoop.clear_instance                       3.2 4.5 put    gencoro.ioloop:IOLoop.clear_instance
tornado.ioloop.IOLoop.current                              3.0 4.5 put    gencoro.compat.modules.ioloop:current
tornado.ioloop.IOLoop.handle_callback_exception            2.0 5.1 put    gencoro.ioloop:IOLoop.handle_callback_exception
tornado.ioloop.IOLoop.initialized                          2.0 4.5 put    gencoro.ioloop:IOLoop.initialized
tornado.ioloop.IOLoop.install                              2.1 4.5 put    gencoro.ioloop:IOLoop.install
tornado.ioloop.IOLoop.instance                             2.0 4.5 put    gencoro.compat.modules.ioloop:instance
tornado.ioloop.IOLoop.log_stack                            2.0 5.1 put    gencoro.ioloop:IOLoop.log_stack
tornado.ioloop.IOLoop.make_current                         3.0 6.1 put    gencoro.compat.modules.ioloop:make_current
tornado.ioloop.IOLoop.running                              2.0 2.4 put    gencoro.compat.modules.ioloop:running
tornado.ioloop.IOLoop.set_blocking_log_threshold           2.0 5.1 put    gencoro.ioloop:IOLoop.set_blocking_log_threshold
tornado.ioloop.IOLoop.set_blocking_signal_threshold        2.0 5.1 put    gencoro.ioloop:IOLoop.set_blocking_signal_threshold
tornado.ioloop.IOLoop.time_func                            3.0 5.1 put    gencoro.compat.modules.loop_state:time_func
tornado.ioloop.PeriodicCallback                            2.0 4.5 put    gencoro.ioloop.periodic:PeriodicCallback
tornado.ioloop.PollIOLoop                                  3.0 5.1 put    gencoro.compat.modules.ioloop:PollIOLoop
tornado.ioloop._POLL_TIMEOUT                               3.2 5.1 put    gencoro.compat.modules.ioloop:POLL_TIMEOUT
tornado.ioloop._Select                                     2.0 2.4 put    gencoro.compat.modules.pollers:Select
tornado.platform.asyncio.BaseAsyncIOLoop._make_current     3.2 5.1 put    gencoro.compat.modules.ioloop:make_base_current
tornado.platform.asyncio.BaseAsyncIOLoop.call_at           2.0 4.5 wrap   gencoro.compat.modules.ioloop:call_at
tornado.platform.asyncio.BaseAsyncIOLoop.initialize        3.2 4.5 wrap   gencoro.compat.modules.ioloop:making_ours
tornado.platform.asyncio.to_asyncio_future                 4.1 4.5 wrap   gencoro.compat.modules.gen:convert_yielded

# Platform modules.
tornado.platform.auto                                      2.1 6.0 module
tornado.platform.auto.monotonic_time                       3.0 5.1 put    time:monotonic
tornado.platform.auto.set_close_exec                       2.1 6.0 put    gencoro.compat.modules.platform:set_close_exec
tornado.platform.common                                    2.3 5.1 module
tornado.platform.common.Waker                              2.3 5.1 put    gencoro.compat.modules.platform:Waker
tornado.platform.common.try_close                          4.5 5.1 put    gencoro.compat.modules.platform:try_close
tornado.platform.epoll                                     3.0 5.1 module
tornado.platform.epoll.EPollIOLoop                         3.0 5.1 put    gencoro.compat.modules.ioloop:PollIOLoop
tornado.platform.interface                                 2.1 6.0 module
tornado.platform.interface.Waker                           2.1 5.1 put    gencoro.compat.modules.platform:Waker
tornado.platform.interface.monotonic_time                  4.4 5.1 put    time:monotonic
tornado.platform.interface.set_close_exec                  2.1 6.0 put    gencoro.compat.modules.platform:set_close_exec
tornado.platform.kqueue                                    3.0 5.1 module
tornado.platform.kqueue.KQueueIOLoop                       3.0 5.1 put    gencoro.compat.modules.ioloop:PollIOLoop
tornado.platform.posix                                     2.1 6.0 module
tornado.platform.posix.Waker                               2.1 5.1 put    gencoro.compat.modules.platform:Waker
tornado.platform.posix._set_nonblocking                    2.1 6.0 put    gencoro.compat.modules.platform:set_nonblocking
tornado.platform.posix.set_close_exec                      2.1 6.0 put    gencoro.compat.modules.platform:set_close_exec
tornado.platform.select                                    3.0 5.1 module
tornado.platform.select.SelectIOLoop                       3.0 5.1 put    gencoro.compat.modules.ioloop:PollIOLoop
tornado.platform.select._Select                            3.0 5.1 put    gencoro.compat.modules.pollers:Select
tornado.platform.windows                                   2.1 6.0 module
tornado.platform.windows.set_close_exec                    2.1 6.0 put    gencoro.compat.modules.platform:set_close_exec
tornado.platform.twisted.TornadoDelayedCall                2.1 5.1 none
tornado.platform.twisted.TornadoReactor                    2.1 5.1 none
tornado.platform.twisted.TwistedIOLoop                     3.0 5.1 none

# Helpers for code that runs on Python 2 and 3.
tornado.escape.unichr                                      3.1 5.1 put    builtins:chr
tornado.util.PY3                                           4.4 5.1 put    gencoro.compat.modules.util:PY3
tornado.util.b                                             2.0 2.4 put    gencoro.compat.modules.util:b
tornado.util.cast                                          4.4 5.1 put    typing:cast
tornado.util.is_finalizing                                 4.5 6.4 put    sys:is_finalizing
tornado.util.u                                             3.0 4.3 put    gencoro.compat.modules.util:u
tornado.util.xrange                                        3.2 5.1 put    builtins:range

# Modules without a replacement.
tornado.database                                           2.0 2.4 none
tornado.win32_support                                      2.0 2.0 none

# Streams.
tornado.iostream.BaseIOStream.__init__                     2.0 4.5 wrap   gencoro.compat.modules.iostream:initialize
tornado.iostream.BaseIOStream._pending_callbacks           2.0 5.1 put    gencoro.compat.modules.iostream:NO_PENDING_CALLBACKS
tornado.iostream.BaseIOStream._read_callback               2.0 5.1 put    gencoro.compat.modules.iostream:read_callback
tornado.iostream.BaseIOStream.close                        2.0 5.1 wrap   gencoro.compat.modules.iostream:close
tornado.iostream.BaseIOStream.read_bytes                   2.0 5.1 wrap   gencoro.compat.modules.iostream:read_bytes
tornado.iostream.BaseIOStream.read_into                    5.0 5.1 wrap   gencoro.compat.modules.iostream:read_into
tornado.iostream.BaseIOStream.read_until                   2.0 5.1 wrap   gencoro.compat.modules.iostream:read_until
tornado.iostream.BaseIOStream.read_until_close             2.1 5.1 wrap   gencoro.compat.modules.iostream:read_until_close
tornado.iostream.BaseIOStream.read_until_regex             2.1 5.1 wrap   gencoro.compat.modules.iostream:read_until_regex
tornado.iostream.BaseIOStream.set_close_callback           2.0 5.1 wrap   gencoro.compat.modules.iostream:set_close_callback
tornado.iostream.BaseIOStream.write                        2.0 5.1 wrap   gencoro.compat.modules.iostream:write
tornado.iostream.IOStream.connect                          2.0 5.1 wrap   gencoro.compat.modules.iostream:connect
tornado.iostream.SSLIOStream.connect                       2.4 5.1 wrap   gencoro.compat.modules.iostream:connect_ssl
tornado.iostream.SSLIOStream.wait_for_handshake            4.2 5.1 wrap   gencoro.compat.modules.iostream:wait_for_handshake
tornado.iostream._ERRNO_INPROGRESS                         4.0 6.0 put    gencoro.compat.modules.iostream:ERRNO_INPROGRESS
tornado.iostream._ERRNO_WOULDBLOCK                         3.2 6.0 put    gencoro.compat.modules.iostream:ERRNO_WOULDBLOCK
tornado.iostream._double_prefix                            2.3 4.4 put    gencoro.compat.modules.iostream:double_prefix
tornado.iostream._merge_prefix                             2.0 4.4 put    gencoro.compat.modules.iostream:merge_prefix
tornado.iostream._set_nonblocking                          3.0 6.0 put    tornado.platform.posix:_set_nonblocking

# HTTP: the client.
tornado.curl_httpclient.CurlAsyncHTTPClient._handle_force_timeout 2.0 6.5 put    gencoro.compat.modules.httpclient:handle_force_timeout
tornado.curl_httpclient.CurlAsyncHTTPClient.initialize     2.0 4.5 wrap   gencoro.compat.modules.httpclient:initializer
tornado.curl_httpclient._curl_create                       2.0 4.0 none
tornado.curl_httpclient._curl_debug                        2.0 4.0 none
tornado.curl_httpclient._curl_header_callback              2.0 4.0 none
tornado.curl_httpclient._curl_setup_request                2.0 4.0 none
tornado.httpclient.AsyncHTTPClient.__init_subclass__       2.0 5.1 wrap   gencoro.compat.modules.httpclient:adopting_subclasses
tornado.httpclient.AsyncHTTPClient.__new__                 2.0 4.5 wrap   gencoro.compat.modules.httpclient:new
tornado.httpclient.AsyncHTTPClient._DEFAULT_MAX_CLIENTS    2.3 2.4 put    gencoro.compat.modules.httpclient:DEFAULT_MAX_CLIENTS
tornado.httpclient.AsyncHTTPClient.fetch                   2.0 5.1 wrap   gencoro.compat.modules.httpclient:fetch
tornado.httpclient.AsyncHTTPClient.initialize              3.0 4.5 wrap   gencoro.compat.modules.httpclient:initializer
tornado.httpclient.HTTPClient.__init__                     2.0 4.5 wrap   gencoro.compat.modules.httpclient:beside_running_loop
tornado.httpclient.HTTPClient.close                        2.0 4.5 wrap   gencoro.compat.modules.httpclient:beside_running_loop
tornado.httpclient.HTTPClient.fetch                        2.0 4.5 wrap   gencoro.compat.modules.httpclient:beside_running_loop
tornado.httpclient.HTTPRequest.body_producer               4.0 5.1 put    gencoro.compat.modules.httpclient:body_producer
tornado.httpclient.HTTPRequest.header_callback             3.2 5.1 put    gencoro.compat.modules.httpclient:header_callback
tornado.httpclient.HTTPRequest.prepare_curl_callback       3.2 5.1 put    gencoro.compat.modules.httpclient:prepare_curl_callback
tornado.httpclient.HTTPRequest.streaming_callback          3.2 5.1 put    gencoro.compat.modules.httpclient:streaming_callback
tornado.httpclient.HTTPResponse._get_body                  2.0 4.3 put    gencoro.compat.modules.httpclient:get_body
tornado.simple_httpclient.CertificateError                 2.0 2.4 put    ssl:CertificateError
tornado.simple_httpclient.SimpleAsyncHTTPClient._handle_request 3.1 4.5 wrap   gencoro.compat.modules.httpclient:handle_request
tornado.simple_httpclient.SimpleAsyncHTTPClient.initialize 2.0 4.5 wrap   gencoro.compat.modules.httpclient:initializer
tornado.simple_httpclient._DEFAULT_CA_CERTS                2.0 3.2 put    gencoro.compat.modules.httpclient:DEFAULT_CA_CERTS
tornado.simple_httpclient._HTTPConnection.__init__         2.0 4.5 wrap   gencoro.compat.modules.httpclient:connection_initializer
tornado.simple_httpclient._HTTPConnection.headers_received 4.0 5.1 wrap   gencoro.compat.calls.started_coroutines:starting
tornado.simple_httpclient._default_ca_certs                4.0 4.5 put    gencoro.compat.modules.httpclient:default_ca_certs
tornado.simple_httpclient._dnsname_to_pat                  2.0 2.4 none
tornado.simple_httpclient.certifi                          4.0 4.5 put    gencoro.compat.modules.httpclient:certifi
tornado.simple_httpclient.match_hostname                   2.0 2.4 put    gencoro.compat.modules.hostnames:match_hostname

# HTTP: handlers and applications.
tornado.web.Application.__init__                           2.0 6.6 wrap   gencoro.compat.modules.application:application
tornado.web.Application._get_host_handlers                 2.0 4.4 none
tornado.web.Application.add_transform                      2.0 2.2 wrap   gencoro.compat.modules.application:add_transform
tornado.web.Application.handlers                           2.0 4.4 put    gencoro.compat.modules.application:handlers
tornado.web.Application.named_handlers                     2.0 4.4 put    gencoro.compat.modules.application:named_handlers
tornado.web.ChunkedTransferEncoding                        2.0 3.2 put    gencoro.compat.modules.application:ChunkedTransferEncoding
tornado.web.GZipContentEncoding.transform_first_chunk      2.0 2.2 wrap   gencoro.compat.modules.application:transform_first_chunk
tornado.web.HTTPError.log_message                          2.0 6.4 put    gencoro.compat.modules.web:log_message
tornado.web.OutputTransform.transform_first_chunk          2.0 2.2 wrap   gencoro.compat.modules.application:transform_first_chunk
tornado.web.RequestHandler._ARG_DEFAULT                    2.0 5.1 put    tornado.web:_ARG_DEFAULT
tornado.web.RequestHandler._INVALID_HEADER_CHAR_RE         3.1 6.4 put    gencoro.compat.modules.web:CONTROL_CHARACTER
tornado.web.RequestHandler._clear_headers_for_304          2.3 6.0 put    tornado.web:RequestHandler._clear_representation_headers
tornado.web.RequestHandler._cookie_signature               2.0 2.0 put    gencoro.compat.modules.web:cookie_signature
tornado.web.RequestHandler._execute                        2.0 5.1 wrap   gencoro.compat.modules.web:execute
tornado.web.RequestHandler._execute_finish                 3.1 3.2 none
tornado.web.RequestHandler._execute_method                 3.1 3.2 none
tornado.web.RequestHandler._generate_headers               2.0 3.2 none
tornado.web.RequestHandler._stack_context_handle_exception 2.0 5.1 put    gencoro.compat.modules.web:stack_context_handle_exception
tornado.web.RequestHandler._when_complete                  3.1 3.2 none
tornado.web.RequestHandler.async_callback                  2.0 3.2 put    gencoro.compat.modules.web:async_callback
tornado.web.RequestHandler.clear_all_cookies               3.2 6.2 wrap   gencoro.compat.modules.web:clear_all_cookies
tornado.web.RequestHandler.clear_cookie                    2.0 6.2 wrap   gencoro.compat.modules.web:clear_cookie
tornado.web.RequestHandler.flush                           2.1 5.1 wrap   gencoro.compat.modules.web:flush
tornado.web.RequestHandler.get_error_html                  2.0 3.2 put    gencoro.compat.modules.web:get_error_html
tornado.web.RequestHandler.path_args                       3.0 5.1 put    gencoro.compat.modules.web:NOT_YET
tornado.web.RequestHandler.path_kwargs                     3.0 5.1 put    gencoro.compat.modules.web:NOT_YET
tornado.web.RequestHandler.set_status                      3.0 5.1 wrap   gencoro.compat.modules.web:set_status
tornado.web.RequestHandler.write_error                     2.1 3.2 wrap   gencoro.compat.modules.web:write_error
tornado.web.StaticFileHandler.get                          2.0 5.1 wrap   gencoro.compat.modules.web:get_static_file
tornado.web.URLSpec._find_groups                           2.0 4.4 put    gencoro.compat.modules.application:find_groups
tornado.web.URLSpec._group_count                           2.0 4.4 put    gencoro.compat.modules.application:group_count
tornado.web.URLSpec._path                                  2.0 4.4 put    gencoro.compat.modules.application:path
tornado.web._HandlerDelegate.execute                       2.0 5.1 wrap   gencoro.compat.modules.web:execute_delegate
tornado.web._O                                             2.0 2.0 put    tornado.util:ObjectDict
tornado.web._RequestDispatcher                             4.0 4.4 none
tornado.web._create_signature                              2.1 3.2 put    tornado.web:_create_signature_v1
tornado.web._time_independent_equals                       2.0 5.1 put    hmac:compare_digest
tornado.web._unquote_or_none                               4.0 4.4 put    tornado.routing:_unquote_or_none
tornado.web.asynchronous                                   2.0 5.1 put    gencoro.compat.modules.web:asynchronous

# HTTP: the server and the modules below it.
tornado.http1connection.HTTP1Connection._read_chunked_body 2.0 6.5 wrap   gencoro.compat.modules.http1connection:read_chunked_body
tornado.http1connection.HTTP1Connection.address            2.0 3.2 put    gencoro.compat.modules.http1connection:address
tornado.http1connection.HTTP1Connection.close              4.0 4.5 wrap   gencoro.compat.modules.http1connection:close
tornado.http1connection.HTTP1Connection.finish             4.0 4.5 wrap   gencoro.compat.modules.http1connection:finish
tornado.http1connection.HTTP1Connection.read_response      4.0 5.1 wrap   gencoro.compat.modules.http1connection:read_response
tornado.http1connection.HTTP1Connection.set_close_callback 4.0 5.1 wrap   gencoro.compat.modules.http1connection:set_close_callback
tornado.http1connection.HTTP1Connection.write              4.0 5.1 wrap   gencoro.compat.modules.http1connection:write
tornado.http1connection.HTTP1Connection.write_headers      4.0 5.1 wrap   gencoro.compat.modules.http1connection:write_headers
tornado.http1connection.HTTP1Connection.xheaders           2.0 3.2 put    gencoro.compat.modules.http1connection:TRUSTS_PROXY
tornado.http1connection.HTTP1ServerConnection.close        4.0 5.1 wrap   gencoro.compat.calls.started_coroutines:starting
tornado.http1connection._GzipMessageDelegate.__init__      4.0 6.4 wrap   gencoro.compat.modules.http1connection:decoder_initializer
tornado.http1connection._GzipMessageDelegate.data_received 4.0 5.1 wrap   gencoro.compat.calls.started_coroutines:starting
tornado.httpserver.HTTPConnection                          2.0 3.2 put    gencoro.compat.modules.httpserver:HTTPConnection
tornado.httpserver.HTTPServer.initialize                   2.0 4.5 wrap   gencoro.compat.modules.httpserver:initialize
tornado.httpserver.HTTPServer.close_all_connections        4.0 5.1 wrap   gencoro.compat.calls.started_coroutines:starting
tornado.httpserver._BadRequestException                    2.0 3.2 put    tornado.httputil:HTTPInputError
tornado.httpserver._ProxyAdapter.__init__                  2.0 3.2 wrap   gencoro.compat.modules.httpserver:proxy_adapter
tornado.httpserver._ServerRequestAdapter                   4.0 4.4 none
tornado.httpserver._cpu_count                              2.0 2.0 put    tornado.process:cpu_count
tornado.httputil.HTTPHeaders._NORMALIZED_HEADER_RE         2.0 3.0 put    gencoro.compat.modules.httputil:WORDS_OF_HEADER
tornado.httputil.HTTPHeaders._normalize_name               2.0 3.0 put    gencoro.compat.modules.httputil:normalize_name
tornado.httputil.HTTPHeaders._normalized_headers           2.0 3.0 put    gencoro.compat.modules.httputil:NORMALIZED_HEADERS
tornado.httputil.HTTPServerRequest.__init__                2.0 6.6 wrap   gencoro.compat.modules.httputil:request
tornado.httputil.HTTPServerRequest.finish                  2.0 5.1 put    gencoro.compat.modules.httputil:finish
tornado.httputil.HTTPServerRequest.supports_http_1_1       2.0 5.1 put    gencoro.compat.modules.httputil:supports_http_1_1
tornado.httputil.HTTPServerRequest.write                   2.0 5.1 put    gencoro.compat.modules.httputil:write
tornado.httputil.SSLError                                  4.0 5.1 put    ssl:SSLError
tornado.httputil._CRLF_RE                                  4.1 6.0 put    gencoro.compat.modules.httputil:CRLF
tornado.httputil._NormalizedHeaderCache                    3.1 6.0 put    gencoro.compat.modules.httputil:NormalizedHeaderCache
tornado.httputil._OctalPatt                                4.4 6.4 put    gencoro.compat.modules.httputil:OCTAL_ESCAPE
tornado.httputil._QuotePatt                                4.4 6.4 put    gencoro.compat.modules.httputil:QUOTED_CHARACTER
tornado.httputil._normalized_headers                       3.1 6.0 put    gencoro.compat.modules.httputil:NORMALIZED_HEADERS
tornado.httputil._nulljoin                                 4.4 6.4 put    gencoro.compat.modules.httputil:join
tornado.wsgi.HTTPRequest                                   2.0 3.2 put    gencoro.compat.modules.wsgi:HTTPRequest
tornado.wsgi.WSGIAdapter                                   4.0 5.1 put    gencoro.compat.modules.wsgi:WSGIAdapter
tornado.wsgi.WSGIApplication                               2.0 5.1 put    gencoro.compat.modules.wsgi:WSGIApplication
tornado.wsgi.WSGIContainer.__call__                        2.0 6.2 wrap   gencoro.compat.modules.wsgi:call_container
tornado.wsgi.WSGIContainer.environ                         2.0 6.2 wrap   gencoro.compat.modules.wsgi:environ
tornado.wsgi._WSGIConnection                               4.0 5.1 put    gencoro.compat.modules.wsgi:WSGIConnection
tornado.wsgi._WSGIRequestContext                           4.0 5.1 put    gencoro.compat.modules.wsgi:WSGIRequestContext
tornado.wsgi._dummy_future                                 4.0 5.1 put    gencoro.compat.modules.wsgi:dummy_future
tornado.wsgi.from_wsgi_str                                 2.4 5.1 put    gencoro.compat.modules.wsgi:from_wsgi_str

# WebSockets.
tornado.websocket.PeriodicCallback                         4.5 6.4 put    tornado.ioloop:PeriodicCallback
tornado.websocket.WebSocketClientConnection.__init__       3.0 4.5 wrap   gencoro.compat.modules.websocket:client_init
tornado.websocket.WebSocketHandler._detach_stream          2.0 6.0 wrap   gencoro.compat.modules.websocket:detach_stream
tornado.websocket.WebSocketHandler.allow_draft76           2.2 3.2 put    gencoro.compat.modules.websocket:allow_draft76
tornado.websocket.WebSocketHandler.async_callback          2.0 3.2 put    gencoro.compat.modules.websocket:async_callback
tornado.websocket.WebSocketHandler.client_terminated       2.0 2.1 put    gencoro.compat.modules.websocket:client_terminated
tornado.websocket.WebSocketHandler.get                     4.0 5.1 wrap   gencoro.compat.modules.websocket:get
tornado.websocket.WebSocketHandler.get_websocket_scheme    2.2 3.2 put    gencoro.compat.modules.websocket:get_websocket_scheme
tornado.websocket.WebSocketHandler.send_error              4.1 6.1 put    gencoro.compat.modules.websocket:send_error
tornado.websocket.WebSocketHandler.stream                  2.0 6.0 put    gencoro.compat.modules.websocket:stream
tornado.websocket.WebSocketProtocol.async_callback         2.1 3.2 put    gencoro.compat.modules.websocket:protocol_async_callback
tornado.websocket.WebSocketProtocol13.__init__             2.2 5.1 wrap   gencoro.compat.modules.websocket:protocol_init
tornado.websocket.WebSocketProtocol13._apply_mask          3.0 3.1 put    gencoro.compat.modules.websocket:apply_mask
tornado.websocket.WebSocketProtocol13.close                2.2 4.5 wrap   gencoro.compat.modules.websocket:on_its_loop
tornado.websocket.WebSocketProtocol13.periodic_ping        4.5 6.4 wrap   gencoro.compat.modules.websocket:periodic_ping
tornado.websocket.WebSocketProtocol13.ping_timeout         4.5 6.4 put    gencoro.compat.modules.websocket:ping_timeout
tornado.websocket.WebSocketProtocol13.write_message        2.2 4.5 wrap   gencoro.compat.modules.websocket:on_its_loop
tornado.websocket.WebSocketProtocol13.write_ping           3.0 4.5 wrap   gencoro.compat.modules.websocket:on_its_loop
tornado.websocket.WebSocketProtocol76                      2.1 3.2 none
tornado.websocket.WebSocketProtocol8                       2.1 2.1 put    tornado.websocket:WebSocketProtocol13
tornado.websocket.WebSocketRequest                         2.0 2.0 none
tornado.websocket._PerMessageDeflateDecompressor.__init__  4.5 5.0 wrap   gencoro.compat.modules.websocket:decompressor_init
tornado.websocket._websocket_mask_python                   3.2 3.2 put    tornado.util:_websocket_mask_python
tornado.websocket._wrap_method                             4.0 4.4 put    gencoro.compat.modules.websocket:wrap_method
tornado.websocket.websocket_connect                        3.0 4.5 wrap   gencoro.compat.modules.websocket:connect
tornado.websocket.xrange                                   3.0 5.1 put    builtins:range

# Third-party authentication.
tornado.auth.FacebookGraphMixin._on_facebook_request       2.0 4.2 put    gencoro.compat.modules.auth:on_json
tornado.auth.FacebookGraphMixin.facebook_request           2.0 5.1 wrap   gencoro.compat.modules.auth:callback_at_2
tornado.auth.FacebookGraphMixin.get_authenticated_user     2.0 5.1 wrap   gencoro.compat.modules.auth:callback_at_5
tornado.auth.FacebookMixin                                 2.0 4.1 put    gencoro.compat.modules.auth:FacebookMixin
tornado.auth.FriendFeedMixin                               2.0 4.1 put    gencoro.compat.modules.auth:FriendFeedMixin
tornado.auth.GoogleMixin                                   2.0 4.1 put    gencoro.compat.modules.auth:GoogleMixin
tornado.auth.GoogleOAuth2Mixin._on_access_token            3.2 5.1 put    gencoro.compat.modules.auth:on_json
tornado.auth.GoogleOAuth2Mixin.get_authenticated_user      3.2 5.1 wrap   gencoro.compat.modules.auth:callback_at_3
tornado.auth.OAuth2Mixin._on_oauth2_request                4.3 5.1 put    gencoro.compat.modules.auth:on_json
tornado.auth.OAuth2Mixin.authorize_redirect                3.1 5.1 wrap   gencoro.compat.modules.auth:redirected_at_5
tornado.auth.OAuth2Mixin.oauth2_request                    4.3 5.1 wrap   gencoro.compat.modules.auth:callback_at_2
tornado.auth.OAuthMixin._oauth_get_user                    2.0 5.1 put    gencoro.compat.modules.auth:oauth_get_user
tornado.auth.OAuthMixin._oauth_get_user_future             3.0 5.1 wrap   gencoro.compat.modules.auth:oauth_get_user_future
tornado.auth.OAuthMixin._on_access_token                   2.0 5.1 put    gencoro.compat.modules.auth:on_access_token
tornado.auth.OAuthMixin._on_oauth_get_user                 2.0 5.1 put    gencoro.compat.modules.auth:on_oauth_get_user
tornado.auth.OAuthMixin._on_request_token                  2.0 5.1 wrap   gencoro.compat.modules.auth:on_request_token
tornado.auth.OAuthMixin.authorize_redirect                 2.0 5.1 wrap   gencoro.compat.modules.auth:redirect_at_4
tornado.auth.OAuthMixin.get_authenticated_user             2.0 5.1 wrap   gencoro.compat.modules.auth:callback_at_1
tornado.auth.OpenIdMixin.__init__                          2.0 6.5 wrap   gencoro.compat.modules.auth:mixin_init
tornado.auth.OpenIdMixin._on_authentication_verified       2.0 5.1 wrap   gencoro.compat.modules.auth:on_authentication_verified
tornado.auth.OpenIdMixin.authenticate_redirect             3.1 5.1 wrap   gencoro.compat.modules.auth:redirected_at_3
tornado.auth.OpenIdMixin.get_authenticated_user            2.0 5.1 wrap   gencoro.compat.modules.auth:callback_at_1
tornado.auth.TwitterMixin._oauth_get_user                  2.0 2.4 put    gencoro.compat.modules.auth:twitter_oauth_get_user
tornado.auth.TwitterMixin._oauth_get_user_future           3.0 5.1 wrap   gencoro.compat.modules.auth:oauth_get_user_future
tornado.auth.TwitterMixin._on_twitter_request              2.0 5.1 put    gencoro.compat.modules.auth:on_json
tornado.auth.TwitterMixin._parse_user_response             2.0 2.4 put    gencoro.compat.modules.auth:twitter_parse_user_response
tornado.auth.TwitterMixin.authenticate_redirect            2.0 5.1 wrap   gencoro.compat.modules.auth:redirect_at_2
tornado.auth.TwitterMixin.twitter_request                  2.0 5.1 wrap   gencoro.compat.modules.auth:callback_at_2
tornado.auth._auth_future_to_callback                      3.0 5.1 put    gencoro.compat.modules.auth:auth_future_to_callback
tornado.auth._auth_return_future                           3.0 5.1 put    gencoro.compat.modules.auth:auth_return_future
tornado.auth.long                                          4.0 5.1 put    builtins:int

# Resolvers, TCP, processes and autoreload.
tornado.autoreload._close_all_fds                          2.1 2.4 none
tornado.autoreload.exec_in                                 3.0 6.3 put    tornado.util:exec_in
tornado.autoreload.start                                   2.0 4.5 wrap   gencoro.compat.modules.process:start_autoreload
tornado.iostream._client_ssl_defaults                      4.1 6.5 wrap   gencoro.compat.modules.netutil:default_context
tornado.iostream._server_ssl_defaults                      4.1 6.5 wrap   gencoro.compat.modules.netutil:default_context
tornado.iostream.ssl_match_hostname                        3.0 4.5 put    gencoro.compat.modules.hostnames:match_hostname
tornado.netutil.BlockingResolver.initialize                3.0 4.5 wrap   gencoro.compat.modules.netutil:initialize
tornado.netutil.DefaultExecutorResolver.resolve            5.0 5.1 wrap   gencoro.compat.modules.netutil:resolve_async
tornado.netutil.DefaultLoopResolver.resolve                3.0 5.1 wrap   gencoro.compat.modules.netutil:resolve_async
tornado.netutil.ExecutorResolver.initialize                3.0 4.5 wrap   gencoro.compat.modules.netutil:initialize
tornado.netutil.ExecutorResolver.resolve                   3.0 5.1 wrap   gencoro.compat.modules.netutil:resolve
tornado.netutil.OverrideResolver.resolve                   3.0 5.1 wrap   gencoro.compat.modules.netutil:resolve
tornado.netutil.Resolver.__new__                           3.0 4.5 wrap   gencoro.compat.modules.netutil:new_resolver
tornado.netutil.Resolver.initialize                        3.0 4.5 wrap   gencoro.compat.modules.netutil:initialize
tornado.netutil.Resolver.io_loop                           3.0 4.5 put    gencoro.compat.calls.objects_with_loops:IO_LOOP
tornado.netutil.Resolver.resolve                           3.0 5.1 wrap   gencoro.compat.modules.netutil:resolve
tornado.netutil.SSLCertificateError                        3.0 4.5 put    ssl:CertificateError
tornado.netutil.TCPServer                                  2.1 2.4 put    tornado.tcpserver:TCPServer
tornado.netutil.ThreadedResolver.initialize                3.0 4.5 wrap   gencoro.compat.modules.netutil:initialize
tornado.netutil._ERRNO_WOULDBLOCK                          4.0 6.0 put    gencoro.compat.modules.netutil:ERRNO_WOULDBLOCK
tornado.netutil._client_ssl_defaults                       4.0 6.5 wrap   gencoro.compat.modules.netutil:default_context
tornado.netutil._dnsname_to_pat                            3.0 3.1 none
tornado.netutil._server_ssl_defaults                       4.0 6.5 wrap   gencoro.compat.modules.netutil:default_context
tornado.netutil.add_accept_handler                         2.1 4.5 wrap   gencoro.compat.modules.netutil:add_accept_handler
tornado.netutil.set_close_exec                             2.1 6.0 put    tornado.platform.auto:set_close_exec
tornado.netutil.ssl_match_hostname                         3.0 4.5 put    gencoro.compat.modules.hostnames:match_hostname
tornado.netutil.xrange                                     4.0 5.1 put    builtins:range
tornado.platform.caresresolver.CaresResolver.initialize    3.0 4.5 wrap   gencoro.compat.modules.netutil:initialize
tornado.platform.caresresolver.CaresResolver.resolve       3.0 5.1 wrap   gencoro.compat.modules.netutil:resolve
tornado.platform.twisted.Resolver                          3.0 6.4 put    tornado.netutil:Resolver
tornado.platform.twisted.TwistedResolver                   3.0 6.4 put    gencoro.compat.modules.twisted:TwistedResolver
tornado.platform.twisted.install                           2.1 4.5 wrap   gencoro.compat.modules.twisted:install
tornado.platform.twisted.utf8                              3.0 6.4 put    tornado.escape:utf8
tornado.process.Subprocess.__init__                        3.0 4.5 wrap   gencoro.compat.modules.process:make_subprocess
tornado.process.Subprocess.initialize                      3.0 4.5 wrap   gencoro.compat.modules.process:initialize
tornado.process.Subprocess.set_exit_callback               3.0 5.1 wrap   gencoro.compat.modules.process:set_exit_callback
tornado.process.Subprocess.uninitialize                    3.0 4.5 wrap   gencoro.compat.modules.process:uninitialize
tornado.process._pipe_cloexec                              3.1 6.0 put    os:pipe
tornado.process.errno_from_exception                       4.0 6.0 put    tornado.util:errno_from_exception
tornado.process.fork_processes                             2.0 4.5 wrap   gencoro.compat.modules.process:fork_processes
tornado.process.long                                       3.0 5.1 put    builtins:int
tornado.process.set_close_exec                             3.1 6.0 put    tornado.platform.auto:set_close_exec
tornado.locks.Condition.io_loop                            4.2 6.1 put    gencoro.compat.calls.objects_with_loops:IO_LOOP
tornado.queues.gen                                         4.2 6.5 put    tornado.gen
tornado.tcpclient.TCPClient.__init__                       4.0 4.5 wrap   gencoro.compat.modules.tcp:make_client
tornado.tcpclient.TCPClient.connect                        4.0 5.1 wrap   gencoro.compat.modules.tcp:connect
tornado.tcpclient.TCPClient.io_loop                        4.0 4.5 put    gencoro.compat.calls.objects_with_loops:IO_LOOP
tornado.tcpclient.TimeoutError                             5.0 6.5 put    tornado.gen:TimeoutError
tornado.tcpclient._Connector.__init__                      4.0 4.5 wrap   gencoro.compat.modules.tcp:make_connector
tornado.tcpclient.set_close_exec                           4.5 6.0 put    tornado.platform.auto:set_close_exec
tornado.tcpserver.TCPServer.__init__                       3.0 4.5 wrap   gencoro.compat.modules.tcp:make_server
tornado.tcpserver.TCPServer.add_sockets                    3.0 4.5 wrap   gencoro.compat.modules.tcp:add_sockets
tornado.tcpserver.TCPServer.bind                           4.4 6.1 wrap   gencoro.compat.modules.tcp:bind
tornado.tcpserver.TCPServer.io_loop                        3.0 4.5 put    gencoro.compat.calls.objects_with_loops:IO_LOOP

# Options and logging.
tornado.log.LogFormatter.__init__                          3.0 4.4 wrap   gencoro.compat.modules.log:make_formatter
tornado.options._LogFormatter                              2.0 2.4 put    tornado.log:LogFormatter
tornado.options._Options                                   2.0 2.4 put    gencoro.compat.modules.options:Options
tornado.options.enable_pretty_logging                      2.0 2.4 put    tornado.log:enable_pretty_logging

# Escaping and locales.
tornado.escape._HTML_UNICODE_MAP                           2.0 6.3 none
tornado.escape._XHTML_ESCAPE_DICT                          2.1 6.3 none
tornado.escape._XHTML_ESCAPE_RE                            2.1 6.3 none
tornado.escape._json_decode                                2.0 2.4 put    json:loads
tornado.escape._json_encode                                2.0 2.4 put    json:dumps
tornado.locale.Locale.__init__                             2.0 5.1 wrap   gencoro.compat.modules.locale:make_locale
tornado.locale.Locale.get                                  2.0 5.1 wrap   gencoro.compat.modules.locale:get_locale
tornado.locale.get_supported_locales                       2.0 2.2 wrap   gencoro.compat.modules.locale:get_supported_locales

# Testing.
tornado.testing.AsyncHTTPTestCase.fetch                    2.0 5.1 wrap   gencoro.compat.modules.testing:fetching_errors_too
tornado.testing.AsyncTestCase.__init__                     2.0 5.1 wrap   gencoro.compat.modules.testing:finding_era
tornado.testing.AsyncTestCase._stack_context               2.0 2.4 put    gencoro.compat.modules.testing:stack_context
tornado.testing.AsyncTestCase.run                          2.0 5.1 wrap   gencoro.compat.modules.testing:running_in_context
tornado.testing.LogTrapTestCase                            2.0 4.5 put    gencoro.compat.modules.testing:LogTrapTestCase
tornado.testing.TimeoutError                               4.0 6.5 put    builtins:TimeoutError
tornado.testing._next_port                                 2.0 4.5 put    gencoro.compat.modules.testing:FIRST_PORT
tornado.testing.get_unused_port                            2.0 4.5 put    gencoro.compat.modules.testing:get_unused_port
tornado.testing.iscoroutine                                4.3 5.1 put    inspect:iscoroutine
tornado.testing.iscoroutinefunction                        4.3 5.1 put    inspect:iscoroutinefunction

# Names that Tornado's modules imported, and that programs import from them.
tornado.auth.ArgReplacer                                   3.0 5.1 put    tornado.util:ArgReplacer
tornado.auth.ExceptionStackContext                         4.0 5.1 put    tornado.stack_context:ExceptionStackContext
tornado.auth.Future                                        3.0 5.1 put    tornado.concurrent:Future
tornado.auth.PY3                                           4.4 5.1 put    tornado.util:PY3
tornado.auth.TracebackFuture                               3.2 4.5 put    tornado.concurrent:TracebackFuture
tornado.auth.b                                             2.1 2.4 put    tornado.util:b
tornado.auth.bytes_type                                    2.0 4.0 put    tornado.util:bytes_type
tornado.auth.chain_future                                  3.0 5.1 put    tornado.concurrent:chain_future
tornado.auth.future_set_exc_info                           5.0 5.1 put    tornado.concurrent:future_set_exc_info
tornado.auth.future_set_result_unless_cancelled            5.0 5.1 put    tornado.concurrent:future_set_result_unless_cancelled
tornado.auth.gen                                           3.0 5.1 put    tornado.gen
tornado.auth.gen_log                                       3.0 5.1 put    tornado.log:gen_log
tornado.auth.return_future                                 3.0 5.0 put    tornado.concurrent:return_future
tornado.auth.u                                             3.0 4.3 put    tornado.util:u
tornado.auth.urllib_parse                                  3.0 5.1 put    urllib.parse
tornado.auth.wrap                                          5.1 5.1 put    tornado.stack_context:wrap
tornado.concurrent.ArgReplacer                             3.0 5.1 put    tornado.util:ArgReplacer
tornado.concurrent.ExceptionStackContext                   3.0 5.1 put    tornado.stack_context:ExceptionStackContext
tornado.concurrent.is_finalizing                           4.5 5.1 put    tornado.util:is_finalizing
tornado.concurrent.raise_exc_info                          3.0 5.1 put    tornado.util:raise_exc_info
tornado.concurrent.wrap                                    3.0 5.1 put    tornado.stack_context:wrap
tornado.curl_httpclient.bytes_type                         3.0 4.0 put    tornado.util:bytes_type
tornado.curl_httpclient.gen_log                            3.0 4.0 put    tornado.log:gen_log
tornado.curl_httpclient.stack_context                      2.0 5.1 put    tornado.stack_context
tornado.escape.PY3                                         4.4 5.1 put    tornado.util:PY3
tornado.escape.basestring_type                             3.0 5.1 put    tornado.util:basestring_type
tornado.escape.bytes_type                                  3.0 4.0 put    tornado.util:bytes_type
tornado.escape.u                                           3.0 4.3 put    tornado.util:u
tornado.gen.ExceptionStackContext                          2.2 3.2 put    tornado.stack_context:ExceptionStackContext
tornado.gen.PY3                                            4.4 5.1 put    tornado.util:PY3
tornado.gen.TracebackFuture                                3.0 4.5 put    tornado.concurrent:TracebackFuture
tornado.gen.raise_exc_info                                 4.2 5.1 put    tornado.util:raise_exc_info
tornado.gen.stack_context                                  4.0 5.1 put    tornado.stack_context
tornado.gen.wrap                                           3.0 3.2 put    tornado.stack_context:wrap
tornado.http1connection.PY3                                4.4 5.1 put    tornado.util:PY3
tornado.http1connection.stack_context                      4.0 5.1 put    tornado.stack_context
tornado.httpclient.TracebackFuture                         3.2 4.5 put    tornado.concurrent:TracebackFuture
tornado.httpclient.bytes_type                              2.0 2.4 put    tornado.util:bytes_type
tornado.httpclient.import_object                           2.0 2.4 put    tornado.util:import_object
tornado.httpclient.stack_context                           3.0 5.1 put    tornado.stack_context
tornado.httpserver.b                                       2.0 2.4 put    tornado.util:b
tornado.httpserver.bytes_type                              2.0 3.2 put    tornado.util:bytes_type
tornado.httpserver.gen                                     4.0 5.1 put    tornado.gen
tornado.httpserver.gen_log                                 3.0 3.2 put    tornado.log:gen_log
tornado.httpserver.ioloop                                  2.0 2.0 put    tornado.ioloop
tornado.httpserver.parse_qs_bytes                          2.0 3.2 put    tornado.escape:parse_qs_bytes
tornado.httpserver.stack_context                           2.0 3.2 put    tornado.stack_context
tornado.httpserver.utf8                                    2.0 2.3 put    tornado.escape:utf8
tornado.httputil.PY3                                       4.4 5.1 put    tornado.util:PY3
tornado.httputil.b                                         2.0 2.4 put    tornado.util:b
tornado.httputil.bytes_type                                4.0 4.0 put    tornado.util:bytes_type
tornado.httputil.gen_log                                   3.0 6.4 put    tornado.log:gen_log
tornado.ioloop.PY3                                         4.4 5.1 put    tornado.util:PY3
tornado.ioloop.ThreadPoolExecutor                          5.0 5.1 put    concurrent.futures:ThreadPoolExecutor
tornado.ioloop.TracebackFuture                             3.0 4.5 put    tornado.concurrent:TracebackFuture
tornado.ioloop.errno_from_exception                        4.0 5.1 put    tornado.util:errno_from_exception
tornado.ioloop.gen_log                                     3.0 5.1 put    tornado.log:gen_log
tornado.ioloop.set_close_exec                              2.1 5.1 put    tornado.platform.auto:set_close_exec
tornado.ioloop.stack_context                               2.0 5.1 put    tornado.stack_context
tornado.ioloop.timedelta_to_seconds                        4.0 5.1 put    tornado.util:timedelta_to_seconds
tornado.ioloop.unicode_type                                5.0 5.1 put    tornado.util:unicode_type
tornado.ioloop.utf8                                        2.0 2.0 put    tornado.escape:utf8
tornado.iostream.SSLCertificateError                       3.0 4.5 put    tornado.netutil:SSLCertificateError
tornado.iostream.TracebackFuture                           4.0 4.5 put    tornado.concurrent:TracebackFuture
tornado.iostream.app_log                                   3.0 5.1 put    tornado.log:app_log
tornado.iostream.b                                         2.0 2.4 put    tornado.util:b
tornado.iostream.bytes_type                                2.0 4.0 put    tornado.util:bytes_type
tornado.iostream.stack_context                             2.0 5.1 put    tornado.stack_context
tornado.locale.PY3                                         4.4 5.1 put    tornado.util:PY3
tornado.locale.u                                           3.0 4.3 put    tornado.util:u
tornado.netutil.IOStream                                   2.1 2.4 put    tornado.iostream:IOStream
tornado.netutil.PY3                                        4.4 5.1 put    tornado.util:PY3
tornado.netutil.SSLIOStream                                2.1 2.4 put    tornado.iostream:SSLIOStream
tornado.netutil.gen                                        5.0 5.1 put    tornado.gen
tornado.netutil.process                                    2.1 2.4 put    tornado.process
tornado.netutil.u                                          3.2 4.3 put    tornado.util:u
tornado.options.stack_context                              3.0 5.1 put    tornado.stack_context
tornado.platform.asyncio.stack_context                     3.2 5.1 put    tornado.stack_context
tornado.platform.asyncio.timedelta_to_seconds              4.0 4.0 put    tornado.util:timedelta_to_seconds
tornado.platform.auto.Waker                                2.1 5.1 put    tornado.platform.common:Waker
tornado.platform.common.b                                  2.3 2.4 put    tornado.util:b
tornado.platform.common.errno_from_exception               4.5 5.1 put    tornado.util:errno_from_exception
tornado.platform.common.interface                          2.3 5.1 put    tornado.platform.interface
tornado.platform.epoll.PollIOLoop                          3.0 5.1 put    tornado.ioloop:PollIOLoop
tornado.platform.kqueue.IOLoop                             3.0 5.1 put    tornado.ioloop:IOLoop
tornado.platform.kqueue.PollIOLoop                         3.0 5.1 put    tornado.ioloop:PollIOLoop
tornado.platform.posix.b                                   2.1 2.4 put    tornado.util:b
tornado.platform.posix.common                              4.5 5.1 put    tornado.platform.common
tornado.platform.posix.interface                           2.1 5.1 put    tornado.platform.interface
tornado.platform.select.IOLoop                             3.0 5.1 put    tornado.ioloop:IOLoop
tornado.platform.select.PollIOLoop                         3.0 5.1 put    tornado.ioloop:PollIOLoop
tornado.platform.twisted.IOLoop                            2.1 5.1 put    tornado.ioloop:IOLoop
tornado.platform.twisted.NullContext                       2.1 5.1 put    tornado.stack_context:NullContext
tornado.platform.twisted.app_log                           3.0 5.1 put    tornado.log:app_log
tornado.platform.twisted.return_future                     3.0 3.0 put    tornado.concurrent:return_future
tornado.platform.twisted.timedelta_to_seconds              4.0 5.1 put    tornado.util:timedelta_to_seconds
tornado.platform.twisted.wrap                              3.0 5.1 put    tornado.stack_context:wrap
tornado.process.PY3                                        4.4 5.1 put    tornado.util:PY3
tornado.process.stack_context                              3.0 5.1 put    tornado.stack_context
tornado.simple_httpclient.GzipDecompressor                 2.4 3.2 put    tornado.util:GzipDecompressor
tornado.simple_httpclient.HTTPHeaders                      2.0 3.2 put    tornado.httputil:HTTPHeaders
tornado.simple_httpclient.PY3                              4.4 5.1 put    tornado.util:PY3
tornado.simple_httpclient.SSLIOStream                      2.0 3.2 put    tornado.iostream:SSLIOStream
tornado.simple_httpclient.b                                2.0 2.4 put    tornado.util:b
tornado.simple_httpclient.is_future                        4.0 4.2 put    tornado.concurrent:is_future
tornado.simple_httpclient.native_str                       2.0 3.2 put    tornado.escape:native_str
tornado.simple_httpclient.stack_context                    2.0 5.1 put    tornado.stack_context
tornado.simple_httpclient.utf8                             2.0 5.0 put    tornado.escape:utf8
tornado.stack_context.raise_exc_info                       2.3 5.1 put    tornado.util:raise_exc_info
tornado.tcpclient.timedelta_to_seconds                     5.0 5.1 put    tornado.util:timedelta_to_seconds
tornado.template.PY3                                       4.4 5.1 put    tornado.util:PY3
tornado.template.bytes_type                                2.0 4.0 put    tornado.util:bytes_type
tornado.testing.ExceptionStackContext                      3.0 5.1 put    tornado.stack_context:ExceptionStackContext
tornado.testing.NullContext                                2.0 2.4 put    tornado.stack_context:NullContext
tornado.testing.PY3                                        4.4 5.1 put    tornado.util:PY3
tornado.testing.SimpleAsyncHTTPClient                      2.4 5.1 put    tornado.simple_httpclient:SimpleAsyncHTTPClient
tornado.testing.StackContext                               2.0 2.4 put    tornado.stack_context:StackContext
tornado.testing.gen_log                                    3.0 4.5 put    tornado.log:gen_log
tornado.web.PY3                                            4.4 5.1 put    tornado.util:PY3
tornado.web.b                                              2.0 2.4 put    tornado.util:b
tornado.web.bytes_type                                     2.0 4.0 put    tornado.util:bytes_type
tornado.web.import_object                                  2.1 4.4 put    tornado.util:import_object
tornado.web.is_future                                      4.0 4.2 put    tornado.concurrent:is_future
tornado.web.raise_exc_info                                 2.3 5.1 put    tornado.util:raise_exc_info
tornado.web.re_unescape                                    4.4 4.4 put    tornado.util:re_unescape
tornado.web.split_host_and_port                            4.1 4.4 put    tornado.httputil:split_host_and_port
tornado.web.stack_context                                  2.0 5.1 put    tornado.stack_context
tornado.websocket.PY3                                      4.4 5.1 put    tornado.util:PY3
tornado.websocket.TracebackFuture                          3.2 4.5 put    tornado.concurrent:TracebackFuture
tornado.websocket.b                                        2.1 2.4 put    tornado.util:b
tornado.websocket.bytes_type                               2.1 4.0 put    tornado.util:bytes_type
tornado.websocket.unicode_type                             3.0 3.2 put    tornado.util:unicode_type
tornado.wsgi.Future                                        4.0 5.1 put    tornado.concurrent:Future
tornado.wsgi.PY3                                           4.4 5.1 put    tornado.util:PY3
tornado.wsgi.b                                             2.0 2.4 put    tornado.util:b
tornado.wsgi.bytes_type                                    2.4 4.0 put    tornado.util:bytes_type
tornado.wsgi.native_str                                    2.0 5.1 put    tornado.escape:native_str
tornado.wsgi.parse_qs_bytes                                2.3 3.2 put    tornado.escape:parse_qs_bytes
tornado.wsgi.unicode_type                                  3.0 5.1 put    tornado.util:unicode_type
tornado.wsgi.utf8                                          2.0 2.4 put    tornado.escape:utf8
tornado.wsgi.web                                           2.0 5.1 put    tornado.web
tornado.auth._non_deprecated_return_future                 5.1 5.1 put    gencoro.compat.modules.concurrent:return_future
tornado.ioloop.Waker                                       2.1 5.1 put    gencoro.compat.modules.platform:Waker
"""

# Names that the standard library has removed from modules that it still has.
_PYTHON = """
asyncio.AbstractEventLoopPolicy                            3.4 3.15 add    gencoro.compat.policies:EventLoopPolicy
asyncio.DefaultEventLoopPolicy                             3.4 3.15 add    gencoro.compat.policies:EventLoopPolicy
asyncio.coroutine                                          3.4 3.10 add    gencoro.compat.python:coroutine
asyncio.get_event_loop_policy                              3.4 3.15 add    gencoro.compat.policies:get_event_loop_policy
asyncio.iscoroutinefunction                                3.4 3.15 add    inspect:iscoroutinefunction
asyncio.set_event_loop_policy                              3.4 3.15 add    gencoro.compat.policies:set_event_loop_policy
base64.decodestring                                        2.0 3.8 add    base64:decodebytes
base64.encodestring                                        2.0 3.8 add    base64:encodebytes
cgi.escape                                                 2.0 3.7 add    gencoro.compat.python:escape
collections.AsyncGenerator                                 3.6 3.9 add    collections.abc:AsyncGenerator
collections.AsyncIterable                                  3.5 3.9 add    collections.abc:AsyncIterable
collections.AsyncIterator                                  3.5 3.9 add    collections.abc:AsyncIterator
collections.Awaitable                                      3.5 3.9 add    collections.abc:Awaitable
collections.Callable                                       2.6 3.9 add    collections.abc:Callable
collections.Collection                                     3.6 3.9 add    collections.abc:Collection
collections.Container                                      2.6 3.9 add    collections.abc:Container
collections.Coroutine                                      3.5 3.9 add    collections.abc:Coroutine
collections.Generator                                      3.5 3.9 add    collections.abc:Generator
collections.Hashable                                       2.6 3.9 add    collections.abc:Hashable
collections.ItemsView                                      2.6 3.9 add    collections.abc:ItemsView
collections.Iterable                                       2.6 3.9 add    collections.abc:Iterable
collections.Iterator                                       2.6 3.9 add    collections.abc:Iterator
collections.KeysView                                       2.6 3.9 add    collections.abc:KeysView
collections.Mapping                                        2.6 3.9 add    collections.abc:Mapping
collections.MappingView                                    2.6 3.9 add    collections.abc:MappingView
collections.MutableMapping                                 2.6 3.9 add    collections.abc:MutableMapping
collections.MutableSequence                                2.6 3.9 add    collections.abc:MutableSequence
collections.MutableSet                                     2.6 3.9 add    collections.abc:MutableSet
collections.Reversible                                     3.6 3.9 add    collections.abc:Reversible
collections.Sequence                                       2.6 3.9 add    collections.abc:Sequence
collections.Set                                            2.6 3.9 add    collections.abc:Set
collections.Sized                                          2.6 3.9 add    collections.abc:Sized
collections.ValuesView                                     2.6 3.9 add    collections.abc:ValuesView
configparser.RawConfigParser.readfp                        3.0 3.11 add    configparser:RawConfigParser.read_file
configparser.SafeConfigParser                              3.0 3.11 add    configparser:ConfigParser
fractions.gcd                                              2.6 3.8 add    math:gcd
inspect.ArgSpec                                            2.6 3.10 add    gencoro.compat.python:ArgSpec
inspect.formatargspec                                      2.1 3.10 add    gencoro.compat.python:formatargspec
inspect.getargspec                                         2.1 3.10 add    gencoro.compat.python:getargspec
ssl.match_hostname                                         3.2 3.11 add    gencoro.compat.modules.hostnames:match_hostname
ssl.wrap_socket                                            2.6 3.11 add    gencoro.compat.python:wrap_socket
threading.Thread.isAlive                                   2.0 3.8 add    threading:Thread.is_alive
time.clock                                                 2.0 3.7 add    time:perf_counter
unittest.TestCase.assertAlmostEquals                       2.1 3.11 add    unittest:TestCase.assertAlmostEqual
unittest.TestCase.assertEquals                             2.1 3.11 add    unittest:TestCase.assertEqual
unittest.TestCase.assertItemsEqual                         2.7 2.7 add    unittest:TestCase.assertCountEqual
unittest.TestCase.assertNotAlmostEquals                    2.1 3.11 add    unittest:TestCase.assertNotAlmostEqual
unittest.TestCase.assertNotEquals                          2.1 3.11 add    unittest:TestCase.assertNotEqual
unittest.TestCase.assertNotRegexpMatches                   3.2 3.11 add    unittest:TestCase.assertNotRegex
unittest.TestCase.assertRaisesRegexp                       2.7 3.11 add    unittest:TestCase.assertRaisesRegex
unittest.TestCase.assertRegexpMatches                      2.7 3.11 add    unittest:TestCase.assertRegex
unittest.TestCase.assert_                                  2.1 3.11 add    unittest:TestCase.assertTrue
unittest.TestCase.failIf                                   2.1 3.11 add    unittest:TestCase.assertFalse
unittest.TestCase.failIfAlmostEqual                        2.1 3.11 add    unittest:TestCase.assertNotAlmostEqual
unittest.TestCase.failIfEqual                              2.1 3.11 add    unittest:TestCase.assertNotEqual
unittest.TestCase.failUnless                               2.1 3.11 add    unittest:TestCase.assertTrue
unittest.TestCase.failUnlessAlmostEqual                    2.1 3.11 add    unittest:TestCase.assertAlmostEqual
unittest.TestCase.failUnlessEqual                          2.1 3.11 add    unittest:TestCase.assertEqual
unittest.TestCase.failUnlessRaises                         2.1 3.11 add    unittest:TestCase.assertRaises
unittest.makeSuite                                         2.1 3.12 add    unittest:defaultTestLoader.loadTestsFromTestCase
"""

INSTEAD = {
    "tornado.auth.FacebookMixin": "use FacebookGraphMixin: Facebook Connect has ended",
    "tornado.auth.FriendFeedMixin": "let users sign in elsewhere: FriendFeed has ended",
    "tornado.auth.GoogleMixin": (
        "use GoogleOAuth2Mixin: Google's OpenID service ended in 2015"
    ),
    "tornado.autoreload._close_all_fds": (
        "it is not needed: Python's file descriptors are not inherited"
    ),
    "tornado.curl_httpclient._curl_create": (
        "use CurlAsyncHTTPClient's method of that name"
    ),
    "tornado.curl_httpclient._curl_debug": (
        "use CurlAsyncHTTPClient's method of that name"
    ),
    "tornado.curl_httpclient._curl_header_callback": (
        "use the argument header_callback of HTTPRequest"
    ),
    "tornado.curl_httpclient._curl_setup_request": (
        "use the argument prepare_curl_callback of HTTPRequest"
    ),
    "tornado.database": "use the package torndb, its successor",
    "tornado.escape._HTML_UNICODE_MAP": "use html.entities.name2codepoint",
    "tornado.escape._XHTML_ESCAPE_DICT": "use html.escape",
    "tornado.escape._XHTML_ESCAPE_RE": "use html.escape",
    "tornado.httpserver._ServerRequestAdapter": (
        "use httputil.HTTPServerConnectionDelegate"
    ),
    "tornado.ioloop.IOLoop._impl": "use add_handler: asyncio does the polling",
    "tornado.netutil._dnsname_to_pat": "use check_hostname of an ssl.SSLContext",
    "tornado.platform.twisted.TornadoDelayedCall": "use Twisted's reactor.callLater",
    "tornado.platform.twisted.TornadoReactor": "use Twisted's own asyncioreactor",
    "tornado.platform.twisted.TwistedIOLoop": "use Twisted's own asyncioreactor",
    "tornado.simple_httpclient._dnsname_to_pat": (
        "use check_hostname of an ssl.SSLContext"
    ),
    "tornado.web.Application._get_host_handlers": "use Application.find_handler",
    "tornado.web.RequestHandler._execute_finish": "use RequestHandler.finish",
    "tornado.web.RequestHandler._execute_method": (
        "use prepare(), or override the HTTP method"
    ),
    "tornado.web.RequestHandler._generate_headers": (
        "use write_headers of a handler's request.connection"
    ),
    "tornado.web.RequestHandler._when_complete": "await the Future in a coroutine",
    "tornado.web._RequestDispatcher": "use Application.get_handler_delegate",
    "tornado.websocket.WebSocketProtocol76": (
        "use WebSocketProtocol13, which every browser since 2012 speaks"
    ),
    "tornado.websocket.WebSocketRequest": (
        "use WebSocketHandler, which answers the handshake itself"
    ),
    "tornado.win32_support": "it is not needed: Python supports Windows itself",
}


def _read(rows: str) -> dict[str, Row]:
    """Return the rows by name.

    >>> _read("# gen\\na.b 2.0 5.1 put c:d")
    {'a.b': Row(first='2.0', last='5.1', how='put', place='c:d')}
    """
    table = {}
    for line in rows.splitlines():
        if line and not line.startswith("#"):
            name, first, last, how, *place = line.split()
            table[name] = Row(first, last, how, *(place or [""]))
    return table


TORNADO = _read(_TORNADO)
PYTHON = _read(_PYTHON)
TABLE = TORNADO | PYTHON
