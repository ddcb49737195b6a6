"""Shows what another process runs and waits for: ``python -m gencoro pstree PID``.

Rule: the process that is examined is not changed.  What it may have to do for it, such as
taking a snapshot of itself, ends within a time limit, and leaves no module, thread or file.

Inside::

    command    the two commands, ``pstree`` and ``ps``
    attach     which way to examine a process, and the time limit
    process    what the system tells about a process, and whether we may examine it
    by_signal  asks the handler of `install_signal`, on any Python
    by_script  asks by a script, on Python 3.14 and newer
    script     the part of that script that runs in the other process
    waking     interrupts the system call in which a process waits
    unwinding  reads the stacks and Tasks of a process that does not answer
    decoding   reads an answer
    listing    the table and the JSON
    errors     why a process cannot be examined
"""
