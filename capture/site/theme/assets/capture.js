/* Tabs and copy buttons of captured results. Without this script every host stands below the other. */
(() => {
  "use strict";

  /* The old address of a section that left its page leads on. */
  const leadOn = () => {
    let name = location.hash.slice(1);
    try {
      name = decodeURIComponent(name);
    } catch {
      /* a stray % is part of the name */
    }
    const link = name && document.getElementById(name)?.closest(".capture-moved > *")?.querySelector("a");
    if (link) location.replace(link.href);
  };
  leadOn();
  window.addEventListener("hashchange", leadOn);

  const KEY = "capture.host";
  const initial = new WeakMap(); // the tab that the author or the build chose, by card
  let mine = ""; // the reader's host; empty: none chosen

  const cards = () => [...document.querySelectorAll(".capture")];
  const tabsOf = (card) => [...card.querySelectorAll("[role=tab]")];
  const panelOf = (tab) => document.getElementById(tab.getAttribute("aria-controls"));
  const isAbsent = (tab) => "absent" in panelOf(tab).dataset;
  const follows = (card) => !("pinned" in card.dataset) && tabsOf(card).length > 0;

  const remembered = () => {
    try {
      return localStorage.getItem(KEY) ?? "";
    } catch {
      return mine; // storage may be switched off; the choice then lasts as long as the page
    }
  };

  const remember = (host) => {
    mine = host;
    try {
      if (host) localStorage.setItem(KEY, host);
      else localStorage.removeItem(KEY);
    } catch {
      /* as above */
    }
  };

  /* Every host of the site, and which are like it; the tabs alone know them where a build did not write the list. */
  const hosts = () => {
    const listed = document.getElementById("capture-hosts");
    if (listed) return JSON.parse(listed.dataset.hosts);
    const tabs = tabsOf(cards().find((card) => tabsOf(card).length) ?? document.createElement("i"));
    const near = tabs.map((_, index) => index);
    return tabs.map((tab) => ({ label: tab.dataset.host, title: titleOf(tab), near }));
  };

  const titleOf = (tab) => panelOf(tab).querySelector(".capture__host").textContent;

  /* `wanted` is the tab of the reader's host where another is shown, because that one has no result. */
  const show = (card, tab, wanted) => {
    for (const other of tabsOf(card)) {
      const chosen = other === tab;
      other.setAttribute("aria-selected", String(chosen));
      other.tabIndex = chosen ? 0 : -1;
      panelOf(other).hidden = !chosen;
    }
    card.querySelector(".capture__instead")?.remove();
    if (wanted) {
      const note = document.createElement("p");
      note.className = "capture__instead";
      const why = panelOf(wanted).querySelector(".capture__absent b").textContent.trim();
      note.append(`${why} Shown: `, Object.assign(document.createElement("b"), { textContent: titleOf(tab) }), ".");
      card.querySelector(".capture__tabs").after(note);
    }
    card.dispatchEvent(new CustomEvent("capture:shown"));
  };

  /* Show the reader's host, or the nearest that has a result, or without a choice what the page chose. */
  const follow = (card) => {
    const tabs = tabsOf(card);
    const own = tabs.find((tab) => tab.dataset.host === mine);
    if (!own) return show(card, initial.get(card));
    if (!isAbsent(own)) return show(card, own);
    const all = hosts();
    const order = (all.find((host) => host.label === mine)?.near ?? []).map((index) => all[index].label);
    const captured = tabs.filter((tab) => !isAbsent(tab));
    const label = order.find((name) => captured.some((tab) => tab.dataset.host === name));
    return show(card, captured.find((tab) => tab.dataset.host === label) ?? initial.get(card), own);
  };

  /* Cards above may grow or shrink; what the reader looks at stays where it is. */
  const keepPlace = (anchor, act) => {
    const top = anchor?.getBoundingClientRect().top;
    act();
    if (anchor) window.scrollBy({ top: anchor.getBoundingClientRect().top - top, behavior: "instant" });
  };

  const choose = (card, tab) => {
    keepPlace(tab, () => {
      show(card, tab);
      if (!isAbsent(tab)) {
        remember(tab.dataset.host);
        for (const other of cards()) if (other !== card && follows(other)) follow(other);
        showMine();
      }
      tab.scrollIntoView({ block: "nearest", inline: "nearest" });
    });
  };

  /* The choice in the header: the same one that a tab makes. */
  const showMine = () => {
    const select = document.querySelector(".capture-mine select");
    if (!select) return;
    select.value = mine;
    if (select.selectedIndex < 0) select.value = ""; // a host that this site no longer has
  };

  const pick = (select, status) => {
    const blocks = [...document.querySelectorAll(".md-content__inner > *")];
    const header = document.querySelector(".md-header").getBoundingClientRect().bottom;
    const boxes = blocks.map((block) => block.getBoundingClientRect());
    const begins = boxes.findIndex(({ top }) => top >= header && top < innerHeight);
    const anchor = blocks[begins < 0 ? boxes.findIndex(({ bottom }) => bottom > header) : begins];
    keepPlace(anchor, () => {
      remember(select.value);
      cards().filter(follows).forEach(follow);
    });
    const without = document.querySelectorAll(".capture__instead").length;
    const title = select.selectedOptions[0].textContent;
    status.textContent = `${title}${without ? `: ${without} of the results here were not captured on it` : ""}`;
  };

  const addMine = () => {
    const inner = document.querySelector(".md-header__inner");
    const all = hosts();
    if (!inner || inner.querySelector(".capture-mine") || all.length < 2) return;
    const box = document.createElement("div");
    box.className = "capture-mine md-header__option";
    box.innerHTML = "<label><span>My host</span><select></select></label><span role=status></span>";
    const [select, status] = [box.querySelector("select"), box.querySelector("[role=status]")];
    select.append(new Option("any host", ""), ...all.map((host) => new Option(host.title, host.label)));
    select.addEventListener("change", () => pick(select, status));
    inner.insertBefore(box, inner.querySelector(":scope > [for=__search]"));
  };

  const move = { ArrowRight: 1, ArrowLeft: -1, Home: "first", End: "last" };

  const onKey = (card, event) => {
    if (!(event.key in move) || event.altKey || event.ctrlKey || event.metaKey) return;
    const tabs = tabsOf(card);
    const rtl = getComputedStyle(card).direction === "rtl" ? -1 : 1;
    const step = move[event.key];
    let index = tabs.indexOf(event.target);
    if (step === "first") index = 0;
    else if (step === "last") index = tabs.length - 1;
    else index = (index + step * rtl + tabs.length) % tabs.length;
    event.preventDefault();
    tabs[index].focus();
    choose(card, tabs[index]);
  };

  /* A link to a host's output shows that output, in its own card only. */
  const followHash = () => {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    const panel = target && target.closest(".capture__panel[role=tabpanel]");
    if (!panel) return;
    const card = panel.closest(".capture");
    show(card, tabsOf(card).find((tab) => panelOf(tab) === panel));
    target.scrollIntoView();
  };

  const copyText = async (text) => {
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      // no secure context, or no permission: the older way works from a click
      const area = document.createElement("textarea");
      area.value = text;
      area.style.position = "fixed";
      area.style.opacity = "0";
      document.body.append(area);
      area.select();
      const done = document.execCommand("copy");
      area.remove();
      if (!done) throw new Error("copying is not allowed here");
    }
  };

  const onCopy = async (button) => {
    const code = document.getElementById(button.dataset.copy).querySelector("pre > code");
    const label = button.firstChild;
    const before = label.data;
    try {
      await copyText(`${code.textContent.replace(/\n+$/, "")}\n`);
      label.data = "copied";
    } catch {
      label.data = "not copied: select it";
    }
    setTimeout(() => {
      label.data = before;
    }, 1500);
  };

  const onExpand = (button) => {
    const box = document.getElementById(button.dataset.expand).querySelector(".capture__scroll");
    const open = box.classList.toggle("capture__scroll--open");
    const other = button.dataset.less;
    button.dataset.less = button.textContent;
    button.textContent = other;
    button.setAttribute("aria-expanded", String(open));
  };

  /* A page begins: at once, and again for each page that the theme puts in its place without loading anew. */
  const begin = () => {
    mine = remembered();
    for (const card of cards().filter((item) => !item.classList.contains("capture--live"))) {
      card.classList.add("capture--live");
      const tabs = tabsOf(card);
      initial.set(card, tabs.find((tab) => tab.getAttribute("aria-selected") === "true"));
      if (follows(card)) follow(card);
      else if (tabs.length) show(card, initial.get(card));
      for (const tab of tabs) {
        tab.addEventListener("click", () => choose(card, tab));
        tab.addEventListener("keydown", (event) => onKey(card, event));
      }
      for (const button of card.querySelectorAll("[data-copy]")) {
        button.hidden = false;
        button.addEventListener("click", () => onCopy(button));
      }
      for (const button of card.querySelectorAll("[data-expand]")) {
        button.hidden = false;
        button.setAttribute("aria-expanded", "false");
        button.addEventListener("click", () => onExpand(button));
      }
    }
    addMine();
    showMine();
    followHash();
  };

  begin();
  window.document$?.subscribe(begin);
  window.addEventListener("hashchange", followHash);
  // a page that the browser kept while the reader chose elsewhere
  window.addEventListener("pageshow", (event) => {
    if (!event.persisted) return;
    mine = remembered();
    cards().filter(follows).forEach(follow);
    showMine();
  });
})();
