"""The Celery application whose tasks flower shows and applies."""

import os

from celery import Celery

app = Celery("tasks", broker=os.environ["BROKER"], backend=os.environ["BROKER"])
app.conf.task_send_sent_event = True
# Tasks run in the worker's own process, one at a time.
app.conf.worker_pool = "solo"


@app.task
def add(x, y):
    return x + y
