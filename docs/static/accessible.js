/* What furo's pages lack for keyboards and screen readers. */
"use strict";

// Code, tables and pictures wider than the page scroll; the arrow keys need the focus for it.
const wide = ".highlight pre, .table-wrapper, figure";

function letKeysScroll() {
  for (const box of document.querySelectorAll(wide)) {
    if (box.scrollWidth > box.clientWidth) {
      box.tabIndex = 0;
    } else {
      box.removeAttribute("tabindex");
    }
  }
}

function nameParts() {
  for (const caption of document.querySelectorAll(".caption[role=heading]")) {
    caption.ariaLevel = "2";
  }
  const names = {
    ".sidebar-drawer": "Pages",
    ".toc-drawer": "On this page",
  };
  for (const [part, name] of Object.entries(names)) {
    document.querySelector(part)?.setAttribute("aria-label", name);
  }
}

document.addEventListener("DOMContentLoaded", () => {
  nameParts();
  letKeysScroll();
});
window.addEventListener("load", letKeysScroll);
window.addEventListener("resize", letKeysScroll);
