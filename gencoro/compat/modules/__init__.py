"""Replacements for Tornado's modules while compat is installed, one file for each.

`gencoro.compat.names` says which name goes where.  A few files serve part of a module:
`concurrent` has the Future of `tornado.concurrent`, `application` a part of `tornado.web`,
`hostnames` of `tornado.netutil`, and `pollers` of `tornado.ioloop`.
"""
