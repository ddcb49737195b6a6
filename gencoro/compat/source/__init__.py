"""What source code uses of legacy Tornado, read and never run.

`gencoro.compat.source.scan` is the way in.
"""
