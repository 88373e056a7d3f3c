/* Tables over all records: sorted and filtered in the page. Without this script every row shows, in its own order. */
(() => {
  "use strict";

  const ANY = "";
  const FEW = 5; // rows that are seen at a glance, without a filter
  const order = new Intl.Collator("en", { numeric: true });

  const tagsOf = (cell) => JSON.parse(cell.dataset.tags ?? "{}");
  const textOf = (cell) => cell.dataset.order ?? cell.textContent.trim();

  /* What is chosen in one table, and its place in the address: `matrix.gate=needs+cuda`, `matrix.sort=2-down`. */
  class Live {
    constructor(box) {
      this.box = box;
      this.name = box.dataset.table;
      this.table = box.querySelector("table");
      this.head = [...this.table.tHead.rows[0].cells];
      this.body = this.table.tBodies[0];
      this.columns = this.head.map(tagsOf);
      this.rows = [...this.body.rows].map((row) => ({
        row,
        cells: [...row.cells],
        tags: [...row.cells].map(tagsOf),
        words: row.textContent.toLowerCase(),
      }));
      this.chosen = {};
      this.sort = { column: -1, down: false };
    }

    /* Every value that a kind of tag takes, and whether it speaks for columns, rows or cells. */
    values(kind) {
      const all = [this.columns, ...this.rows.map(({ tags }) => tags)].flat();
      return [...new Set(all.flatMap((tags) => tags[kind] ?? []))].sort(order.compare);
    }

    controls() {
      const bar = document.createElement("div");
      bar.className = "capture-table__bar";
      bar.setAttribute("role", "group");
      bar.setAttribute("aria-label", `Filter: ${this.box.getAttribute("aria-label")}`);
      this.fields = new Map();
      for (const kind of this.rows.length > FEW ? (this.box.dataset.filters ?? "").split(" ").filter(Boolean) : []) {
        const select = document.createElement("select");
        select.append(new Option(`any ${kind}`, ANY), ...this.values(kind).map((value) => new Option(value, value)));
        this.field(bar, kind, select, "change");
      }
      if (this.fields.size) {
        const input = Object.assign(document.createElement("input"), { type: "search", autocomplete: "off" });
        this.field(bar, "words", input, "input");
      }
      this.reset = Object.assign(document.createElement("button"), { type: "button", textContent: "show all" });
      this.reset.addEventListener("click", () => {
        this.chosen = {};
        this.write();
        [...this.fields.values()][0]?.focus();
      });
      this.status = document.createElement("p");
      this.status.setAttribute("role", "status");
      bar.append(this.reset, this.status);
      if (this.fields.size) this.box.before(bar);
      if (this.rows.length > 1) this.head.forEach((cell, column) => this.sortable(cell, column));
    }

    field(bar, kind, element, event) {
      const label = document.createElement("label");
      label.append(Object.assign(document.createElement("span"), { textContent: kind }), element);
      element.addEventListener(event, () => {
        this.chosen[kind] = element.value;
        this.write();
      });
      this.fields.set(kind, element);
      bar.append(label);
    }

    /* A head that leads somewhere keeps its link; the button stands beside it. */
    sortable(cell, column) {
      const button = Object.assign(document.createElement("button"), { type: "button" });
      button.className = "capture-table__sort";
      if (cell.querySelector("a")) {
        button.setAttribute("aria-label", `sort by ${cell.textContent.trim()}`);
        cell.append(" ", button);
      } else {
        button.append(...cell.childNodes);
        cell.append(button);
      }
      button.addEventListener("click", () => {
        const { column: before, down } = this.sort;
        if (before !== column) this.sort = { column, down: false };
        else this.sort = down ? { column: -1, down: false } : { column, down: true };
        this.write();
      });
    }

    /* A row shows if its own tags fit and, where cells are asked for, one visible cell has all that is asked. */
    show() {
      const asked = Object.entries(this.chosen).filter(([kind, value]) => kind !== "words" && value !== ANY);
      const words = (this.chosen.words ?? "").toLowerCase().split(/\s+/).filter(Boolean);
      const has = (tags, [kind, value]) => !(kind in tags) || tags[kind].includes(value);
      const visible = this.columns.map((tags) => asked.every((want) => has(tags, want)));
      const inCells = asked.filter(([kind]) => this.rows.some(({ tags }) => tags.slice(1).some((own) => kind in own)));
      const onRows = asked.filter(([kind]) => this.rows.some(({ tags }) => kind in tags[0]));
      this.head.forEach((cell, column) => {
        cell.hidden = !visible[column];
        const sorted = this.sort.column === column;
        const mark = sorted ? (this.sort.down ? "descending" : "ascending") : "none";
        if (this.rows.length > 1) cell.setAttribute("aria-sort", mark);
      });
      let shown = 0;
      for (const { row, cells, tags, words: text } of this.rows) {
        const fits =
          onRows.every(([kind, value]) => tags[0][kind]?.includes(value)) &&
          words.every((word) => text.includes(word)) &&
          (!inCells.length ||
            tags.some((own, at) => at && visible[at] && inCells.every(([kind, value]) => own[kind]?.includes(value))));
        row.hidden = !fits;
        shown += fits;
        cells.forEach((cell, column) => {
          cell.hidden = !visible[column];
        });
      }
      const rows = this.ordered().map(({ row }) => row);
      if (rows.some((row, at) => this.body.rows[at] !== row)) this.body.append(...rows);
      this.box.hidden = !shown;
      const many = this.rows.length === 1 ? "row" : "rows";
      this.status.textContent = shown ? `${shown} of ${this.rows.length} ${many} shown` : "No row fits all of these.";
      this.reset.hidden = !asked.length && !words.length;
      for (const [kind, element] of this.fields) {
        const value = this.chosen[kind] ?? ANY;
        if (element.value !== value) element.value = value;
        if (element.selectedIndex === -1) element.value = ANY;
      }
    }

    ordered() {
      const { column, down } = this.sort;
      if (column < 0) return this.rows;
      const keyed = this.rows.map((entry) => [textOf(entry.cells[column]), entry]);
      // what is empty stays last, whichever way
      keyed.sort(([a], [b]) => !a - !b || order.compare(a, b) * (down ? -1 : 1));
      return keyed.map(([, entry]) => entry);
    }

    read() {
      const query = new URLSearchParams(location.search);
      this.chosen = {};
      for (const [kind, element] of this.fields) {
        const value = query.get(`${this.name}.${kind}`) ?? ANY;
        const offered = element.options ? [...element.options].some((option) => option.value === value) : true;
        this.chosen[kind] = offered ? value : ANY;
      }
      const [, column, down] = /^(\d+)(-down)?$/.exec(query.get(`${this.name}.sort`) ?? "") ?? [];
      const known = column && Number(column) >= 1 && Number(column) <= this.head.length && this.rows.length > 1;
      this.sort = { column: known ? Number(column) - 1 : -1, down: Boolean(known && down) };
      this.show();
    }

    write() {
      const address = new URL(location.href);
      const put = (key, value) => {
        if (value) address.searchParams.set(`${this.name}.${key}`, value);
        else address.searchParams.delete(`${this.name}.${key}`);
      };
      for (const kind of this.fields.keys()) put(kind, this.chosen[kind] ?? ANY);
      const { column, down } = this.sort;
      put("sort", column < 0 ? "" : `${column + 1}${down ? "-down" : ""}`);
      history.replaceState(history.state, "", address);
      this.show();
    }
  }

  const begin = () => {
    for (const box of document.querySelectorAll("[data-table]:not([data-live])")) {
      box.dataset.live = "";
      const live = new Live(box);
      live.controls();
      live.read();
    }
  };

  begin();
  window.document$?.subscribe(begin);
})();
