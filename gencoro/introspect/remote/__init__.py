"""Shows what another process runs and waits for: ``python -m gencoro pstree PID``.

Rule: the examined process goes on as before.  Its snapshot of itself ends within a time
limit, and leaves no thread or file behind.

Inside::

    command    the two commands, ``pstree`` and ``ps``
    attach     chooses how to examine a process
    process    facts from /proc, and whether we may examine the process
    by_signal  asks the handler of `install_signal`, on any Python
    by_script  asks by `sys.remote_exec`, on Python 3.14 and newer
    script     the script that runs in the other process
    decoding   reads an answer
    listing    the table and the JSON
"""
