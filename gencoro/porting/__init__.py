"""Converts coroutines to async def: ``python -m gencoro convert``.

Rule: a coroutine becomes a bare ``async def``, or stays as it is, with the reason and the
place.  No helper is written into a user's file.

Theory of operation
===================

A call of ``@gen.coroutine`` runs the body up to its first wait, and returns a Future.  A call
of an ``async def`` runs nothing until it is awaited, and what it returns can be awaited once
and do nothing else.  So the two are the same exactly where each call is *awaited at once*:
nothing runs between the call and the wait, and nothing else is done with the result.  A
``yield`` of either kind works in both, so any part of a conversion leaves a program that runs.

**Uses** (`uses`).  Each place that names a coroutine is followed until something waits for
the result, or keeps it, drops it or passes it on.  On the way it may be returned by a plain
function, whose uses then decide, or pass through a lambda, a ``functools.partial``, a
decorator or a parameter of the program.  A use that waits at once is: a ``yield`` or an
``await``, also in a list or a dict, or around ``gen.multi`` and the like; a function given to
``run_sync``, ``add_callback``, ``spawn_callback`` or a timer; what Tornado calls and waits for
(`hooks`); a test under ``gen_test``.  A call whose result is waited for only if it is a Future
(`gates`) never is one.

**Resolved decides, unresolved is listed.**  A name is resolved if imports, assignments, base
classes and the construction of objects lead to it (`gencoro.compat.doctor.resolving`);
a method of ``self`` may be that of any subclass (`families`).  A resolved use that does not
wait keeps the coroutine.  A use that only may be one, by the name of the method and its
arguments, does not: it is listed, for a person to look at.  One name is as good as resolved:
that which nothing but coroutines of the program has (`common_names`).  A coroutine that
is not called in the program is converted, since its callers may yield it either way.

**Values** (`values`).  ``yield x`` becomes ``await x``, or ``await gen.multi(x)`` for a list
or a dict.  A wrapper is written only where the value is known to need it.  An unknown value
is awaited as it is, and listed: if it is no Future, it fails at once, with a TypeError.

**Bodies** (`bodies`, `returns`).  ``raise gen.Return(x)`` becomes ``return x`` unless a handler
or a context manager around it sees the one and not the other.

**Evidence** (`gencoro.evidence`).  A recorded run has seen what became of each Future.  It decides
where names leave a doubt, and keeps what it contradicts; what is resolved as kept or dropped
stays even so, since the run may not have come there.

`gencoro.compat.doctor.program` has the modules, functions and classes that all of it is about.
Inside, from the top down; ``.importlinter`` states which module may import which::

    command          the command line
    config           options from pyproject.toml and setup.cfg
    formatting       keeps formatted files formatted
    interactive      asks about each coroutine
    plan             the order in which coroutines can be converted
    report           the conversion as a diff, text, JSON or SARIF
    conversion       converts the sources of a program
    decisions        whether a coroutine becomes an async def
    reasons          the reasons for which coroutines stay, and what is listed
    fixers           the small edits beside it
    rewriting        a coroutine as an async def
    imports          names that the result needs, and imports that go
    annotations      what a coroutine says that it returns
    sleeps           gen.Task of a timer
    bodies           what keeps a body as it is
    returns          where raise gen.Return is seen
    uses             what is done with the result of a coroutine
    gates            calls that are waited for only if they return a Future
    hooks            who else calls a method
    replaced         what may take the place of a coroutine, or look it up
    values           what a yield gets
    coroutines       the coroutines of a program
    families         which methods a call may run
    common_names     names of methods that say nothing
"""
