/** The elements of the lines in sight, made once and given to other lines as they scroll in. */

import type { LogDocument } from "#ui/services/search/log-document.ts";
import { EventRow, type RowLook } from "./event-row.ts";

/** The lines in sight: `[first, end)` of `rows`. */
export interface ShownRows {
  readonly rows: readonly LogDocument[];
  readonly first: number;
  readonly end: number;
  /** Number of the chosen line; -1 where there is none. */
  readonly selected: number;
}

export class RowPool {
  /** A line keeps its elements while it is in sight: a scroll fills those only that went out of it. */
  readonly #pool: EventRow[] = [];

  /** Fills the elements, further ones within `body` where they don't suffice; returns those of the lines in order. */
  show({ rows, first, end, selected }: ShownRows, look: RowLook, body: HTMLElement): EventRow[] {
    while (this.#pool.length < end - first) {
      const row = new EventRow();
      this.#pool.push(row);
      body.append(row.element);
    }
    const shown: EventRow[] = [];
    for (let number = first; number < first + this.#pool.length; number++) {
      const row = this.#pool[number % this.#pool.length]!;
      const document = number < end ? rows[number] : undefined;
      row.element.hidden = document === undefined;
      if (document === undefined) continue;
      row.show(number, document, look, number === selected);
      shown.push(row);
    }
    return shown;
  }

  /** Returns how many letters the cells show, by column; none while no line is shown. */
  visibleLetters(): readonly number[] {
    return this.#pool.find(({ element }) => !element.hidden)?.visibleLetters() ?? [];
  }
}
