// Filters the lists of URLs by folder or by words, and sorts tables.
(() => {
  const LISTS = "#malformed, #mixed-content, #loops, #moved, #chains, #orphans, #duplicates, #heavy, #linked, #slowest, #largest, #not-checked";
  const home = document.body.dataset.home;
  const boxes = [...document.querySelectorAll("[data-folder]")];
  const folders = boxes.filter((box) => !("rest" in box.dataset)).map((box) => box.dataset.folder);
  const chosen = document.getElementById("chosen");
  const filter = document.getElementById("filter");
  const words = document.getElementById("words");
  let pressed = null;

  const folderOf = (url) => {
    const path = url.split("?")[0].split("://")[1] || "";
    return path.split("/").slice(0, -1).filter(Boolean).map((name) => `${name}/`).join("");
  };
  // A URL too long for a link is shown as text, without the origin of the site.
  const urlsOf = (element) =>
    [...element.querySelectorAll("a, .url")]
      .map((each) => each.getAttribute("href") || each.textContent.replace(/^\//, `${home}/`))
      .filter((url) => url.includes("://"));
  const items = [...document.querySelectorAll(".broken > li")].map((element) => ({
    element, text: element.textContent.toLowerCase(), folders: urlsOf(element.querySelector("h3")).map(folderOf),
  }));
  const lists = [...document.querySelectorAll(LISTS)].map((section) => ({
    section,
    link: document.querySelector(`nav a[href="#${section.id}"]`).parentElement,
    rows: [...section.querySelectorAll("tbody tr")].map((element) => ({ element, folders: urlsOf(element).map(folderOf) })),
  }));

  const isInside = (folder) => {
    if (!pressed) return true;
    const { folder: outer, rest } = pressed.dataset;
    if (!folder.startsWith(outer)) return false;
    return rest === undefined || !folders.some((each) => each.length > outer.length && folder.startsWith(each));
  };
  const update = () => {
    const wanted = (words?.value ?? "").toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const { element, text, folders } of items) {
      element.hidden = !(folders.some(isInside) && wanted.every((word) => text.includes(word)));
      shown += !element.hidden;
    }
    for (const { section, link, rows } of lists) {
      for (const { element, folders } of rows) element.hidden = !folders.some(isInside);
      section.hidden = link.hidden = rows.length > 0 && rows.every(({ element }) => element.hidden);
    }
    const count = `${shown} of ${items.length}`;
    if (filter) filter.querySelector("output").textContent = wanted.length || pressed ? count : "";
    if (!chosen) return;
    chosen.hidden = !pressed;
    const broken = items.length ? `: ${count} broken URLs` : "";
    chosen.querySelector("output").textContent = pressed ? `Only ${pressed.querySelector("bdi").textContent}${broken}` : "";
    for (const box of boxes) box.setAttribute("aria-pressed", box === pressed);
  };
  const choose = (box) => {
    pressed = box === pressed ? null : box;
    update();
  };

  for (const box of boxes) {
    box.disabled = false;
    box.addEventListener("click", () => choose(box));
  }
  chosen?.querySelector("button").addEventListener("click", () => {
    const box = pressed;
    choose(null);
    box.focus();
  });

  // A number, or the text; rows of equal values stay in the order of the report.
  const valueOf = (cell) => {
    if (cell.dataset.value !== undefined) return Number(cell.dataset.value);
    const text = cell.textContent.trim();
    const number = Number(text.replaceAll(",", ""));
    return text && !Number.isNaN(number) ? number : text.toLowerCase();
  };
  const compare = (one, other) =>
    typeof one === "number" && typeof other === "number" ? one - other : String(one).localeCompare(String(other));
  const sort = (table, head, column) => {
    const isFirst = !head.hasAttribute("aria-sort");
    const isNumber = head.classList.contains("n");
    const isDown = isFirst ? isNumber : head.getAttribute("aria-sort") === "ascending";
    for (const each of table.querySelectorAll("th")) each.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", isDown ? "descending" : "ascending");
    const body = table.tBodies[0];
    const rows = [...body.rows].map((row) => ({ row, value: valueOf(row.cells[column]) }));
    rows.sort((one, other) => (isDown ? -1 : 1) * compare(one.value, other.value));
    body.append(...rows.map(({ row }) => row));
  };
  for (const table of document.querySelectorAll("table")) {
    if (table.tBodies[0].rows.length < 2) continue;
    table.querySelectorAll("th").forEach((head, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...head.childNodes);
      button.addEventListener("click", () => sort(table, head, column));
      head.append(button);
    });
  }
  words?.addEventListener("input", update);
  if (filter) filter.hidden = false;
  const hint = document.getElementById("hint");
  if (hint) hint.hidden = false;
  update();
})();
