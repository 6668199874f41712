"use strict";
/* The drop zone: several files, folders and archives in one go, with bytes sent, then sessions read. Without it the form posts as usual. */
(() => {
  /** Files of a drop, folders walked, each with its path. */
  async function dropped(items) {
    const out = [];
    const walk = async (entry) => {
      if (entry.isFile) {
        const file = await new Promise((done, failed) => entry.file(done, failed));
        out.push({ file, name: entry.fullPath.replace(/^\//, "") });
        return;
      }
      const reader = entry.createReader();
      for (;;) {
        const some = await new Promise((done, failed) => reader.readEntries(done, failed));
        if (!some.length) return;
        for (const child of some) await walk(child);
      }
    };
    for (const entry of [...items].map((item) => item.webkitGetAsEntry?.()).filter(Boolean)) await walk(entry);
    return out;
  }

  const size = (bytes) => bytes < 1e6 ? `${(bytes / 1e3).toFixed(1)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;

  function linked({ href, words }) {
    const link = document.createElement("a");
    link.href = href;
    link.className = "inline";
    link.textContent = words;
    return link;
  }

  function warning(text) {
    const line = document.createElement("li");
    line.className = "notice warn";
    line.textContent = text;
    return line;
  }

  function send(form, files) {
    if (!files.length) return;
    const line = document.createElement("li");
    const words = document.createElement("span");
    const bar = document.createElement("progress");
    const cancel = document.createElement("button");
    const name = files.length === 1 ? files[0].name : `${files.length} files`;
    cancel.type = "button";
    cancel.className = "btn small";
    cancel.textContent = "Cancel";
    bar.setAttribute("aria-label", `Import of ${name}`);
    words.textContent = name;
    line.append(bar, words, cancel);
    document.querySelector(".uploads").append(line);

    const data = new FormData();
    data.append("csrfmiddlewaretoken", form.elements.csrfmiddlewaretoken.value);
    for (const { file, name: path } of files) { data.append("names", path); data.append("files", file); }
    const request = new XMLHttpRequest();
    const began = Date.now();
    let read = 0, last = null;

    const done = (text, bad) => {
      bar.remove();
      cancel.remove();
      words.textContent = text;
      line.className = bad ? "notice bad" : "notice good";
      announce(text);
    };
    request.upload.onprogress = (event) => {
      if (!event.lengthComputable) return;
      bar.max = event.total;
      bar.value = event.loaded;
      const left = (Date.now() - began) / event.loaded * (event.total - event.loaded) / 1000;
      words.textContent = `${name}: ${size(event.loaded)} of ${size(event.total)} sent` + (left > 1 ? `, about ${Math.ceil(left)} s left` : "");
    };
    request.onprogress = () => {
      const lines = request.responseText.slice(read).split("\n");
      read = request.responseText.lastIndexOf("\n") + 1;
      for (const text of lines.slice(0, -1).filter(Boolean)) {
        try { last = JSON.parse(text); } catch { last = { error: `the server answered ${request.status}` }; }
        if (last.words) words.textContent = `${name}: ${last.words}`;
        if (last.of) { bar.max = last.of; bar.value = last.done; } else bar.removeAttribute("value");
      }
    };
    request.onload = () => {
      request.onprogress();
      if (request.status === 200 && last?.finished) {
        done(last.words);
        line.append(...last.sessions.map(linked));
        if (last.warning) line.after(warning(last.warning));
        if (last.open) location.assign(last.open);
        else htmx.ajax("GET", location.pathname + location.search, { target: "#list", select: "#list", swap: "outerHTML" });
      } else done(`${name}: ${last?.error || `the server answered ${request.status}`}. Nothing was imported.`, true);
    };
    request.onerror = () => done(`${name}: the connection was lost. Nothing was imported; drop it again.`, true);
    request.onabort = () => done(`${name}: cancelled. Nothing was imported.`);
    cancel.onclick = () => request.abort();
    request.open("POST", form.action);
    request.setRequestHeader("Accept", "application/x-ndjson");
    request.send(data);
  }

  document.addEventListener("DOMContentLoaded", () => {
    const zone = document.querySelector(".drop");
    if (!zone) return;
    const picker = zone.querySelector('input[type="file"]');
    zone.addEventListener("submit", (event) => {
      event.preventDefault();
      send(zone, [...picker.files].map((file) => ({ file, name: file.name })));
      picker.value = "";
    });
    picker.addEventListener("change", () => zone.requestSubmit());
    for (const kind of ["dragover", "dragenter"]) document.addEventListener(kind, (event) => { event.preventDefault(); zone.classList.add("over"); });
    document.addEventListener("dragleave", (event) => { if (!event.relatedTarget) zone.classList.remove("over"); });
    document.addEventListener("drop", async (event) => {
      event.preventDefault();
      zone.classList.remove("over");
      const loose = [...event.dataTransfer.files].map((file) => ({ file, name: file.name }));
      const walked = await dropped(event.dataTransfer.items);
      send(zone, walked.length ? walked : loose);
    });
  });
})();
