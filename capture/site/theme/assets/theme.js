/* What Material's pages lack for the keyboard and for those who hear them. */
(() => {
  "use strict";

  const all = (selector) => [...document.querySelectorAll(selector)];

  /* A box that scrolls is a stop of the Tab key as long as it does. The theme sees to it only where there is a mouse. */
  const sizes = new ResizeObserver((entries) => {
    for (const { target } of entries) {
      if (target.scrollWidth > target.clientWidth) target.tabIndex = 0;
      else target.removeAttribute("tabindex");
    }
  });

  /* Lists of the navigation are named by labels that are empty or not there. What opens them is the check box, which the
     style sheet makes a stop; its label is no second one. */
  const name = () => {
    for (const title of all(".md-nav > .md-nav__title:not([for=__drawer])")) {
      const text = title.textContent.trim();
      title.parentElement.removeAttribute("aria-labelledby");
      title.parentElement.setAttribute("aria-label", text);
      document.getElementById(title.htmlFor)?.setAttribute("aria-label", text);
    }
    for (const label of all("label.md-nav__link[tabindex]")) label.removeAttribute("tabindex");
    for (const dialog of all(".md-search[role=dialog]")) dialog.setAttribute("aria-label", "Search");
  };

  /* The drawer's own check box stands outside of all landmarks: a button takes the place of its label. */
  const drawer = document.getElementById("__drawer");
  const label = document.querySelector("label.md-header__button[for=__drawer]");
  if (drawer && label) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = `${label.className} capture-drawer`;
    button.setAttribute("aria-label", "Navigation");
    button.append(...label.childNodes);
    label.replaceWith(button);
    const say = () => button.setAttribute("aria-expanded", String(drawer.checked));
    say();
    button.addEventListener("click", () => drawer.click());
    drawer.addEventListener("change", say);
    document.addEventListener("keydown", (event) => {
      if (event.key !== "Escape" || !drawer.checked) return;
      drawer.click();
      button.focus();
    });
  }

  /* The theme wraps the copy button of each block of code, and the tags of what search finds, in landmarks without a name,
     when it pleases. */
  const plain = () => {
    for (const nav of all(".md-code__nav:not([role]), .md-search-result .md-tags:not([role])")) nav.setAttribute("role", "none");
  };
  const added = new MutationObserver(plain);

  const begin = () => {
    name();
    plain();
    added.disconnect();
    for (const box of all("article, .md-search-result__list")) added.observe(box, { childList: true, subtree: true });
    sizes.disconnect();
    for (const box of all("pre > code, .md-typeset__scrollwrap")) if (!box.closest(".capture")) sizes.observe(box);
  };

  begin();
  window.document$?.subscribe(begin);
})();
