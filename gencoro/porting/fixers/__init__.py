"""The fixers, one module each.

Rule: a fixer's examples are its tests and its documentation.

Inside::

    to_coroutine    callback style -> generator coroutines
    to_async        generator coroutines -> native coroutines
"""
