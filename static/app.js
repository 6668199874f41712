"use strict";
/* Every page: dialogs, copy buttons, single keys. Pages read, repair and export without it. */
document.documentElement.classList.add("js");

const policy = window.trustedTypes ? trustedTypes.createPolicy("inspector", { createHTML: (text) => text }) : { createHTML: (text) => text };

/** HTML that this server rendered (and escaped) -> its elements. */
function fragment(html) {
  const template = document.createElement("template");
  template.innerHTML = policy.createHTML(html);
  return template.content;
}

function announce(text) {
  document.getElementById("announce").textContent = text;
}

const keys = {
  get on() { return localStorage.getItem("single-keys") !== "off"; },
  set on(value) { localStorage.setItem("single-keys", value ? "on" : "off"); },
};

/** True when a key belongs to a field, a dialog or a browser shortcut. */
function busy(event) {
  return event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input:not([type=checkbox]):not([type=radio]), textarea, select, dialog[open]");
}

function openDialog(id) {
  const dialog = document.getElementById(id);
  if (dialog && !dialog.open) dialog.showModal();
}

async function copy(button) {
  const from = button.dataset.copyFrom;
  const text = from ? await (await fetch(from)).text() : button.dataset.copy;
  await navigator.clipboard.writeText(text);
  const words = button.textContent;
  button.textContent = "Copied";
  announce("Copied");
  setTimeout(() => { button.textContent = words; }, 1200);
}

document.addEventListener("click", (event) => {
  document.querySelectorAll(".menu[open]").forEach((menu) => { if (!menu.contains(event.target)) menu.open = false; });
  const opener = event.target.closest("[data-dialog]");
  if (opener) openDialog(opener.dataset.dialog);
  event.target.closest("#goto .results a")?.closest("dialog").close();
  const copier = event.target.closest("[data-copy], [data-copy-from]");
  if (copier) copy(copier);
});

document.addEventListener("change", (event) => {
  if (event.target.id === "single-keys") keys.on = event.target.checked;
  if (event.target.matches("[data-submit]")) event.target.form.requestSubmit();
});

/* One Escape closes: a search field would take the first for itself. */
function closeTop(event) {
  const dialog = event.target.closest("dialog[open]");
  if (dialog) { event.preventDefault(); dialog.close(); return; }
  const menu = document.querySelector(".menu[open]");
  if (menu) { menu.open = false; menu.querySelector("summary").focus(); }
}

document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") return closeTop(event);
  if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k") {
    event.preventDefault();
    openDialog("goto");
    return;
  }
  const list = event.target.closest("#goto");
  if (list && (event.key === "ArrowDown" || event.key === "ArrowUp" || event.key === "Enter")) {
    const links = [...list.querySelectorAll(".results a")];
    const at = links.indexOf(document.activeElement);
    if (event.key === "Enter") {
      if (at < 0) { event.preventDefault(); links[0]?.click(); }
      return;
    }
    event.preventDefault();
    const next = at + (event.key === "ArrowDown" ? 1 : -1);
    (links[next] || list.querySelector("input")).focus();
    return;
  }
  if (!keys.on || busy(event)) return;
  if (event.key === "?") { event.preventDefault(); openDialog("help"); }
  if (event.key === "/") { event.preventDefault(); (document.getElementById("find-here") || document.querySelector(".find input"))?.focus(); }
});

document.addEventListener("DOMContentLoaded", () => {
  const box = document.getElementById("single-keys");
  if (box) box.checked = keys.on;
});
