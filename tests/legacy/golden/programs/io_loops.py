"""`IOLoop.current` and `instance`: which loop is whose, in which thread, how long."""

from tests.legacy.golden.stage import program


def run_once(loop):
    """Let a loop run for one turn."""
    loop.add_callback(loop.stop)
    loop.start()


def is_current(stage, loop):
    """Is this the current loop of the thread?  Makes none where there is none."""
    return stage.ioloop.IOLoop.current(instance=False) is loop


def without_instance(stage):
    """Undo what `instance` and `install` have done to the stage."""
    stage.ioloop.IOLoop.clear_instance()
    stage.loop.make_current()


@program
def new_loop_becomes_current_only_where_there_is_none(stage):
    IOLoop = stage.ioloop.IOLoop
    second = IOLoop()
    stage.note("beside another", is_current(stage, second))
    second.close()
    stage.loop.clear_current()
    stage.note("cleared", is_current(stage, None))
    third = IOLoop()
    stage.note("alone", is_current(stage, third))
    third.clear_current()
    third.close()
    stage.loop.make_current()


@program
def new_loop_that_has_to_be_current_is_refused_beside_another(stage):
    IOLoop = stage.ioloop.IOLoop
    try:
        second = IOLoop(make_current=True)
    except RuntimeError:
        stage.note("refused")
    else:
        stage.note("accepted")
        second.close()
    stage.note("current as before", is_current(stage, stage.loop))
    stage.loop.make_current()


@program
def instance_beside_a_current_loop(stage):
    IOLoop = stage.ioloop.IOLoop
    without_instance(stage)
    instance = IOLoop.instance()
    stage.note("the same again", IOLoop.instance() is instance)
    stage.note("is the current one", instance is IOLoop.current())
    stage.note("the current one is unchanged", is_current(stage, stage.loop))
    without_instance(stage)
    if instance is not stage.loop:
        instance.close()


@program
def installed_loop_is_the_instance(stage):
    IOLoop = stage.ioloop.IOLoop
    without_instance(stage)
    first, second = IOLoop(make_current=False), IOLoop(make_current=False)
    first.install()
    stage.note("instance", IOLoop.instance() is first)
    stage.note("current", is_current(stage, first))
    try:
        second.install()
    except (AssertionError, RuntimeError):
        stage.note("a second one is refused")
    else:
        stage.note("a second one", IOLoop.instance() is second)
    IOLoop.clear_instance()
    stage.loop.make_current()
    stage.note("cleared", IOLoop.instance() in (first, second))
    for loop in (first, second, IOLoop.instance()):
        if loop is not stage.loop:
            loop.close()
    without_instance(stage)


@program
def initialized_tells_if_there_is_an_instance(stage):
    IOLoop = stage.ioloop.IOLoop
    if not hasattr(IOLoop, "initialized"):
        stage.note("is gone")
        return
    without_instance(stage)
    stage.note("at first", IOLoop.initialized())
    instance = IOLoop.instance()
    stage.note("with an instance", IOLoop.initialized())
    without_instance(stage)
    stage.note("cleared", IOLoop.initialized())
    if instance is not stage.loop:
        instance.close()


@program
def coroutine_stays_on_the_loop_on_which_it_began(stage):
    other = stage.ioloop.IOLoop(make_current=False)
    future = stage.concurrent.Future()

    @stage.gen.coroutine
    def work():
        yield future
        stage.note("resumed")

    work()
    other.make_current()
    future.set_result(None)
    for _ in range(3):
        run_once(other)
    stage.note("the other loop has run")
    stage.turn(3)
    stage.note("its own loop has run")
    stage.loop.make_current()
    other.close()
