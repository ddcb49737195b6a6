// Filters and sorts the rows of the table, and chooses its columns.
(() => {
  const STEP = 200;
  const { columns, shown, rows } = JSON.parse(document.getElementById("data").textContent);
  const filter = document.getElementById("filter");
  const count = document.getElementById("count");
  const more = document.getElementById("more");
  const table = document.querySelector("table");
  const visible = new Set(shown);
  const texts = [];
  let order = rows.map((_, at) => at);
  let found = order;
  let sorted = { column: -1, direction: 1 };
  let limit = STEP;

  const textOf = (cell) => (Array.isArray(cell) ? cell.join(" ") : cell === null ? "" : String(cell));
  const wholeOf = (at) => (texts[at] ??= rows[at].map(textOf).join("\n").toLowerCase());

  // A word, -word, column:word or -column:word; all must fit.
  const testFor = (word) => {
    const isNot = word.startsWith("-") && word.length > 1;
    const wanted = isNot ? word.slice(1) : word;
    const colon = wanted.indexOf(":");
    const column = columns.indexOf(wanted.slice(0, colon));
    const value = wanted.slice(colon + 1);
    const fits = column < 0
      ? (at) => wholeOf(at).includes(wanted)
      : (at) => {
          const text = textOf(rows[at][column]).toLowerCase();
          return value === "" ? text === "" : text.includes(value);
        };
    return isNot ? (at) => !fits(at) : fits;
  };

  const compare = (one, other) => {
    if (one === null || other === null) return (one === null) - (other === null);
    const sign = typeof one === "number" && typeof other === "number"
      ? one - other
      : textOf(one).localeCompare(textOf(other));
    return sign * sorted.direction;
  };

  const cellOf = (cell) => {
    const element = document.createElement("td");
    const text = textOf(cell);
    if (typeof cell === "number") element.className = "number";
    if (/^https?:\/\//.test(text)) {
      const link = document.createElement("a");
      link.href = link.textContent = text;
      element.append(link);
    } else {
      element.textContent = text;
    }
    return element;
  };

  const draw = () => {
    const body = document.createElement("tbody");
    const places = columns.map((_, place) => place).filter((place) => visible.has(columns[place]));
    for (const at of found.slice(0, limit)) {
      const row = body.insertRow();
      row.append(...places.map((place) => cellOf(rows[at][place])));
    }
    const head = document.createElement("thead");
    const names = head.insertRow();
    for (const place of places) {
      const cell = document.createElement("th");
      cell.scope = "col";
      if (place === sorted.column) cell.ariaSort = sorted.direction > 0 ? "ascending" : "descending";
      const button = document.createElement("button");
      button.textContent = columns[place];
      button.dataset.place = place;
      button.addEventListener("click", () => sort(place));
      cell.append(button);
      names.append(cell);
    }
    table.replaceChildren(table.caption, head, body);
    more.hidden = found.length <= limit;
    count.textContent = `${found.length.toLocaleString()} of ${rows.length.toLocaleString()}`;
  };

  const select = () => {
    const tests = filter.value.toLowerCase().split(/\s+/).filter(Boolean).map(testFor);
    found = order.filter((at) => tests.every((test) => test(at)));
    limit = STEP;
    draw();
  };

  const sort = (place) => {
    sorted = { column: place, direction: sorted.column === place ? -sorted.direction : 1 };
    order = rows.map((_, at) => at).sort((one, other) => compare(rows[one][place], rows[other][place]));
    select();
    table.querySelector(`[data-place="${place}"]`).focus();
  };

  const choices = document.getElementById("columns");
  for (const name of columns) {
    const label = document.createElement("label");
    const box = document.createElement("input");
    box.type = "checkbox";
    box.checked = visible.has(name);
    box.addEventListener("change", () => {
      visible[box.checked ? "add" : "delete"](name);
      draw();
    });
    label.append(box, ` ${name}`);
    choices.append(label);
  }
  filter.addEventListener("input", select);
  more.addEventListener("click", () => {
    limit += STEP;
    draw();
  });
  select();
})();
