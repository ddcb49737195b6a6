"""What stands in Tornado's modules while compat is installed, one file for each of them.

`gencoro.compat.names` says which name goes where.  Beside the modules of Tornado's names:
`futures` is the Future of `tornado.concurrent`, `application` a part of `tornado.web`,
`hostnames` of `tornado.netutil`, `pollers` of `tornado.ioloop`; `python` is for what Python
itself has removed.
"""
