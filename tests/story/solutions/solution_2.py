"""Exercise 2: a None for each thread, after the last job, ends it."""

from check import fresh

stage = fresh("2_threads")


class Pool(stage.Pool):
    def __init__(self, site, threads, timeout):
        super().__init__(site, threads, timeout)
        self._threads = threads

    def run(self):
        try:
            super().run()
        finally:
            for _ in range(self._threads):
                self._jobs.put(None)

    def _work(self):
        while (job := self._jobs.get()) is not None:
            try:
                for new_job in stage.visit(self._site, job, self._timeout):
                    self._jobs.put(new_job)
            except BaseException as error:
                self._errors.append(error)
            finally:
                self._jobs.task_done()


def crawl(site, connections, timeout):
    Pool(site, connections, timeout).run()
