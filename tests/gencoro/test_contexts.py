"""Context variables: a coroutine runs in one copy of its caller's context."""

import contextvars

from gencoro import gen

variable = contextvars.ContextVar("variable", default="default")


def test_body_runs_in_one_copy_of_the_callers_context(run):
    seen = []

    @gen.coroutine
    def body():
        seen.append(variable.get())
        token = variable.set("body")
        for waited_for in (gen.moment, gen.sleep(1), [gen.sleep(1)]):
            yield waited_for
            seen.append(variable.get())
        variable.reset(token)
        seen.append(variable.get())

    async def main():
        variable.set("caller")
        await body()
        return variable.get()

    assert run(main) == "caller"
    assert seen == ["caller", "body", "body", "body", "caller"]


def test_caller_sees_nothing_of_what_the_body_sets(run):
    @gen.coroutine
    def body():
        variable.set("body")
        return variable.get()
        yield

    async def main():
        return await body(), variable.get()

    assert run(main) == ("body", "default")


def test_native_coroutine_starts_in_the_context_of_the_body(run):
    async def native():
        return variable.get()

    @gen.coroutine
    def body():
        variable.set("body")
        return (yield native()), (yield from native())

    assert run(body) == ("body", "body")
