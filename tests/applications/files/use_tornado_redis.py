"""tornado-redis sets and gets, sends a pipeline, and hears what is published."""

import sys

import tornadoredis
from tornado import gen, ioloop

port = int(sys.argv[1])


@gen.engine
def use(callback):
    step("a value is set and got")
    client = tornadoredis.Client(port=port)
    client.connect()
    assert (yield gen.Task(client.set, "name", "Ada"))
    assert (yield gen.Task(client.get, "name")) == "Ada"
    step("a pipeline is executed")
    with client.pipeline() as pipeline:
        pipeline.hset("person", "age", 36)
        pipeline.rpush("list", "x")
        pipeline.lrange("list", 0, -1)
        assert (yield gen.Task(pipeline.execute)) == [1, 1, ["x"]]
    step("a message is published and heard")
    listener = tornadoredis.Client(port=port)
    listener.connect()
    yield gen.Task(listener.subscribe, "news")
    kinds = []

    def on_message(message):
        kinds.append(message.kind)
        if message.kind == "subscribe":
            client.publish("news", "hello")
        elif message.kind == "message":
            assert message.body == "hello"
            listener.unsubscribe("news")
        else:
            callback(kinds)

    listener.listen(on_message)


@gen.coroutine
def main():
    kinds = yield gen.Task(use)
    assert kinds == ["subscribe", "message", "unsubscribe"], kinds


def step(name):
    print("step: " + name, flush=True)


ioloop.IOLoop.instance().run_sync(main)
