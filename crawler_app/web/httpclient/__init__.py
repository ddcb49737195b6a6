"""The HTTP client, behind `crawler_app.httpclient`.

It imports nothing else of the crawler.  The modules, from the call to the wire and back::

    client         Tornado's interface, and the queue
    fetch          one call: redirects, one retry, timeouts
    request        HTTPRequest -> bytes, and the key of its connection        pure
    pool           idle keep-alive connections
    dialing        name, address check, TCP, proxy, TLS -> a connection
    socks          the handshake with a SOCKS5 proxy
    connection     the asyncio protocol of a connection
    http_exchange  one request, one response, parsed by llhttp in strict mode
    sending        a request body sent after its head: 100 Continue, body_producer
    repair         what a lenient client repairs in a response                pure
    response       the response head, and Tornado's HTTPResponse with raw data
    body           body handlers: keep, stream with back-pressure, or discard
    decode_queue   decodes large bodies one at a time
    codings        gzip, deflate, br, zstd decoders with a size limit         pure
    redirect       the request that follows a redirect                        pure
    tls            cached TLS contexts
    tls_transport  TLS over a connected transport, with a shared buffer
    tls_faults     why a handshake failed, in words                           pure
    errors         the exceptions
"""
