"""pika's TornadoConnection declares a queue, publishes and consumes, and closes."""

import sys

import pika
from pika.adapters.tornado_connection import TornadoConnection
from tornado.ioloop import IOLoop

SENT = [b"one", b"two", b"three"]

loop = IOLoop.instance()


class Job:
    def __init__(self, port):
        self.received = []
        self.closed_with = None
        step("it connects")
        self.connection = TornadoConnection(
            pika.ConnectionParameters(host="127.0.0.1", port=port),
            on_open_callback=self.on_open,
            on_close_callback=self.on_close,
            stop_ioloop_on_close=False,
        )

    def on_open(self, connection):
        step("a queue is declared")
        connection.channel(on_open_callback=self.on_channel)

    def on_channel(self, channel):
        self.channel = channel
        channel.queue_declare(self.on_queue, queue="tea", exclusive=True)

    def on_queue(self, frame):
        assert frame.method.queue == "tea"
        step("messages are confirmed")
        self.channel.confirm_delivery(self.on_confirmed)
        for body in SENT:
            self.channel.basic_publish("", "tea", body)

    def on_confirmed(self, frame):
        if frame.method.NAME != "Basic.Ack":
            return
        # One may stand for all before it.
        if frame.method.delivery_tag == len(SENT):
            step("messages are consumed")
            self.channel.basic_consume(self.on_message, queue="tea")

    def on_message(self, channel, deliver, properties, body):
        channel.basic_ack(deliver.delivery_tag)
        self.received.append(body)
        if self.received == SENT:
            self.connection.add_timeout(0.1, self.close)

    def close(self):
        step("the connection is closed")
        self.connection.close()

    def on_close(self, connection, code, text):
        self.closed_with = code
        loop.stop()


def step(name):
    print("step: " + name, flush=True)


job = Job(int(sys.argv[1]))
loop.start()
assert job.closed_with == 200, job.closed_with
