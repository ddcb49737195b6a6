"""Converts legacy source code: ``python -m gencoro convert``.

Rule: the meaning stays, or the function stays as it is, with the reason.

The sources of a program are read as a whole and never run; `gencoro.porting.fixers` decide
what to change, and LibCST changes it.  Nothing of gencoro's runtime is imported.

Inside::

    command      the command line
    files        reads sources; replaces all files or none
    converting   runs the fixers
    plan         the order of a conversion
    report       diff, text, JSON and SARIF
    fixers       one module for each kind of conversion
    fixer        what a fixer is
    yields       the places where functions yield
    importing    how a module refers to gen and asyncio
    decisions    which coroutines become async def, and how
    problems     what keeps a coroutine from that
    returning    who sees a raised gen.Return
    returned_generators   which values that a coroutine returns may be generators
    neutral      context managers that do not look at errors
    reasons      the texts of refusals
    contexts     which coroutines set context variables
    turns        which coroutines wake what runs before their callers go on
    callers      which coroutines ask who called them
    exports      modules whose names are listed or copied
    handled_errors   which coroutines may see a caller's error, or exit
    components   groups functions that call each other
    contracts    methods that Tornado calls
    awaitables   what a yielded expression is
    candidates   which functions are coroutines
    references   where functions are used
    lookups      where functions may be looked up by name
    replacements what may take the place of a function
    foreign      objects that may come from packages that are not read
    namespaces   classes and modules whose members are not named
    class_hooks  classes that are changed when they are defined
    fetching     fetches with callbacks
    keys         callbacks and waits by key
    handlers     handlers that answer in a callback
    waits        where tests wait
    mentions     the names that a function uses
    eras         modules of tests that must stay legacy
    receivers    methods of Tornado's objects
    swapped      names of Tornado that a program replaces
    giving       gives callbacks to the loop
    legacy       what a program in callback style does
    remaining    what is left of callback style
    callback_functions   functions that take a callback
    tails        how they end
    generator_results   results that may be generators
    delays       callbacks that the loop gets with their values
    timers       for how long timers run
    starting     calls that get a callback
    started      which functions start callbacks
    forwarding   which decorators pass on a result
    finishing    how the paths through a function end
    rewriting    changes a source with LibCST
    trees        nodes of LibCST
    helpers      functions that converted modules define
    program      the modules, functions and classes of a program
    scopes       resolves names, also gencoro's
"""
