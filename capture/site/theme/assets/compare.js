/* Two hosts of a card side by side, made from the text that the page holds already. Follows capture.js. */
(() => {
  "use strict";

  const sheet = document.currentScript.src.replace(/\.js\b.*/, ".css");
  const CELLS = 250000; // 500 by 500 lines; beyond, lines are paired by their place
  // A number that is not part of a name, a version or an address.
  const NUMBER = /(?<![\w.])[-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?(?!\.?\d)(?!\w*\d)/g;
  const SIGNS = { differs: "differs: ", only: "only here: " };

  const tabsOf = (card) => [...card.querySelectorAll("[role=tab]")];
  const panelOf = (tab) => document.getElementById(tab.getAttribute("aria-controls"));
  const titleOf = (tab) => panelOf(tab).querySelector(".capture__host").textContent;
  const captured = (card) => tabsOf(card).filter((tab) => !("absent" in panelOf(tab).dataset));

  const make = (tag, attributes, ...children) => {
    const element = document.createElement(tag);
    const named = typeof attributes === "string" ? { class: attributes } : attributes;
    for (const [name, value] of Object.entries(named)) element.setAttribute(name, value);
    element.append(...children);
    return element;
  };

  /* The lines of a stream as the panel shows them. */
  const linesOf = (tab, stream) => {
    const code = document.getElementById(`${panelOf(tab).id}-${stream}`)?.querySelector("pre > code");
    const text = code ? code.textContent.replace(/\n+$/, "") : "";
    return text ? text.split("\n") : [];
  };

  /* What is alike in lines that differ by their figures only. */
  const shape = (line) => line.replace(NUMBER, "#").replace(/\s+/g, " ").trim();

  /* What a row is about: its first word. */
  const subject = (line) => /^\s*([^\s#]*[\p{L}_][^\s#]*)/u.exec(line)?.[1];

  /* Pairs of indexes of lines that belong together, by the longest common subsequence; the more alike, the better. */
  const matches = (left, right) => {
    let head = 0;
    while (head < left.length && head < right.length && left[head] === right[head]) head += 1;
    let foot = 0;
    const rest = Math.min(left.length, right.length) - head;
    while (foot < rest && left[left.length - 1 - foot] === right[right.length - 1 - foot]) foot += 1;
    const [n, m] = [left.length - head - foot, right.length - head - foot];
    const pairs = Array.from({ length: head }, (_, index) => [index, index]);
    if (n * m <= CELLS) {
      const middle = [left.slice(head, head + n), right.slice(head, head + m)];
      const shapes = middle.map((lines) => lines.map(shape));
      const subjects = shapes.map((lines) => lines.map(subject));
      const weight = (i, j) => {
        if (middle[0][i] === middle[1][j]) return 4;
        if (shapes[0][i] && shapes[0][i] === shapes[1][j]) return 3;
        return subjects[0][i] && subjects[0][i] === subjects[1][j] ? 2 : 0;
      };
      const best = Array.from({ length: n + 1 }, () => new Int32Array(m + 1));
      for (let i = n - 1; i >= 0; i -= 1) {
        for (let j = m - 1; j >= 0; j -= 1) {
          const worth = weight(i, j);
          const both = worth ? worth + best[i + 1][j + 1] : 0;
          best[i][j] = Math.max(both, best[i + 1][j], best[i][j + 1]);
        }
      }
      for (let i = 0, j = 0; i < n && j < m; ) {
        const worth = weight(i, j);
        if (worth && best[i][j] === worth + best[i + 1][j + 1]) {
          pairs.push([head + i, head + j]);
          i += 1;
          j += 1;
        } else if (best[i + 1][j] >= best[i][j + 1]) i += 1;
        else j += 1;
      }
    } else for (let index = 0; index < Math.min(n, m); index += 1) pairs.push([head + index, head + index]);
    for (let index = foot; index > 0; index -= 1) pairs.push([left.length - index, right.length - index]);
    return pairs;
  };

  /* Rows of two lines, and whether they belong together; null is no line. As many lines between two matches on both
     sides are taken for the same rows, and other numbers of lines for lines that the other side lacks. */
  const rowsOf = (left, right) => {
    const rows = [];
    let [i, j] = [0, 0];
    for (const [toLeft, toRight] of [...matches(left, right), [left.length, right.length]]) {
      const together = toLeft - i === toRight - j;
      while (i < toLeft || j < toRight) {
        rows.push({ lines: [i < toLeft ? left[i++] : null, j < toRight ? right[j++] : null], together });
      }
      if (toLeft < left.length && toRight < right.length) rows.push({ lines: [left[i++], right[j++]], together: true });
    }
    return rows;
  };

  const hidden = (text) => make("span", "capture__hidden capture__unselected", text);
  const times = (ratio) => String(Number(ratio.toPrecision(3)));

  /* A line whose figures that differ carry their ratio to the other line's; the second says it at its end too. */
  const figures = (line, other, title, second) => {
    const theirs = [...other.matchAll(NUMBER)].map((found) => found[0]);
    const [parts, ratios] = [[], []];
    let [end, index] = [0, 0];
    for (const found of line.matchAll(NUMBER)) {
      const their = theirs[index++];
      const [here, there] = [Number(found[0]), Number(their)];
      if (here === there) continue;
      const ratio = here * there <= 0 ? "" : times(here / there);
      const words = ratio ? `${ratio} times the ${their} of ${title}` : `${their} on ${title}`;
      parts.push(line.slice(end, found.index), make("b", { class: "capture__figure", title: words }, found[0]));
      ratios.push(ratio ? `${ratio}×` : "none");
      end = found.index + found[0].length;
    }
    parts.push(line.slice(end));
    const told = second && ratios.some((ratio) => ratio !== "none");
    return told ? [...parts, make("small", "capture__ratio", `  (${ratios.join(", ")})`)] : parts;
  };

  const lineOf = ({ lines, together }, which, title) => {
    const [line, other] = [lines[which], lines[1 - which]];
    if (line === null) return make("span", "capture__line capture__line--none", "\n");
    if (line === other) return make("span", "capture__line", `${line}\n`);
    const kind = together ? "differs" : "only";
    const comparable = together && shape(line) === shape(other);
    const content = comparable ? figures(line, other, title, which === 1) : [line];
    return make("span", `capture__line capture__line--${kind}`, hidden(SIGNS[kind]), ...content, "\n");
  };

  const columnOf = (tabs, which, streams) => {
    const [tab, other] = [tabs[which], tabs[1 - which]];
    const head = make("div", {}, make("p", "capture__side", titleOf(tab)));
    for (const part of panelOf(tab).querySelectorAll(":scope > .capture__badge, :scope > .capture__failure")) {
      const copy = part.cloneNode(true);
      copy.querySelector(".capture__links")?.remove();
      head.append(copy);
    }
    const body = make("div", {});
    for (const { name, rows } of streams) {
      if (streams.length > 1 || name !== "stdout") body.append(make("p", "capture__note", name));
      const code = make("code", {}, ...rows.map((row) => lineOf(row, which, titleOf(other))));
      const label = `${name} on ${titleOf(tab)}, compared`;
      const box = { class: "capture__scroll", tabindex: 0, role: "group", "aria-label": label };
      body.append(make("div", box, make("pre", {}, code)));
    }
    return make("div", "capture__column", head, body);
  };

  /* Streams with something in them; stderr where one of the hosts shows it unasked, since it is the answer there. */
  const streamsOf = (tabs) => {
    const names = ["stdout"];
    if (tabs.some((tab) => panelOf(tab).querySelector("[data-answer]"))) names.push("stderr");
    return names
      .map((name) => ({ name, rows: rowsOf(linesOf(tabs[0], name), linesOf(tabs[1], name)) }))
      .filter(({ rows }) => rows.length);
  };

  const verdict = (streams) => {
    const rows = streams.flatMap((stream) => stream.rows);
    const unlike = rows.filter(({ lines }) => lines[0] !== lines[1]).length;
    if (!rows.length) return "Neither printed anything.";
    if (!unlike) return "The same output.";
    return `${unlike} of ${rows.length} line${rows.length === 1 ? "" : "s"} differ${unlike === 1 ? "s" : ""}.`;
  };

  /* The host to compare with before the reader has chosen: his own, else the first that printed something else. */
  const partner = (card, first) => {
    const others = captured(card).filter((tab) => tab !== first);
    const text = linesOf(first, "stdout").join("\n");
    const mine = document.querySelector(".capture-mine select")?.value;
    return (
      others.find((tab) => tab.dataset.host === mine) ??
      others.find((tab) => linesOf(tab, "stdout").join("\n") !== text) ??
      others[0]
    );
  };

  const setUp = (card) => {
    const id = `${card.id}-compare`;
    const name = `compare hosts: ${card.dataset.capture}`;
    const opens = { type: "button", "data-compare": "", "aria-expanded": "false", "aria-controls": id };
    const button = make("button", { ...opens, "aria-label": name }, "compare");
    const close = make("button", { type: "button", "data-compare-close": "", "aria-label": "close: comparison" }, "close");
    const select = make("select", {});
    const said = make("span", { role: "status" });
    const columns = make("div", "capture__columns");
    const label = `Two hosts of ${card.dataset.capture}`;
    const box = make("div", { class: "capture__compare", id, role: "group", "aria-label": label, hidden: "" });
    box.append(make("p", "capture__against", make("label", {}, "against ", select), said, close), columns);

    const shownTab = () => tabsOf(card).find((tab) => tab.getAttribute("aria-selected") === "true");

    const draw = (wanted) => {
      const all = captured(card);
      const first = all.includes(shownTab()) ? shownTab() : all[0];
      const usable = all.filter((tab) => tab !== first);
      const second = usable.find((tab) => tab.dataset.host === wanted) ?? partner(card, first);
      select.replaceChildren(...usable.map((tab) => new Option(titleOf(tab), tab.dataset.host)));
      select.value = second.dataset.host;
      const streams = streamsOf([first, second]);
      said.textContent = verdict(streams);
      columns.replaceChildren(...[0, 1].map((which) => columnOf([first, second], which, streams)));
    };

    const toggle = (open) => {
      dress();
      box.hidden = !open;
      card.classList.toggle("capture--comparing", open);
      button.setAttribute("aria-expanded", String(open));
      if (open) draw();
      else columns.replaceChildren();
    };

    const closeByHand = () => {
      toggle(false);
      button.focus();
    };

    button.addEventListener("pointerenter", dress);
    button.addEventListener("focus", dress);
    button.addEventListener("click", () => toggle(box.hidden));
    close.addEventListener("click", closeByHand);
    select.addEventListener("change", () => draw(select.value));
    box.addEventListener("keydown", (event) => {
      if (event.key === "Escape") closeByHand();
    });
    card.addEventListener("capture:shown", () => {
      if (box.hidden) return;
      if (captured(card).includes(shownTab())) draw(select.value);
      else toggle(false); // its panel says why there is no result
    });
    card.querySelector(".capture__acts").prepend(button);
    card.querySelector(".capture__foot").before(box);
  };

  /* The style of a comparison is fetched by the first reader who is about to ask for one. */
  const dress = () => {
    if (document.querySelector(`link[href="${sheet}"]`)) return;
    document.head.append(make("link", { rel: "stylesheet", href: sheet }));
  };

  const begin = () => {
    for (const card of document.querySelectorAll(".capture--live")) {
      if (captured(card).length > 1 && !card.querySelector("[data-compare]")) setUp(card);
    }
  };

  begin();
  window.document$?.subscribe(begin);
})();
