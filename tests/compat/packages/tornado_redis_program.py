"""A script of 2014: tornado-redis in gen.engine, with Task, Callback and Wait."""

import json

import tornadoredis
from tornado import gen, ioloop

from tests.helpers.compat.peers import RedisHandler, serving

seen = {}


@gen.engine
def main(port, callback):
    client = tornadoredis.Client(host="127.0.0.1", port=port)
    client.connect()
    seen["set"] = yield gen.Task(client.set, "greeting", "Grüße")
    seen["get"] = yield gen.Task(client.get, "greeting")
    seen["together"] = yield [gen.Task(client.incr, "visits") for _ in range(3)]

    client.hset("user", "name", "Ada", callback=(yield gen.Callback("name")))
    client.hset("user", "age", "36", callback=(yield gen.Callback("age")))
    yield gen.WaitAll(["name", "age"])
    seen["hash"] = yield gen.Task(client.hgetall, "user")

    with client.pipeline() as pipe:
        pipe.set("x", 1)
        pipe.incr("x")
        seen["pipeline"] = yield gen.Task(pipe.execute)

    subscriber = tornadoredis.Client(host="127.0.0.1", port=port)
    subscriber.connect()
    yield gen.Task(subscriber.subscribe, "news")
    on_kind = {
        "subscribe": (yield gen.Callback("subscribed")),
        "message": (yield gen.Callback("message")),
    }
    subscriber.listen(lambda message: on_kind[message.kind](message))
    yield gen.Wait("subscribed")
    seen["receivers"] = yield gen.Task(client.publish, "news", "hello")
    message = yield gen.Wait("message")
    seen["message"] = message.body

    error = yield gen.Task(client.execute_command, "NOSUCH")
    seen["error"] = str(error)
    yield gen.Task(client.disconnect)
    callback()


with serving(RedisHandler) as port:
    main(port, callback=ioloop.IOLoop.instance().stop)
    ioloop.IOLoop.instance().start()
print(json.dumps(seen))
