"""The keys of `gen.Callback` and `gen.Wait`: which are known, and to whom."""

from tests.legacy.golden.noting import tried
from tests.legacy.golden.stage import program


@program
def wait_all_of_one_key_twice(stage):
    @stage.gen.coroutine
    def main():
        (yield stage.gen.Callback("key"))(42)
        yield from tried(stage, stage.gen.WaitAll(["key", "key"]))
        stage.loop.add_callback((yield stage.gen.Callback("key")), 43)
        yield from tried(stage, stage.gen.WaitAll(["key", "key"]))

    stage.run(main)


@program
def key_that_is_not_known_or_not_any_more(stage):
    @stage.gen.coroutine
    def main():
        yield from tried(stage, stage.gen.Wait("key"))
        (yield stage.gen.Callback("key"))("value")
        yield from tried(stage, stage.gen.Wait("other"))
        yield from tried(stage, stage.gen.WaitAll(["key", "other"]))
        yield from tried(stage, stage.gen.Wait("key"))
        yield from tried(stage, stage.gen.Wait("key"))

    stage.run(main)


@program
def keys_belong_to_one_call_of_one_coroutine(stage):
    @stage.gen.coroutine
    def work(name):
        callback = yield stage.gen.Callback("key")
        stage.loop.add_callback(callback, name)
        raise stage.gen.Return((yield stage.gen.Wait("key")))

    @stage.gen.coroutine
    def thief():
        try:
            yield stage.gen.Wait("key")
        except stage.gen.UnknownKeyError as exc:
            stage.note("thief caught", exc)

    @stage.gen.coroutine
    def main():
        (yield stage.gen.Callback("key"))("main")
        stage.note((yield [work("one"), work("two"), thief()]))
        stage.note((yield stage.gen.Wait("key")))

    stage.run(main)


@program
def list_that_takes_a_key_twice_keeps_the_first(stage):
    @stage.gen.coroutine
    def main():
        yield from tried(stage, [stage.gen.Callback("key"), stage.gen.Callback("key")])
        yield from tried(stage, stage.gen.Callback("key"))

    stage.run(main)
