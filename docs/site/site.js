// Search: sections of all pages that have all words of the query, from search-index.js, which is loaded when it is first needed.
"use strict";
(() => {
  const form = document.querySelector(".search"), input = form.querySelector("input");
  const box = form.querySelector(".results"), list = box.querySelector("ul"), status = box.querySelector("p");
  const most = 12;
  let entries = null;
  form.hidden = false;

  const folded = text => text.normalize("NFKD").replace(/[\u0300-\u036f]/g, "").toLowerCase().replace(/α/g, "a").replace(/β/g, "b");

  function load() {
    if (entries) return;
    entries = [];
    const script = document.createElement("script");
    script.src = "search-index.js";
    script.onload = () => {
      entries = window.thorIndex.map(([page, anchor, name, title, text]) =>
        ({ page, anchor, name, title, text, inName: folded(name), inTitle: folded(title), inText: folded(text) }));
      show();
    };
    document.head.append(script);
  }

  // How well a section matches; 0 if a word is not in it.
  function score(entry, words) {
    let sum = 0;
    for (const word of words) {
      const count = entry.inText.split(word).length - 1;
      const begins = text => (" " + text).search(new RegExp("[^a-z0-9]" + word.replace(/[^a-z0-9]/g, "\\$&"))) >= 0;
      const points = (entry.inName.includes(word) ? 6 : 0) + (entry.inTitle.includes(word) ? 10 : 0) + (begins(entry.inTitle) ? 6 : 0) +
        (count && begins(entry.inText) ? 2 : 0) + Math.min(count, 4);
      if (!points) return 0;
      sum += points;
    }
    const phrase = words.join(" ");
    sum += (entry.inTitle === phrase ? 10 : 0) + (entry.inTitle.includes(phrase) ? 8 : 0) + (entry.inText.includes(phrase) ? 4 : 0);
    return /^(changelog|contributing)/.test(entry.page) ? sum / 2 : sum;
  }

  // Text about the first match, with the matches marked.
  function excerpt(entry, words) {
    const line = document.createElement("span");
    const exact = entry.inText.length === entry.text.length;  // else positions differ
    const places = [words.join(" "), ...words].map(word => entry.inText.indexOf(word)).filter(i => i >= 0);
    const begin = places.length && places[0] > 40 ? entry.text.indexOf(" ", places[0] - 40) + 1 : 0;
    const text = entry.text.slice(begin, begin + 140);
    let end = 0;
    while (exact && end < text.length) {
      const rest = folded(text).slice(end);
      const [next, word] = words.map(w => [rest.indexOf(w), w]).filter(([i]) => i >= 0).sort((a, b) => a[0] - b[0])[0] || [-1];
      if (next < 0) break;
      const mark = document.createElement("mark");
      mark.textContent = text.slice(end + next, end + next + word.length);
      line.append(text.slice(end, end + next), mark);
      end += next + word.length;
    }
    line.append(text.slice(end));
    return line;
  }

  function show() {
    const words = folded(input.value).split(/\s+/).filter(Boolean);
    list.replaceChildren();
    box.hidden = !words.length;
    if (!words.length) return;
    const found = entries.map(entry => [score(entry, words), entry]).filter(([points]) => points).sort((a, b) => b[0] - a[0]);
    status.textContent = found.length ? `${found.length} section${found.length > 1 ? "s" : ""}` : "Nothing found";
    for (const [, entry] of found.slice(0, most)) {
      const link = document.createElement("a"), title = document.createElement("strong"), item = document.createElement("li");
      link.href = entry.page + (entry.anchor ? "#" + entry.anchor : "");
      title.textContent = entry.title ? `${entry.name} › ${entry.title}` : entry.name;
      link.append(title, excerpt(entry, words));
      item.append(link);
      list.append(item);
    }
  }

  function close() {
    box.hidden = true;
  }

  input.addEventListener("focus", () => { load(); show(); });
  input.addEventListener("input", show);
  list.addEventListener("click", close);
  form.addEventListener("submit", event => {
    event.preventDefault();
    list.querySelector("a")?.click();
  });
  form.addEventListener("focusout", event => { if (event.relatedTarget && !form.contains(event.relatedTarget)) close(); });
  document.addEventListener("pointerdown", event => { if (!form.contains(event.target)) close(); });
  form.addEventListener("keydown", event => {
    const links = [...list.querySelectorAll("a")], here = links.indexOf(document.activeElement);
    if (event.key === "ArrowDown") links[Math.min(here + 1, links.length - 1)]?.focus();
    else if (event.key === "ArrowUp") (here > 0 ? links[here - 1] : input).focus();
    else if (event.key === "Escape") { input.value = ""; input.focus(); close(); }
    else return;
    event.preventDefault();
  });
  document.addEventListener("keydown", event => {
    if (event.key === "/" && !event.ctrlKey && !event.metaKey && !/INPUT|TEXTAREA/.test(document.activeElement.tagName)) {
      event.preventDefault();
      input.focus();
    }
  });
})();
