// Marks what belongs together: the line that is chosen in one column, and its partners in the others.
"use strict";
(() => {
  const root = document.documentElement;
  const sections = [...document.querySelectorAll(".document")];
  const dark = () => (root.dataset.theme || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
  const turn = () => { root.dataset.theme = dark() ? "light" : "dark"; };
  document.getElementById("theme").addEventListener("click", turn);

  const show = (number) => sections.forEach((section) => { section.hidden = section.dataset.number !== String(number); });
  const which = document.getElementById("which");
  if (which) which.addEventListener("change", () => show(which.value));
  show(0);

  // Each line of a section by the numbers that tie it: of the source (s) and of the text (v).
  const numbersOf = (line, key) => (line.dataset[key] === undefined ? [] : line.dataset[key].split(" "));
  const partners = new Map(sections.map((section) => {
    const ties = { s: new Map(), v: new Map() };
    for (const line of section.querySelectorAll(".line")) {
      for (const key of ["s", "v"]) {
        for (const number of numbersOf(line, key)) {
          if (!ties[key].has(number)) ties[key].set(number, []);
          ties[key].get(number).push(line);
        }
      }
    }
    return [section, ties];
  }));

  const listOf = (line) => line.closest(".lines");
  const intoView = (line) => {
    const list = listOf(line);
    const top = line.offsetTop, bottom = top + line.offsetHeight;
    if (top < list.scrollTop || bottom > list.scrollTop + list.clientHeight) list.scrollTop = top - list.clientHeight / 3;
  };

  let names = 0;
  const choose = (line) => {
    const section = line.closest(".document");
    const ties = partners.get(section);
    for (const old of section.querySelectorAll(".here, .there")) {
      old.classList.remove("here", "there");
      old.removeAttribute("aria-selected");
    }
    // From the source by its line; from vISA and Gen by the line of the text, and from that to the source.
    const column = line.closest(".column");
    const fromSource = column.classList.contains("source");
    const partnersBy = (key, lines) => lines.flatMap((one) => numbersOf(one, key)).flatMap((number) => ties[key].get(number) || []);
    const own = fromSource ? partnersBy("s", [line]) : [line];
    const tied = new Set([...own, ...partnersBy("v", own)]);
    if (!fromSource) partnersBy("s", [...tied]).filter((one) => one.closest(".source")).forEach((one) => tied.add(one));
    const seen = new Set([column]);
    for (const one of tied) {
      one.classList.add("there");
      const other = one.closest(".column");
      if (!seen.has(other)) { seen.add(other); intoView(one); }
    }
    line.classList.add("here");
    line.setAttribute("aria-selected", "true");
    line.id = line.id || `line${++names}`;
    listOf(line).setAttribute("aria-activedescendant", line.id);
    intoView(line);
  };

  const linesOf = (list) => [...list.querySelectorAll(".line")];
  const chosen = (list) => list.querySelector(".here") || list.querySelector(".there") || list.querySelector(".line");

  const across = (list, step) => {
    const lists = [...list.closest(".columns").querySelectorAll(".lines")];
    const next = lists[lists.indexOf(list) + step];
    if (next) { next.focus(); const line = chosen(next); if (line) choose(line); }
  };

  for (const section of sections) {
    const first = section.querySelector(".column:last-child .line[data-v]");
    if (first) choose(section.querySelector(`.visa .line[data-v="${numbersOf(first, "v")[0]}"]`));
  }

  let finding = -1;
  const toFinding = (step) => {
    const section = sections.find((one) => !one.hidden);
    const links = [...section.querySelectorAll(".findings a")];
    if (!links.length) return;
    finding = (finding + step + links.length) % links.length;
    links[finding].click();
  };

  document.addEventListener("click", (event) => {
    const link = event.target.closest(".findings a");
    if (link) {
      event.preventDefault();
      const line = link.closest(".document").querySelector(`.visa .line[data-v="${link.dataset.line}"]`);
      if (line) { listOf(line).focus(); choose(line); }
      return;
    }
    const line = event.target.closest(".line");
    if (line) choose(line);
  });

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("select")) return;
    if (event.key === "n" || event.key === "p") return toFinding(event.key === "n" ? 1 : -1);
    if (event.key === "t") return turn();
    const list = event.target.closest(".lines");
    if (!list) return;
    const lines = linesOf(list), at = lines.indexOf(chosen(list));
    const fresh = !list.querySelector(".here");
    const to = {
      ArrowDown: fresh ? at : at + 1, ArrowUp: at - 1, PageDown: at + 20, PageUp: at - 20, Home: 0, End: lines.length - 1,
    }[event.key];
    if (to !== undefined && lines.length) {
      event.preventDefault();
      choose(lines[Math.max(0, Math.min(lines.length - 1, to))]);
    } else if (event.key === "ArrowRight" || event.key === "ArrowLeft") {
      event.preventDefault();
      across(list, event.key === "ArrowRight" ? 1 : -1);
    }
  });
})();
