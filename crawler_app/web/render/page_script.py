"""What runs beside the scripts of a page.

`GUARD` runs among them, before them, and turns off what must not be: windows, peers, service
workers, other pages of the tab.  `STORE` gives a page the localStorage of its user.  `READER` has
a world of its own, in which a page can change nothing; it sees the same document.
"""

__all__ = ["GUARD", "READER", "STORE", "WORLD"]

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
  // The page is not at rest before these, which only the main world can see.
  for (const name of ["setTimeout", "setInterval"]) {
    const start = window[name];
    window[name] = (code, ms, ...given) => {
      if (ms > 100) document.dispatchEvent(new CustomEvent("gencrawl", {detail: ms}));
      return start(code, ms, ...given);
    };
  }
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

# In the world of `READER`, after it, where no page can see what is for another.
STORE = """
for (const [name, value] of {items}[location.origin] ?? [])
  if (localStorage.getItem(name) === null) localStorage.setItem(name, value);"""

# A mutation of another attribute, such as a style, changes nothing that we read.
READER = """(() => {
  // A page that has asked for all may still change, or wait for a timer or an animation, for so long.
  const quietMs = 500, limitMs = 3000;
  let changesAt = 0;
  const expect = ms => { changesAt = Math.max(changesAt, performance.now() + ms); };
  document.addEventListener("gencrawl", ({detail}) => { if (detail <= limitMs) expect(detail); });

  // What a page has taken away since it was first moved: the rows of a list that are out of sight, or
  // the last route.  As HTML, because a framework may use the same elements again.
  const gone = new Map(), maxGone = 5000;
  let isMoved = false;
  const linksIn = element => [element, ...element.querySelectorAll("[href]")]
    .map(each => each.getAttribute?.("href") ?? null);
  const lose = element => {
    const text = element.textContent, links = linksIn(element);
    if (gone.size < maxGone) gone.set(text + links, {text, links, html: element.outerHTML});
  };
  const note = ({target, removedNodes, attributeName, oldValue}) => {
    if (!document.body?.contains(target)) return;
    for (const node of removedNodes) if (node.nodeType === Node.ELEMENT_NODE) lose(node);
    if (attributeName !== "href" || oldValue === null) return;
    const before = target.cloneNode();
    before.setAttribute("href", oldValue);
    lose(before);
  };
  new MutationObserver(records => {
    expect(0);
    if (isMoved) records.forEach(note);
  }).observe(document, {
    subtree: true, childList: true, characterData: true, attributeOldValue: true,
    attributeFilter: ["href", "src", "srcset"]});

  // What it showed before it was scrolled or moved, and does not show now.
  const lost = () => {
    const text = document.body?.textContent, links = new Set(linksIn(document));
    const isNew = each => !text?.includes(each.text) || each.links.some(link => !links.has(link));
    return [...gone.values()].filter(isNew).map(each => each.html).join("");
  };

  // Another route: the part of the URL from the "#".
  const show = hash => {
    isMoved = true;
    expect(0);
    location.hash = hash;
  };

  // The document, once it has rested; immediately if its time is over.
  const rest = async isOver => {
    const endsAt = performance.now() + (isOver ? 0 : limitMs);
    for (;;) {
      for (const each of document.getAnimations()) {
        const leftMs = each.effect?.getComputedTiming().endTime - each.currentTime;
        if (each.playState === "running" && leftMs <= limitMs) expect(leftMs);
      }
      const leftMs = Math.min(changesAt + quietMs, endsAt) - performance.now();
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
    isMoved = true;
    const root = document.scrollingElement, height = root?.scrollHeight;
    // What a wheel would scroll: the page, or what fills the window in its place.
    const seenIn = tree => tree.elementFromPoint(innerWidth / 2, innerHeight / 2);
    let box = seenIn(document) ?? root, inner, before;
    while (box?.shadowRoot?.contains(inner = seenIn(box.shadowRoot))) box = inner;
    for (; box; box = box.assignedSlot ?? box.parentElement ?? box.getRootNode().host) {
      before = box.scrollTop;
      box.scrollBy({top: innerHeight, behavior: "instant"});
      if (box.scrollTop > before) break;
    }
    await nextFrame();
    return Boolean(box) || root?.scrollHeight > height;
  };

  globalThis.gencrawl = {lost, rest, scroll, show};
})();"""
