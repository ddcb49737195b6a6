"""`gen.Callback`, `gen.Wait` and `gen.WaitAll`: callbacks that are told by keys."""

from tests.legacy.golden.stage import program


@program
def wait_takes_what_came_before_it_and_what_comes_after(stage):
    @stage.gen.coroutine
    def main():
        before = yield stage.gen.Callback("before")
        after = yield stage.gen.Callback("after")
        stage.note("callback returned", before("early"))
        stage.note((yield stage.gen.Wait("before")))
        stage.loop.add_callback(after, "late")
        stage.note("waiting")
        stage.note((yield stage.gen.Wait("after")))

    stage.run(main)


@program
def wait_result_is_none_a_value_or_arguments(stage):
    @stage.gen.coroutine
    def main():
        for args in ((), (None,), (1,), ((1, 2),), (1, 2)):
            (yield stage.gen.Callback("key"))(*args)
            stage.note(args, "->", (yield stage.gen.Wait("key")))
        (yield stage.gen.Callback("key"))(1, a=2)
        stage.note((yield stage.gen.Wait("key")))

    stage.run(main)


@program
def wait_all_gives_results_in_the_order_of_its_keys(stage):
    @stage.gen.coroutine
    def main():
        callbacks = []
        for key in "abcd":
            callbacks.append((yield stage.gen.Callback(key)))
        callbacks[1]("B")
        for index in (3, 0):
            stage.loop.add_callback(callbacks[index], "abcd"[index].upper())
        stage.note((yield stage.gen.WaitAll(["a", "b", "d"])))
        stage.loop.add_callback(callbacks[2], "C")
        stage.note((yield stage.gen.WaitAll(("c",))))
        stage.note((yield stage.gen.WaitAll([])))

    stage.run(main)


@program
def callback_resumes_its_coroutine_before_it_returns(stage):
    callbacks = {}

    @stage.gen.coroutine
    def waiting():
        callbacks["key"] = yield stage.gen.Callback("key")
        stage.note("resumed with", (yield stage.gen.Wait("key")))
        yield stage.gen.moment
        stage.note("waiting ends")

    @stage.gen.coroutine
    def main():
        future = waiting()
        yield stage.gen.moment
        stage.note("calling")
        callbacks["key"](42)
        stage.note("called", future)
        yield future

    stage.run(main)


@program
def callback_called_by_its_own_body_does_not_reenter_it(stage):
    @stage.gen.coroutine
    def main():
        callback = yield stage.gen.Callback("key")
        other = yield stage.gen.Callback("other")
        stage.note("calling")
        callback(1)
        other(2)
        stage.note("called")
        stage.note((yield stage.gen.Wait("other")), (yield stage.gen.Wait("key")))

    stage.run(main)


@program
def coroutines_that_resume_each_other_by_callbacks(stage):
    callbacks = {}

    @stage.gen.coroutine
    def player(name, other):
        for stroke in range(2):
            callbacks[name] = yield stage.gen.Callback("ball")
            stage.note(name, "waits")
            if other in callbacks:
                callbacks.pop(other)(stroke)
                stage.note(name, "hit")
            stage.note(name, "gets", (yield stage.gen.Wait("ball")))

    futures = [player("A", "B"), player("B", "A")]
    stage.turn(4)
    stage.note(futures)
    callbacks.pop("B", stage.stop)("out")
    stage.note(futures)


@program
def callback_called_after_the_end_does_nothing(stage):
    callbacks = []

    @stage.gen.coroutine
    def main(error):
        callbacks.append((yield stage.gen.Callback("key")))
        if error:
            raise error
        callbacks[-1]("in time")
        yield stage.gen.Wait("key")

    for error in (None, ValueError("failed")):
        future = main(error)
        stage.turn(2)
        stage.note(future, "callback returned", callbacks[-1]("late"))
        stage.turn()


@program
def thousands_of_waits_that_are_ready_do_not_recurse(stage):
    @stage.gen.coroutine
    def main():
        for number in range(3000):
            (yield stage.gen.Callback("key"))(number)
            result = yield stage.gen.Wait("key")
        raise stage.gen.Return(result)

    future = main()
    stage.turn()
    stage.note(future)
