/**
 * A list of buttons as one stop of Tab (WAI-ARIA Authoring Practices, roving tabindex): arrows up and down go through the
 * rows, left and right through the buttons of a row, Home and End to the ends.
 */

/** A list as it is drawn now. */
export interface RovingList {
  /** In their order; each holds at least one of the buttons. */
  readonly rows: readonly HTMLElement[];
  /** All buttons, those outside of rows too. */
  readonly all: readonly HTMLButtonElement[];
}

export class RovingFocus {
  readonly #list: () => RovingList;
  /** The stop of Tab. */
  #stop: HTMLButtonElement | undefined;

  constructor(list: () => RovingList) {
    this.#list = list;
  }

  /** Makes one button the stop: the one before where it is still there. */
  refresh(): void {
    const { all } = this.#list();
    if (this.#stop === undefined || !all.includes(this.#stop)) this.#stop = all[0];
    for (const button of all) button.tabIndex = button === this.#stop ? 0 : -1;
  }

  readonly onFocus = (event: Event): void => {
    const button = (event.target as Element).closest("button");
    if (button === null) return;
    this.#stop = button;
    this.refresh();
  };

  readonly onKey = (event: KeyboardEvent): void => {
    const next = this.#next(event.key, (event.target as Element).closest("button"));
    if (next === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    next.focus();
  };

  #next(key: string, from: HTMLButtonElement | null): HTMLButtonElement | undefined {
    const { rows, all } = this.#list();
    if (from === null) return undefined;
    if (key === "Home") return all[0];
    if (key === "End") return all.at(-1);
    const at = rows.findIndex((row) => row.contains(from));
    if (key === "ArrowDown")
      return at < 0 ? undefined : (firstIn(rows[at + 1]) ?? all[all.indexOf(from) + 1]);
    if (key === "ArrowUp") return at < 0 ? all[all.indexOf(from) - 1] : firstIn(rows[at - 1]);
    if (key !== "ArrowRight" && key !== "ArrowLeft") return undefined;
    const beside = [...(rows[at]?.querySelectorAll("button") ?? [])];
    return beside[beside.indexOf(from) + (key === "ArrowRight" ? 1 : -1)];
  }
}

function firstIn(row: HTMLElement | undefined): HTMLButtonElement | undefined {
  return row?.querySelector("button") ?? undefined;
}
