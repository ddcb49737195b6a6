"""Why a coroutine stays as it is, and what is listed for a person to look at.

Rule: each reason has a code, says in one sentence what is there, and what to do.

Pure.  Used by `gencoro.porting.decisions` and by what shows a conversion.
"""

from typing import NamedTuple

__all__ = ["LISTED", "REASONS", "Reason"]


class Reason(NamedTuple):
    """Why a function stays as it is, or why a place is listed.

    Attributes:
        code: The code, beginning with ``GC9``.
        title: A few words for the summary.
        why: A sentence; ``{name}`` is replaced.
        advice: What a person would do.
    """

    code: str
    title: str
    why: str
    advice: str


# Three lines for each: its key, code and title; why; and the advice.
_REASONS = """
dropped | GC930 | started without waiting
    `{name}` starts it and does not wait for it: an async def would never run
    yield it, or start it with IOLoop.current().spawn_callback()
kept | GC931 | its Future is kept
    the Future of `{name}` is kept, so that the body runs before it is awaited
    yield the call itself; or wrap it in asyncio.ensure_future(), if it may start in the next turn of the loop
used | GC932 | its Future is used as an object
    the Future of `{name}` is used here, which an async def does not return
    yield it, or wrap it in asyncio.ensure_future()
passed-on | GC933 | passed on
    it is passed on here (`{name}`), to what may not wait for it at once
    see what becomes of it; if it is awaited at once, convert it by hand, or record a run as evidence
gated | GC947 | waited for only if it is a Future
    `{name}` is waited for only if its result is a Future, which that of an async def is not
    wait for anything that inspect.isawaitable() knows there
callback | GC934 | called with callback=
    `{name}` is called with callback=, which only gen.coroutine accepts
    yield the call, and use its result
returned-in-block | GC935 | returned from a `with` or `try` block
    `{name}` is returned out of a `with` or a `finally`, which would run before the body
    make the function around it a coroutine that yields the call inside the block
returned-by-coroutine | GC936 | the result of another coroutine
    `{name}` is the result of a coroutine, which would be awaited later, or not at all
    yield the call in that coroutine, and return its value
yielded-elsewhere | GC937 | yielded by a plain generator
    `{name}` is yielded here, but not in a coroutine
    see what runs this generator, and convert by hand
called-elsewhere | GC938 | called by something that does not wait
    {name} calls it and does not wait for its result
    decorate a test with gen_test; let a hook start another function with IOLoop.current().spawn_callback()
decorated | GC939 | decorated
    its decorator `{name}` may keep what it returns, or not wait for it
    check what the decorator does with an async def, and convert by hand
uncertain-decorator | GC902 | uncertain decorator
    its decorator `{name}` may be another one than Tornado's
    import it by its name, and once: `from tornado import gen`
wrapper | GC940 | a wrapper of gen.coroutine
    its decorator `{name}` does more than gen.coroutine, or could not be read
    let the wrapper return gen.coroutine(function), or convert it and what it decorates by hand
decorator-above | GC941 | gen_test above gen.coroutine
    `{name}` above gen.coroutine does not wait for the coroutine
    remove gen.coroutine; the test then runs to its end
decorator-below | GC903 | a decorator below gen.coroutine
    the decorator `{name}` receives the generator function
    check that it does not look into the function, and convert by hand
yield-from | GC910 | yield from
    `yield from {name}` is not allowed in an async def
    decorate that generator with gen.coroutine, and yield its call
yield-point | GC904 | yields a YieldPoint
    it yields {name}, for which only a generator can wait
    yield a Future in its place: see 'Callback style by hand' in docs/porting.rst
own-result | GC948 | a Future with a result of its own
    it yields a Future of a class that defines `result()`, which an await does not call
    give the class an `__await__` that returns that result
in-f-string | GC920 | yields in an f-string
    it yields inside an f-string
    assign the value to a variable first
return-caught | GC905 | gen.Return is caught
    `raise gen.Return` here is caught by `except {name}`, and a `return` is not
    assign the value inside the `try`, and return it after the statement
return-in-with | GC906 | gen.Return in a `with`
    `with {name}` sees `raise gen.Return` as an error, but not a `return`
    assign the value inside the `with`, and return it after the statement
return-in-finally | GC907 | gen.Return in a `finally`
    `raise gen.Return` in a `finally` would become a `return` there
    assign the value, and return it after the `try` statement
return-elsewhere | GC908 | gen.Return from elsewhere
    `{name}` may raise gen.Return, which ends a generator only
    let it return the value, and return that in the coroutine itself
return-arguments | GC909 | gen.Return with other arguments
    gen.Return has other arguments here than one value
    write `return value`, with the one value
stack-context | GC912 | uses a stack context
    it uses a stack context (`{name}`), which does not follow into an async def
    use a contextvars.ContextVar, or `try` around what is yielded
sets-context | GC975 | sets a context variable
    it sets `{name}`, which whoever awaits an async def would see
    return the value, or set the variable in the caller
returns-generator | GC913 | returns a generator
    it may return a generator (`{name}`), which gen.coroutine runs
    yield its items in a coroutine, or decorate that generator
stop-iteration | GC916 | may raise StopIteration
    StopIteration ends a coroutine without `yield`, and is an error in an async def
    write `return` in its place, or `next(items, None)`
name-taken | GC914 | a name is taken
    the name `{name}` is needed, and means something else here
    rename the other one, and convert again
rewriting | GC901 | the source cannot be changed
    the changed source would be invalid: {name}
    convert it by hand, and report this as a defect
asked | GC943 | kept by a comment
    the comment `# gencoro: keep` keeps it
    remove the comment to convert it
public | GC942 | public, and not called here
    nothing here calls it, and --keep-public is set
    convert it if its callers yield or await it
declined | GC946 | declined
    it was declined
    convert again to be asked again
seen | GC944 | a run contradicts
    in a recorded run the Future was {name}
    yield the call at once, and record again
"""

