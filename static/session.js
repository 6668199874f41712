"use strict";
/* The grid: one selection for all columns and the address, windows loaded at both ends, keys. */
(() => {
  const MOST = 1000;
  let grid, lines, loading = false;

  /* The grid's own box where it scrolls by itself, else the page. */
  const inner = () => getComputedStyle(grid).overflowY === "auto";
  const wide = () => matchMedia("(min-width: 761px)").matches;
  const beside = () => matchMedia("(min-width: 1181px)").matches;
  const row = (ref) => document.getElementById("r" + ref);
  const current = () => lines.querySelector('[aria-current="true"]');
  const rows = () => [...lines.querySelectorAll(".row")];

  function address(extra) {
    const url = new URL(grid.dataset.rows, location.href);
    for (const [name, value] of Object.entries(extra)) url.searchParams.set(name, value);
    return url;
  }

  async function get(url) {
    const answer = await fetch(url, { headers: { "X-Requested-With": "fetch" } });
    if (!answer.ok) throw new Error(`${answer.status}`);
    return fragment(await answer.text());
  }

  function edge(side, seq) {
    const box = document.createElement("div");
    box.className = "edge";
    box.dataset.edge = side;
    box.dataset.seq = seq;
    box.setAttribute("role", "row");
    const cell = document.createElement("div");
    cell.setAttribute("role", "cell");
    const link = document.createElement("a");
    const url = new URL(location.href);
    url.hash = "";
    url.searchParams.set(side === "before" ? "until" : "from", seq);
    link.href = url;
    link.textContent = side === "before" ? "Load earlier rows" : "Load later rows";
    cell.append(link);
    box.append(cell);
    return box;
  }

  /* Rows beyond MOST leave at the far end, and an edge stays in their place. */
  function trim(side) {
    const kept = [...lines.children].filter((line) => !line.dataset.edge);
    const over = kept.length - MOST;
    if (over <= 0) return;
    const gone = side === "after" ? kept.slice(0, over) : kept.slice(-over);
    lines.querySelector(`[data-edge="${side === "after" ? "before" : "after"}"]`)?.remove();
    if (side === "after") lines.prepend(edge("before", kept[over].dataset.seq));
    else lines.append(edge("after", gone[0].dataset.seq));
    gone.forEach((line) => line.remove());
    watch();
  }

  async function extend(box) {
    if (loading || !box.isConnected) return;
    loading = true;
    const side = box.dataset.edge;
    try {
      const part = await get(address({ [side === "before" ? "until" : "from"]: box.dataset.seq }));
      part.querySelector(`[data-edge="${side === "before" ? "after" : "before"}"]`)?.remove();
      const anchor = side === "before" ? box.nextElementSibling : null;
      const top = anchor?.getBoundingClientRect().top;
      box.replaceWith(part);
      trim(side);
      if (anchor) (inner() ? grid : window).scrollBy(0, anchor.getBoundingClientRect().top - top);
      watch();
    } catch (error) {
      box.querySelector("a").textContent = "Could not load more rows. Try again";
    } finally {
      loading = false;
    }
  }

  let seen;
  function watch() {
    seen?.disconnect();
    seen = new IntersectionObserver((entries) => {
      const near = entries.find((entry) => entry.isIntersecting);
      if (near) extend(near.target);
    }, { root: inner() ? grid : null, rootMargin: "600px" });
    lines.querySelectorAll("[data-edge]").forEach((box) => seen.observe(box));
  }

  function select(element, move) {
    if (!element) return;
    current()?.removeAttribute("aria-current");
    element.setAttribute("aria-current", "true");
    const ref = element.dataset.ref;
    history.replaceState(null, "", "#r" + ref);
    const at = document.querySelector('#resume-as [name="at"]');
    if (at) at.value = ref;
    if (move !== false) {
      element.focus({ preventScroll: true });
      element.scrollIntoView({ block: "nearest" });
    }
    const panel = document.getElementById("panel");
    if (panel?.dataset.follows) panelFor(ref, panel.dataset.follows);
  }

  /* A panel asked for: where none stands beside the grid, it comes up from below, and the row stays in sight above it. */
  function open(line, name) {
    panelFor(line.dataset.ref, name);
    if (beside()) return;
    document.querySelector(".side").classList.add("sheet");
    const box = line.getBoundingClientRect();
    const over = Math.min(box.bottom - innerHeight * .42, box.top - 80);
    if (over > 0) scrollBy(0, over);
  }

  function missing(ref) {
    const note = document.getElementById("no-row");
    note.hidden = !ref;
    note.textContent = ref ? `There is no row ${ref} in this view.` : "";
  }

  let pending;
  function panelFor(ref, name) {
    clearTimeout(pending);
    pending = setTimeout(() => {
      const url = new URL(grid.dataset.panels.replace("PANEL", name), location.href);
      url.searchParams.set("at", ref);
      htmx.ajax("GET", url.pathname + url.search, { target: "#panel", swap: "outerHTML" });
    }, 120);
  }

  /* Rows get their real height only when they come near: center again until the row stays where it should be. */
  function reveal(element, block, tries = 10) {
    element.scrollIntoView({ block });
    const before = element.getBoundingClientRect().top;
    requestAnimationFrame(() => requestAnimationFrame(() => {
      if (!element.isConnected) return;
      if (tries && (tries > 8 || Math.abs(element.getBoundingClientRect().top - before) > 2)) reveal(element, block, tries - 1);
      else if (inner()) align(element);
    }));
  }

  /* The first line in sight is a whole one, unless that would push the element out. */
  function align(element) {
    const top = grid.querySelector(".cols").getBoundingClientRect().bottom;
    const cut = [...lines.children].find((line) => line.getBoundingClientRect().bottom > top + 1);
    const hidden = top - cut.getBoundingClientRect().top;
    if (hidden > 1 && element.getBoundingClientRect().bottom + hidden < grid.getBoundingClientRect().bottom) grid.scrollBy(0, -hidden);
  }

  /* Jump to any row: in the page at once, else with a window around it. */
  async function go(ref) {
    if (!row(ref)) {
      const part = await get(address({ at: ref }));
      if (!part.getElementById("r" + ref)) return missing(ref);
      lines.replaceChildren(part);
      watch();
    }
    const target = row(ref);
    missing("");
    select(target, false);
    target.focus({ preventScroll: true });
    reveal(target, "center");
  }

  async function step(direction, problems) {
    const wanted = problems ? rows().filter((line) => line.dataset.problem) : rows();
    const all = rows();
    const at = all.indexOf(current());
    const next = direction > 0 ? wanted.find((line) => all.indexOf(line) > at) : wanted.findLast((line) => all.indexOf(line) < (at < 0 ? all.length : at));
    if (next) return select(next);
    if (problems) {
      const refs = JSON.parse(grid.dataset.problems || "[]");
      const here = current()?.dataset.ref;
      const place = refs.indexOf(here);
      const other = refs[place < 0 ? 0 : (place + direction + refs.length) % refs.length];
      if (other) return go(other);
      announce("No problems in this session");
    }
  }

  function column(number) {
    const forms = grid.closest(".forms");
    if (wide()) {
      if (forms.dataset.focus === number) delete forms.dataset.focus;
      else forms.dataset.focus = number;
      if (number && current()) reveal(current(), inner() ? "center" : "nearest");
    }
    forms.dataset.column = number;
    forms.querySelectorAll(".cols button").forEach((button) => button.setAttribute("aria-pressed", String(wide() ? button.dataset.column === forms.dataset.focus : button.dataset.column === number)));
  }

  document.addEventListener("DOMContentLoaded", () => {
    grid = document.getElementById("grid");
    if (!grid) return;
    lines = grid.querySelector(".lines");
    const tools = document.querySelector(".tools");
    if (tools) new ResizeObserver(() => {
      const height = getComputedStyle(tools).position === "sticky" ? tools.offsetHeight : 0;
      document.documentElement.style.setProperty("--tools-height", height + "px");
    }).observe(tools);
    column(wide() ? "" : "1");
    const wanted = decodeURIComponent(location.hash).match(/^#r(\+?\d+(?::\d+)?)$/);
    if (wanted) go(wanted[1]);
    else if (current() && (wide() || location.search.includes("at="))) reveal(current(), inner() ? "center" : "nearest");
    watch();

    document.addEventListener("click", async (event) => {
      const link = event.target.closest("a");
      if (event.ctrlKey || event.metaKey || event.shiftKey) return;
      if (link?.dataset.refLink) { event.preventDefault(); return go(link.dataset.refLink); }
      if (link?.dataset.panel) {
        event.preventDefault();
        select(link.closest(".row"), false);
        return open(link.closest(".row"), link.dataset.panel);
      }
      if (link && "unfold" in link.dataset) {
        event.preventDefault();
        const fold = link.closest(".fold");
        const part = await get(address({ from: fold.dataset.seq, count: fold.dataset.rows, fold: 0 }));
        part.querySelectorAll("[data-edge], .invented").forEach((other) => other.remove());
        const first = part.firstElementChild;
        fold.replaceWith(part);
        return select(first);
      }
      if (link?.closest("[data-edge]")) { event.preventDefault(); return extend(link.closest("[data-edge]")); }
      const button = event.target.closest(".cols button");
      if (button) return column(button.dataset.column);
      const line = event.target.closest("#grid .row");
      if (event.target.closest(".sheet-close")) return document.querySelector(".side").classList.remove("sheet");
      if (line && !link && !getSelection().toString()) {
        select(line, false);
        if (!beside()) open(line, "row");
      }
    });

    document.addEventListener("keydown", (event) => {
      if (event.key === "Escape") document.querySelector(".side").classList.remove("sheet");
      if (!keys.on || busy(event)) return;
      const acts = { j: () => step(1), k: () => step(-1), n: () => step(1, true), p: () => step(-1, true) };
      if (acts[event.key]) { event.preventDefault(); acts[event.key](); }
      else if (/^[1-4]$/.test(event.key)) column(event.key);
      else if (event.key === "Enter" && event.target.matches("#grid .row")) open(event.target, "row");
    });
    addEventListener("hashchange", () => {
      const ref = decodeURIComponent(location.hash).match(/^#r(\+?\d+(?::\d+)?)$/);
      if (ref) go(ref[1]);
    });
  });
})();
