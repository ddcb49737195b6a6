// Shows a running crawl from its server-sent events, and controls it.
//
// Rule: text from a site is inserted as text, never as markup.

const token = new URLSearchParams(location.search).get("token");
const element = Object.fromEntries(
  [...document.querySelectorAll("[id]")].map((found) => [found.id, found]),
);

const NAME_BY_PHASE = {
  connecting: "Connecting",
  running: "Running",
  waiting: "Waiting",
  paused: "Paused",
  stopping: "Stopping",
  ended: "Ended",
  lost: "No connection",
};
const SHOWN_MINUTES = 10;
const CHART = { width: 600, top: 4, bottom: 120 };
const RETRY_MS = 5000;

const page = {
  phase: "connecting",
  home: "", // the hosts of the start URLs
  share: null,
  isPaceEdited: false,
  rates: [], // [seconds since the epoch, fetches per second], oldest first
  canSearch: false,
  search: { query: "", offset: 0, aborter: null },
};

// -- formatting ------------------------------------------------------------------------

const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const tenths = new Intl.NumberFormat("en", { maximumFractionDigits: 1 });
const threeDigits = new Intl.NumberFormat("en", { maximumSignificantDigits: 3 });
const clock = new Intl.DateTimeFormat("en", { timeStyle: "medium", hourCycle: "h23" });

function rateText(rate) {
  return (rate < 10 ? tenths : whole).format(rate);
}

function bytesText(bytes) {
  const units = ["B", "KB", "MB", "GB", "TB"];
  let unit = 0;
  while (bytes >= 999.5 && unit < units.length - 1) {
    bytes /= 1000;
    unit += 1;
  }
  return `${threeDigits.format(bytes)} ${units[unit]}`;
}

function durationText(seconds) {
  const parts = [seconds / 3600, (seconds / 60) % 60, seconds % 60].map(Math.floor);
  if (parts[0] === 0) parts.shift();
  return parts.map((part, i) => (i ? String(part).padStart(2, "0") : part)).join(":");
}

function spanText(seconds) {
  const minutes = Math.round(seconds / 60);
  return minutes > 1 ? `last ${minutes} minutes` : "last minute";
}

// -- elements --------------------------------------------------------------------------

function make(tag, className, ...children) {
  const made = document.createElement(tag);
  if (className) made.className = className;
  made.append(...children);
  return made;
}

function makeLink(url, text) {
  if (!/^https?:/i.test(url)) return make("span", "", text);
  const link = make("a", "", text);
  link.href = url;
  link.target = "_blank";
  link.rel = "noopener noreferrer";
  return link;
}

function setText(target, text) {
  // Unchanged text is not set again: screen readers would announce it each time.
  if (target.textContent !== text) target.textContent = text;
}

function fillTable(name, rows, makeCells) {
  const content = JSON.stringify(rows);
  const body = element[name];
  element[`${name}-table`].hidden = rows.length === 0;
  if (body.dataset.content === content) return; // keep focus and selection
  body.dataset.content = content;
  body.replaceChildren(...rows.map((row) => make("tr", "", ...makeCells(row))));
}

// -- the crawl -------------------------------------------------------------------------

function showSample(sample) {
  const count = sample.count_by_state;
  for (const state of ["done", "queued", "under_way", "failed", "skipped"]) {
    setText(element[state], whole.format(count[state]));
  }
  setText(element.received, bytesText(sample.size_bytes));
  setText(element.rate, rateText(sample.fetches_per_s));
  setText(element.elapsed, durationText(sample.elapsed_s));
  page.share = sample.progress.share;
  showPhase(sample.phase);
  showProgress(sample);
  showPace(sample.pace);
  showWait(sample);
  showHosts(sample);
  showUrls(sample);
  showFailures(sample.failures);
}

function showPhase(phase) {
  page.phase = phase;
  element.phase.dataset.phase = phase;
  setText(element["phase-text"], NAME_BY_PHASE[phase]);
  const isLive = ["running", "waiting", "paused"].includes(phase);
  setText(element.pause, phase === "paused" ? "Continue" : "Pause");
  showTitle();
  element.pause.disabled = !isLive;
  element.change.disabled = !isLive;
  element.stop.disabled = !isLive;
  if (!isLive) element.confirm.close();
  const isConnected = isLive || phase === "stopping";
  element.find.disabled = !isConnected || !page.canSearch;
  for (const name of ["previous", "next"]) element[name].disabled = element.find.disabled;
}

function percent(share) {
  return Math.floor(share * 100); // 100 % only when everything is done
}

function showProgress({ progress, count_by_state: count }) {
  element.progress.hidden = progress.share === null;
  if (progress.share === null) return;
  const ended = count.done + count.failed;
  const known = ended + count.queued + count.under_way;
  const done = `${percent(progress.share)} % done: ${whole.format(ended)} of ${whole.format(known)}`;
  const left = progress.left_s === null ? "" : durationText(Math.ceil(progress.left_s));
  const rest = left && ended < known;
  const text = progress.is_growing
    ? `At most ${done} URLs known so far; new ones are still found.${rest ? ` At least ${left} left.` : ""}`
    : `${done} known URLs.${rest ? ` About ${left} left.` : ""}`;
  element.share.value = percent(progress.share);
  setText(element["progress-text"], text);
}

