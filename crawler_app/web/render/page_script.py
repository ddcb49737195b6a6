"""What runs beside the scripts of a page.

`GUARD` runs among them, before them, and turns off what must not be: windows, peers, service
workers.  `READER` has a world of its own, in which a page can change nothing; it sees the same
document.
"""

__all__ = ["GUARD", "READ", "READER", "SCROLL", "WORLD"]

WORLD = "gencrawl"

GUARD = """(() => {
  for (const name of ["RTCPeerConnection", "webkitRTCPeerConnection"]) delete window[name];
  window.open = () => null;
  window.print = () => {};
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

  const restedFor = async (quietMs, limitMs) => {
    const endsAt = performance.now() + limitMs;
    for (;;) {
      const now = performance.now();
      const leftMs = Math.min(changedAt + quietMs, endsAt) - now;
      if (leftMs <= 0) return;
      await new Promise(resolve => setTimeout(resolve, leftMs));
    }
  };

  // The copy belongs to a document without scripts, so copying starts none.  What is in a shadow
  // tree comes before the content of its host, as a reader of the text meets it.
  const withShadows = (from, to) => {
    const hosts = from.querySelectorAll("*"), copies = to.querySelectorAll("*");
    for (let i = 0; i < hosts.length; i++) {
      if (!hosts[i].shadowRoot) continue;
      const inside = to.ownerDocument.createElement("div");
      for (const child of hosts[i].shadowRoot.childNodes)
        inside.append(to.ownerDocument.importNode(child, true));
      withShadows(hosts[i].shadowRoot, inside);
      copies[i].prepend(...inside.childNodes);
    }
  };

  const read = async (quietMs, limitMs) => {
    await restedFor(quietMs, limitMs);
    const inert = document.implementation.createHTMLDocument("");
    const copy = inert.importNode(document.documentElement, true);
    withShadows(document.documentElement, copy);
    // Shown without scripts only.
    for (const each of copy.querySelectorAll("noscript")) each.remove();
    return {html: copy.outerHTML, url: location.href};
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

  globalThis.gencrawl = {read, scroll};
})();"""

READ = "gencrawl.read({quiet_ms}, {limit_ms})"
SCROLL = "gencrawl.scroll()"
