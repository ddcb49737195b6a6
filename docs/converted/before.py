from tornado import gen, web


class Page(web.RequestHandler):
    @gen.coroutine
    def load(self, key):
        row = yield self.settings["db"].fetch(key)
        raise gen.Return(row.text)

    @gen.coroutine
    def get(self):
        first, last = yield [self.load(1), self.load(9)]
        self.write((yield self.load(2)) + first + last)
