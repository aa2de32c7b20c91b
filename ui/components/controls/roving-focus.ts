/**
 * Lists as one stop of Tab each (WAI-ARIA Authoring Practices, roving tabindex): arrows up and down go through the rows,
 * left and right through the buttons and links of a row, Home and End to the ends.
 */

import type { LitElement } from "lit";

const STOPS = "button:not(:disabled), a[href], summary";
/** Elements that need the arrow keys themselves: a list with one is left unchanged. */
const FIELDS = "input, select, textarea";

/** Makes each list within a component one stop, whenever it is drawn. A table's body is a list of its rows. */
export function roveLists(host: LitElement, lists = "tbody", rows = "tr"): void {
  const known = new WeakMap<HTMLElement, RovingFocus>();
  host.addController({
    hostUpdated: () => {
      for (const list of host.renderRoot.querySelectorAll<HTMLElement>(lists)) {
        let focus = known.get(list);
        if (focus === undefined) {
          if (list.querySelector(FIELDS) !== null) continue;
          focus = new RovingFocus(list, rows);
          known.set(list, focus);
        }
        focus.refresh();
      }
    },
  });
}

class RovingFocus {
  readonly #list: HTMLElement;
  readonly #rows: string;
  /** The element that Tab reaches. */
  #stop: HTMLElement | undefined;
  /** Its position, for its replacement. */
  #at = 0;

  constructor(list: HTMLElement, rows: string) {
    this.#list = list;
    this.#rows = rows;
    list.addEventListener("focusin", (event) => this.#onFocus(event));
    list.addEventListener("keydown", (event) => this.#onKey(event));
  }

  /** Makes one element reachable by Tab: the previous one if it still exists. */
  refresh(): void {
    const all = stopsIn(this.#list);
    if (this.#stop === undefined || !all.includes(this.#stop))
      this.#stop = all[Math.min(this.#at, all.length - 1)];
    this.#at = this.#stop === undefined ? 0 : all.indexOf(this.#stop);
    for (const one of all) {
      const tabIndex = one === this.#stop ? 0 : -1;
      if (one.tabIndex !== tabIndex) one.tabIndex = tabIndex;
    }
  }

  #onFocus({ target }: FocusEvent): void {
    const stop = (target as Element).closest<HTMLElement>(STOPS);
    if (stop === null || stop.closest("[popover]") !== null) return;
    this.#stop = stop;
    this.refresh();
  }

  #onKey(event: KeyboardEvent): void {
    if (event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
    const from = (event.target as Element).closest<HTMLElement>(STOPS);
    const next = from === null ? undefined : this.#next(event.key, from);
    if (next === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    next.focus();
  }

  #next(key: string, from: HTMLElement): HTMLElement | undefined {
    const all = stopsIn(this.#list);
    if (!all.includes(from)) return undefined;
    if (key === "Home") return all[0];
    if (key === "End") return all.at(-1);
    const row = this.#rowOf(from);
    if (key === "ArrowDown") return all.slice(all.indexOf(from) + 1).find((one) => this.#isFirst(one, row));
    if (key === "ArrowUp") return all.slice(0, all.indexOf(from)).findLast((one) => this.#isFirst(one, row));
    if (key !== "ArrowRight" && key !== "ArrowLeft") return undefined;
    const beside = row === null ? [] : stopsIn(row);
    return beside[beside.indexOf(from) + (key === "ArrowRight" ? 1 : -1)];
  }

  #rowOf(stop: HTMLElement): HTMLElement | null {
    return stop.closest<HTMLElement>(this.#rows);
  }

  /** Returns whether a stop is the first of its row, other than `row`, or in none. */
  #isFirst(stop: HTMLElement, row: HTMLElement | null): boolean {
    const own = this.#rowOf(stop);
    return own === null || (own !== row && stopsIn(own)[0] === stop);
  }
}

/** Returns what can have the focus, apart from what unfolds over the page. */
function stopsIn(within: HTMLElement): HTMLElement[] {
  return [...within.querySelectorAll<HTMLElement>(STOPS)].filter((one) => one.closest("[popover]") === null);
}
