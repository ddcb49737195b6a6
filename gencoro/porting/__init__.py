"""Converts legacy source code: ``python -m gencoro convert``.

Rule: the meaning stays, or the function stays as it is, with the reason.

The sources of a program are read as a whole and never run; `gencoro.porting.fixers` decide
what to change, and LibCST changes it.  Nothing of gencoro's runtime is imported.

Inside, from the top down; ``.importlinter`` states which layer may import which::

    command      the command line
    report       the conversion as a diff, text, JSON or SARIF
    plan         the order in which functions can be converted
    converting   runs the fixers
    evidence     what recorded runs of the program have shown
    selection    which fixers and functions a user wants
    fixers       one module for each kind of conversion
    callbacks    callback style: what starts callbacks, and what becomes of it
    coroutines   which coroutines become async def, and what keeps the others from that
    source       reads files, changes source code, writes files
    reasons      the reasons for which functions stay as they are
    fixer        what a fixer is
    program      modules, functions and classes; names, references, the call graph
"""
