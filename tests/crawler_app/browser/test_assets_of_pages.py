"""What a page needs is what Chromium asks for."""

import contextlib
import time

from crawler_app.base.urls import join_or_nothing
from crawler_app.web.documents.css import references_in_css
from crawler_app.web.documents.references import assets_in
from tests.helpers.chromium_page import requested_urls
from tests.helpers.site import Site

STYLE = """@charset "utf-8"; @import 'import1.css'; @import url( "import2.css" ) screen;
/* url(no1.png) */ html { background: url(bg1.png) } #a { background: u\\72l(bg2.png) }
#b { content: 'url(no2.png)'; background: url('bg3\\.png') }
#c { background-image: image-set('set1.png' type('image/png') 1x) }
#d { background: url(no 3.png) } @import 'no4.css'; @namespace url(no5);
@font-face { font-family: F; src: url(font.woff2) format('woff2') } #e { font-family: F }
"""
PAGE = """<!DOCTYPE html><html><head><title><img src=no1.png></title>
<link rel='StyleSheet' href=style.css><link rel=icon href=icon.png>
<link rel=preload as=image href=preload.png><link rel=modulepreload href=module.js>
<link rel=stylesheet href=no2.css disabled><noscript><img src=no3.png></noscript>
<script src=script.js></script><script type=text/x src=no4.js></script>
<script><!-- <script> '<img src=no5.png>' </script> --></script>
<!-- <img src=no6.png> --><!--><img src=yes1.png> --!><img src=yes2.png>
<style>#f { background: url(style.png) }</style></head>
<body background=body.png><div id=a>a</div><div id=b>b</div><div id=c>c</div>
<div id=d>d</div><div id=e>e</div><div id=f>f</div>
<p style="background: url(&quot;attribute.png&quot;)">x</p>
<img src='a b.png'><img src='q.png?x=1&amp;copy=2&copy=3'><image src=image.png>
<picture><source srcset='source.png'><img></picture><img srcset='srcset.png 1x'>
<template><img src=no7.png></template><textarea><img src=no8.png></textarea>
<svg><image href=svg1.png /><image xlink:href=svg2.png /><script href=svg.js />
</svg><img alt='<img src=no9.png>' src=yes3.png><img src=first.png src=no10.png>
<video src=video.mp4 poster=poster.png></video><audio src=audio.mp3 preload=auto></audio>
<input type=image src=input.png><input src=no11.png><embed src=embed.png>
<object data=object.png></object><table background=table.png><td background=td.png>x
</table><iframe src=frame.html></iframe><iframe srcdoc='<img src=srcdoc.png>'></iframe>
<script type=module src=module2.js></script><img src=cut.png alt='"""


def test_assets_are_what_chromium_asks_for(chromium):
    with contextlib.ExitStack() as cleanup:
        site = Site()
        cleanup.callback(site.stop)
        site.answer("/", PAGE.encode())
        site.answer("/style.css", STYLE.encode(), headers={"Content-Type": "text/css"})
        found = [each.value for each in assets_in(PAGE)]
        found += [each.value for each in references_in_css(STYLE)]
        wanted = {join_or_nothing(site.url, value) for value in found}

        chromium.get(site.url)
        asked = set(requested_urls(chromium)) - {site.url}
        deadline = time.monotonic() + 20
        while wanted - asked and time.monotonic() < deadline:
            asked |= set(requested_urls(chromium))

    assert asked == wanted