function showPace(pace) {
  if (page.isPaceEdited) return;
  for (const [key, value] of Object.entries(pace)) {
    const shown = value === null ? "" : String(value);
    if (element[key].value !== shown) element[key].value = shown;
  }
}

function showUrls({ under_way: urls }) {
  element["urls-note"].hidden = urls.length > 0;
  fillTable("urls", urls.map(([url]) => url), (url) => [
    make("td", "", makeLink(url, url)),
    make("td", "number"),
  ]);
  urls.forEach(([, age], i) => setText(element.urls.rows[i].cells[1], durationText(age)));
}

function showWait(sample) {
  const isLong = sample.phase === "waiting";
  const of = sample.waiting_for ? ` from ${sample.waiting_for}` : "";
  const wait = `The next fetch${of} is due in ${durationText(Math.ceil(sample.waiting_s))}.`;
  setText(element["hosts-note"], isLong ? wait : "No fetch is under way.");
}

function showHosts(sample) {
  const hosts = sample.under_way_by_host;
  fillTable("hosts", hosts, ([host, fetches]) => [
    make("td", "", host),
    make("td", "number", whole.format(fetches)),
  ]);
  const others = sample.hosts - hosts.length;
  element["hosts-note"].hidden = hosts.length > 0 && others === 0;
  if (others > 0) setText(element["hosts-note"], `and ${whole.format(others)} more`);
}

function showFailures(failures) {
  element["failures-note"].hidden = failures.length > 0;
  fillTable("failures", failures, (failure) => [
    make("td", "", clock.format(failure.at * 1000)),
    make("td", "", failure.reason),
    make("td", "", makeLink(failure.url, failure.url), make("span", "error", failure.error)),
  ]);
}

function showTitle() {
  const share = page.share === null || page.phase === "ended" ? "" : `${percent(page.share)} % – `;
  const title = `${share}${NAME_BY_PHASE[page.phase].toLowerCase()} – ${page.home}`;
  if (document.title !== title) document.title = title;
}

function showHome(seeds) {
  // Not with URL(), which throws for hosts that browsers reject, such as 1.2.3.256.
  const hosts = [...new Set(seeds.map((seed) => seed.split("/")[2]))];
  const others = hosts.length > 1 ? ` and ${hosts.length - 1} more` : "";
  page.home = `${hosts[0]}${others}`;
  setText(element.title, page.home);
}

function showNotice(text, isBad = false) {
  element.notice.hidden = text === "";
  element.notice.classList.toggle("bad", isBad);
  setText(element.notice, text);
}

// -- the chart -------------------------------------------------------------------------

function niceLimit(rate) {
  const power = 10 ** Math.floor(Math.log10(rate));
  return [1, 2, 5, 10].map((step) => step * power).find((limit) => limit >= rate);
}

function drawChart() {
  const newest = page.rates.at(-1)[0];
  page.rates = page.rates.filter(([at]) => at > newest - SHOWN_MINUTES * 60);
  const oldest = page.rates[0][0];
  const span = Math.max(60, newest - oldest);
  const highest = Math.max(...page.rates.map(([, rate]) => rate));
  const limit = niceLimit(Math.max(1, highest));
  const points = page.rates.map(([at, rate]) => {
    const x = CHART.width * ((at - oldest) / span);
    const y = CHART.bottom - (CHART.bottom - CHART.top) * (rate / limit);
    return `${x.toFixed(1)} ${y.toFixed(1)}`;
  });
  const line = `M${points.join("L")}`;
  const lastX = points.at(-1).split(" ")[0];
  element["chart-line"].setAttribute("d", line);
  element["chart-area"].setAttribute(
    "d", `${line}L${lastX} ${CHART.bottom}L0 ${CHART.bottom}Z`,
  );
  setText(element["chart-top"], whole.format(limit));
  setText(element["chart-span"], spanText(span));
  const now = rateText(page.rates.at(-1)[1]);
  element.chart.setAttribute(
    "aria-label",
    `Fetches per second, ${spanText(span)}: now ${now}, highest ${rateText(highest)}`,
  );
}

// -- events ----------------------------------------------------------------------------

function address(path, parameters = {}) {
  return `${path}?${new URLSearchParams({ ...parameters, token })}`;
}

function follow() {
  const events = new EventSource(address("events"));
  events.addEventListener("begin", (event) => begin(JSON.parse(event.data)));
  events.addEventListener("sample", (event) => takeSample(JSON.parse(event.data)));
  events.addEventListener("end", (event) => {
    events.close();
    end(JSON.parse(event.data));
  });
  events.addEventListener("error", () => {
    showPhase("lost");
    showNotice("No connection to the crawl; trying again.", true);
    // After an error status, as from another server on our port, the browser does not
    // reconnect by itself.
    if (events.readyState === EventSource.CLOSED) setTimeout(follow, RETRY_MS);
  });
}

