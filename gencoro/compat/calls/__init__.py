"""Support for legacy calls: ``callback=``, ``io_loop=``, and streams::

by_default        attributes that Tornado used to set on instances
callbacks         callback= of Tornado's own functions
io_loops          io_loop= of Tornado's own classes and functions
own_loops         objects that were created with an IOLoop
other_threads     calls on another thread than that of the loop
pinging           how long a WebSocket waits for the answer to a ping
started           native coroutines, called like functions
stream_calls      stream methods with a callback
stream_callbacks  when a stream's callbacks run, and what their errors do
own_streams       programs' own subclasses of BaseIOStream
wsgi_applications WSGI applications, called by Tornado's server
"""
