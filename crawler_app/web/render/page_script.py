"""What runs beside the scripts of a page.

`GUARD` runs among them, before them, and turns off what must not be: windows, peers, service
workers, other pages of the tab.  `STORE` gives a page the localStorage of its user.  `READER` has a world of its own, in which a page can change nothing; it sees the same
document.
"""

__all__ = ["GUARD", "READER", "REST", "SCROLL", "STORE", "WORLD"]

WORLD = "gencrawl"

GUARD = """(() => {
  // Not failing but missing, as in some browsers, so that pages have another way.  A service worker
  // would answer requests that the archive has to have, and outlive the page.
  for (const name of ["RTCPeerConnection", "webkitRTCPeerConnection", "SharedWorker"])
    delete window[name];
  delete Navigator.prototype.serviceWorker;
  // Without a network, it would be false.
  Object.defineProperty(Navigator.prototype, "onLine", {get: () => true});
  window.open = () => null;
  window.print = () => {};
  // Before the page is another one, of the same tab; there is no page with an empty key.
  const here = () => navigation.currentEntry?.index ?? 0, first = here();
  const {go} = History.prototype, {traverseTo} = Navigation.prototype;
  History.prototype.go = function (steps = 0) { if (here() + +steps >= first) go.call(this, steps); };
  History.prototype.back = function () { this.go(-1); };
  Navigation.prototype.traverseTo = function (key, ...given) {
    const index = this.entries().find(each => each.key === key)?.index;
    return traverseTo.call(this, index >= first ? key : "", ...given);
  };
  Navigation.prototype.back = function (...given) {
    return this.traverseTo(this.entries()[here() - 1]?.key, ...given);
  };
})();"""

# In the world of `READER`, where no page can see what is for another.
STORE = """for (const [name, value] of {items}[location.origin] ?? [])
  if (localStorage.getItem(name) === null) localStorage.setItem(name, value);"""

# A mutation of another attribute, such as a style, changes nothing that we read.
READER = """(() => {
  let changedAt = performance.now();
  new MutationObserver(() => { changedAt = performance.now(); }).observe(document, {
    subtree: true, childList: true, characterData: true,
    attributes: true, attributeFilter: ["href", "src", "srcset"]});

  const rest = async (quietMs, limitMs) => {
    const endsAt = performance.now() + limitMs;
    for (;;) {
      const now = performance.now();
      const leftMs = Math.min(changedAt + quietMs, endsAt) - now;
      if (leftMs <= 0) return document;
      await new Promise(resolve => setTimeout(resolve, leftMs));
    }
  };

  // An observer of what is seen is told with the next frame; a hidden page has none.
  const nextFrame = () => new Promise(resolve => {
    requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(resolve)));
    setTimeout(resolve, 500);
  });

  const scroll = async () => {
    const root = document.scrollingElement || document.documentElement;
    const before = root.scrollTop, height = root.scrollHeight;
    window.scrollBy({top: innerHeight, behavior: "instant"});
    await nextFrame();
    return root.scrollTop > before || root.scrollHeight > height;
  };

  globalThis.gencrawl = {rest, scroll};
})();"""

# The document, once it has rested.
REST = "gencrawl.rest({quiet_ms}, {limit_ms})"
SCROLL = "gencrawl.scroll()"
