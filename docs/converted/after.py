from tornado import gen, web


class Page(web.RequestHandler):
    async def load(self, key):
        row = await self.settings["db"].fetch(key)
        return row.text

    async def get(self):
        first, last = await gen.multi([self.load(1), self.load(9)])
        self.write(await self.load(2) + first + last)
