"""Which coroutines become ``async def``, and what keeps the others from that.

Rule: when it is not certain that the meaning stays the same, the coroutine stays.

Inside::

    callees              which coroutines use each other
    candidates           which functions are coroutines
    awaitables           what a yielded expression is
    decisions            which coroutines become async def, and how
    yields               what the places where they yield become
    problems             what in the body of a coroutine keeps it from that
    context_variables    which coroutines set context variables
    users                which functions run another one
    caught_classes       which classes of handlers catch gen.Return
    context_managers     which context managers treat an error like any other exit
    decorators           which decorators only pass on a result
    delegations          which generators are only delegated to with yield from
    library_objects      which methods the standard library may call
    handled_errors       which coroutines see an error that their caller handles, or exit
    hidden_calls         what runs a function without its name
    raised_returns       what sees a raised gen.Return
    return_classes       classes that inherit from gen.Return
    returned_generators  which returned values may be generators
    scheduling           which coroutines wake what runs before their callers go on
    stack_inspection     which coroutines ask who called them
    tasks                which programs ask for Tasks, or cancel them
    unawaited_calls      calls of Tornado's native coroutines that are not awaited at once
"""