function begin({ seeds, rates, can_search: canSearch, sample }) {
  page.rates = rates;
  page.canSearch = canSearch;
  showNotice("");
  showHome(seeds);
  showSample(sample);
  if (rates.length) drawChart();
  element.query.disabled = !canSearch;
  if (!canSearch) setText(element["search-status"], "This crawl has no index.");
}

function takeSample(sample) {
  page.rates.push([sample.at, sample.fetches_per_s]);
  showSample(sample);
  drawChart();
}

function end({ sample, summary, has_report: hasReport, is_staying: isStaying }) {
  showSample({ ...sample, phase: "ended" });
  element.query.disabled = !isStaying || !page.canSearch;
  element.find.disabled = element.query.disabled;
  element.end.hidden = summary === "";
  setText(element.summary, summary);
  element.report.hidden = !hasReport;
  element.after.hidden = !isStaying;
  const left = sample.count_by_state.queued;
  showNotice(
    left
      ? `The crawl was stopped; URLs left: ${whole.format(left)}. “gencrawl resume” continues it.`
      : "The crawl has finished.",
  );
}

// -- actions ---------------------------------------------------------------------------

async function act(action, body = null) {
  // Returns why it was refused; empty if it was not.
  try {
    const headers = { Authorization: `Bearer ${token}` };
    const answer = await fetch(action, { method: "POST", headers, body });
    return answer.ok ? "" : (await answer.text()).trim();
  } catch {
    return `“${action}” did not reach the crawl; is it still running?`;
  }
}

async function actOrTell(action) {
  const refusal = await act(action);
  if (refusal) showNotice(refusal, true);
  return !refusal;
}

element.pause.addEventListener("click", () => {
  actOrTell(page.phase === "paused" ? "unpause" : "pause");
});
element.stop.addEventListener("click", () => element.confirm.showModal());
element.keep.addEventListener("click", () => element.confirm.close());
element["really-stop"].addEventListener("click", () => {
  element.confirm.close();
  actOrTell("stop");
});
element.close.addEventListener("click", async () => {
  if (!(await actOrTell("close"))) return;
  element.after.hidden = true;
  element.query.disabled = element.find.disabled = true;
  showNotice("The dashboard is closed.");
});
element.pace.addEventListener("input", () => {
  page.isPaceEdited = true;
});
element.pace.addEventListener("submit", async (event) => {
  event.preventDefault();
  const refusal = await act("pace", new URLSearchParams(new FormData(element.pace)));
  if (!refusal) page.isPaceEdited = false;
  element["pace-status"].classList.toggle("bad", refusal !== "");
  setText(element["pace-status"], refusal || "The pace was changed.");
});

// -- search ----------------------------------------------------------------------------

async function search(query, offset) {
  page.search.aborter?.abort(); // only the newest search counts
  const aborter = new AbortController();
  page.search = { query, offset, aborter };
  try {
    const answer = await fetch(address("search", { q: query, offset }), aborter);
    const result = await answer.json();
    if (!answer.ok) throw new Error(result.error);
    showHits(result);
  } catch (error) {
    if (!aborter.signal.aborted) showNoHits(error.message);
  }
}

function foundText({ total, offset, hits, hint }, last) {
  if (total === 0) return hint ? `No page found: ${hint}.` : "No page found.";
  if (total === 1) return "1 page found.";
  const found = `${whole.format(total)} pages found`;
  if (hits.length === total) return `${found}.`;
  return `${found}; ${whole.format(offset + 1)} to ${whole.format(last)} are shown.`;
}

function showHits(result) {
  const last = result.offset + result.hits.length;
  setText(element["search-status"], foundText(result, last));
  element.hits.replaceChildren(...result.hits.map(makeHit));
  element.previous.hidden = result.offset === 0;
  element.next.hidden = last >= result.total;
  element.pages.hidden = element.previous.hidden && element.next.hidden;
}

function showNoHits(text) {
  setText(element["search-status"], `${text[0].toUpperCase()}${text.slice(1)}.`);
  element.hits.replaceChildren();
  element.pages.hidden = true;
}

function makeHit(hit) {
  const title = makeLink(hit.url, hit.title || "(no title)");
  const snippet = make("p", "snippet", ...markedPieces(hit.snippet, hit.highlights));
  return make("li", "", title, make("p", "where", hit.url), snippet);
}

function markedPieces(text, highlights) {
  const characters = Array.from(text); // highlights are offsets in code points
  const piece = (from, to) => characters.slice(from, to).join("");
  const pieces = [];
  let end = 0;
  for (const [from, to] of highlights) {
    pieces.push(piece(end, from), make("mark", "", piece(from, to)));
    end = to;
  }
  return [...pieces, piece(end)];
}

function turnTo(offset) {
  search(page.search.query, offset);
  element["search-status"].scrollIntoView({ block: "nearest" });
}

const HITS_AT_ONCE = 10;

element.search.addEventListener("submit", (event) => {
  event.preventDefault();
  search(element.query.value, 0);
});
element.next.addEventListener("click", () => turnTo(page.search.offset + HITS_AT_ONCE));
element.previous.addEventListener("click", () => turnTo(page.search.offset - HITS_AT_ONCE));

follow();
