// Shows only those of the broken URLs in which some words are found.
(() => {
  const box = document.getElementById("filter");
  const words = document.getElementById("words");
  const count = box.querySelector("output");
  const items = [...document.querySelectorAll(".broken > li")];
  const texts = items.map((item) => item.textContent.toLowerCase());
  words.addEventListener("input", () => {
    const wanted = words.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    items.forEach((item, at) => {
      item.hidden = !wanted.every((word) => texts[at].includes(word));
      shown += !item.hidden;
    });
    count.textContent = wanted.length ? `${shown} of ${items.length}` : "";
  });
  box.hidden = false;
})();