# What does not stop a conversion, unless it is strict.
_LISTED = """
unresolved-use | GC960 | may be a use that does not wait
    `{name}` may be a call of it that does not wait
    see whether it is; if so, let it wait, or keep the function by a comment
unresolved-decorator | GC961 | an unread decorator
    its decorator `{name}` was not read, and now gets an async def
    see whether it waits for the result, or returns it
unresolved-value | GC962 | an unknown value is awaited
    `{name}` is awaited, and may be something else than a Future
    if it fails, wrap it in gen.convert_yielded() or gen.multi()
computed-name | GC963 | a call by a computed name
    `{name}` may find a coroutine by a computed name, and not wait for it at once
    see whether it does
replaced | GC967 | something takes the place of what is awaited
    `{name}` gets another value here, which may not be awaitable
    see whether it returns a Future, or is an async def
named-in-text | GC964 | named in a string
    the string {name} names what is awaited, or a coroutine
    see what uses it: a mock of an async def is an AsyncMock
unread-base | GC965 | an unread base class
    the base class `{name}` was not read, and may call methods without waiting
    convert it together with the program, or look it up
unreadable | GC900 | an unreadable file
    the file cannot be read or parsed: {name}
    make it valid Python 3, and convert again: it may use what is converted
stale-evidence | GC966 | evidence that is ignored
    the evidence for this file is ignored: {name}
    record it again
"""


def _read(text: str) -> dict[str, Reason]:
    """Return the reasons of a table, by their keys."""
    lines = [line.strip() for line in text.strip().splitlines()]
    found = {}
    for head, why, advice in zip(lines[::3], lines[1::3], lines[2::3], strict=True):
        key, code, title = head.split(" | ")
        found[key] = Reason(code, title, why, advice)
    return found


REASONS = _read(_REASONS)
LISTED = _read(_LISTED)
