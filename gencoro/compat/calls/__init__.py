"""Support for legacy calls: ``callback=``, ``io_loop=``, and streams::

callback_arguments  callback= of Tornado's own functions
current_task        asyncio.current_task in a coroutine
default_attributes  attributes that Tornado used to set on instances
io_loop_arguments   io_loop= of Tornado's own classes and functions
legacy_modules      whether a module was written for Tornado 5 or earlier
objects_with_loops  objects that were created with an IOLoop
other_threads       calls on other threads than that of the loop
started_coroutines  native coroutines, called like functions
stream_calls        stream methods with a callback
stream_callbacks    when a stream's callbacks run, and how their errors affect it
stream_subclasses   programs' own subclasses of BaseIOStream
websocket_pings     how long a WebSocket waits for the answer to a ping
wsgi_applications   WSGI applications, called by Tornado's server
"""
