"""Reads, rewrites and replaces source files.

Inside::

    files      reads the sources; replaces all files or none
    rewriting  makes the changes in a source with LibCST
    nodes      nodes of LibCST that several fixers make
    imports    how a module refers to other modules, and free names
    lines      lines of statements, and the comments in them
    helpers    functions that converted modules define
"""
