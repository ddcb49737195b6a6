"""Renders pages that scripts make, in a headless Chromium without a network::

    pool          browsers and their tabs: started, shared, recycled, restarted
      tab         one page after another: load, wait until it is done, read
      loading     a page under way: its requests, and when it is done
      problems    what the scripts of a page get wrong
      requests    a request of the browser
      page_script what runs beside the scripts of a page
    browser       the process, and what it may do
      launcher    the process between: no network before, nothing left after
      devtools    the DevTools protocol, over a socket that only we have
    choosing      which pages need it
    kept          responses that several pages use

Rule: the browser makes no request.  Each one is paused before it is sent, and the crawl fetches
what it is for, or refuses (`crawler_app.run.crawl.rendering`).
"""
