/* Tabs and copy buttons of captured results. Without this script every host stands below the other. */
(() => {
  "use strict";

  /* The old address of a section that left its page leads on. */
  const follow = () => {
    let name = location.hash.slice(1);
    try {
      name = decodeURIComponent(name);
    } catch {
      /* a stray % is part of the name */
    }
    const link = name && document.getElementById(name)?.closest(".capture-moved > *")?.querySelector("a");
    if (link) location.replace(link.href);
  };
  follow();
  window.addEventListener("hashchange", follow);

  const KEY = "capture.host";
  const cards = [...document.querySelectorAll(".capture")];

  const remembered = () => {
    try {
      return localStorage.getItem(KEY);
    } catch {
      return null; // storage may be switched off; the choice then lasts as long as the page
    }
  };

  const remember = (host) => {
    try {
      localStorage.setItem(KEY, host);
    } catch {
      /* as above */
    }
  };

  const tabsOf = (card) => [...card.querySelectorAll("[role=tab]")];
  const panelOf = (tab) => document.getElementById(tab.getAttribute("aria-controls"));

  const show = (card, tab) => {
    for (const other of tabsOf(card)) {
      const chosen = other === tab;
      other.setAttribute("aria-selected", String(chosen));
      other.tabIndex = chosen ? 0 : -1;
      panelOf(other).hidden = !chosen;
    }
  };

  /* A host is shown where it has a result; elsewhere the card keeps the one it shows, and its badge says which. */
  const showHost = (card, host) => {
    const tab = tabsOf(card).find((item) => item.dataset.host === host);
    if (tab && !("absent" in panelOf(tab).dataset)) show(card, tab);
  };

  const choose = (card, tab) => {
    const top = tab.getBoundingClientRect().top;
    show(card, tab);
    if (!("absent" in panelOf(tab).dataset)) {
      remember(tab.dataset.host);
      for (const other of cards) {
        if (other !== card && !("pinned" in other.dataset)) showHost(other, tab.dataset.host);
      }
    }
    tab.scrollIntoView({ block: "nearest", inline: "nearest" });
    window.scrollBy(0, tab.getBoundingClientRect().top - top); // cards above may have grown or shrunk
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

  // Material gives its search dialog no name
  document.querySelector(".md-search[role=dialog]:not([aria-label])")?.setAttribute("aria-label", "Search");

  const host = remembered();
  for (const card of cards) {
    card.classList.add("capture--live");
    const tabs = tabsOf(card);
    if (tabs.length) {
      show(card, tabs.find((tab) => tab.getAttribute("aria-selected") === "true"));
      if (host && !("pinned" in card.dataset)) showHost(card, host);
    }
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
  followHash();
  window.addEventListener("hashchange", followHash);
})();
