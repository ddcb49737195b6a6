"""What runs beside the scripts of a page.

`GUARD` runs among them, before them, and turns off what must not be: windows, peers, service
workers, other pages of the tab.  `READER` has a world of its own, in which a page can change nothing; it sees the same
document.
"""

__all__ = ["GUARD", "READER", "REST", "SCROLL", "WORLD"]

WORLD = "gencrawl"

GUARD = """(() => {
  for (const name of ["RTCPeerConnection", "webkitRTCPeerConnection"]) delete window[name];
  window.open = () => null;
  window.print = () => {};
  // Before the page is another one, of the same tab.
  for (const name of ["back", "forward", "go"]) History.prototype[name] = () => {};
  // A worker would answer requests that the archive has to have, and outlive the page.
  if (window.ServiceWorkerContainer)
    ServiceWorkerContainer.prototype.register = () => new Promise(() => {});
})();"""

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
