/**
 * Which of many rows are in sight: of rows of one height, and of rows whose heights are mostly guessed until they are
 * drawn.
 */

/** Rows drawn beyond each edge, so that a scroll shows no blank. */
const OVERSCAN_ROWS = 6;

export class RowHeights {
  readonly #guessPx: number;
  #heights: Float64Array;
  /** A Fenwick tree: sums of heights, so that one row's change costs few steps. */
  #sums: Float64Array;
  #count: number;

  constructor(count: number, guessPx: number) {
    this.#guessPx = guessPx;
    this.#count = count;
    this.#heights = new Float64Array(count).fill(guessPx);
    this.#sums = sumsOf(this.#heights);
  }

  get count(): number {
    return this.#count;
  }

  /** Height of all rows, px. */
  get totalPx(): number {
    return this.topOf(this.#count);
  }

  /** Takes more rows after the last, of the guessed height. */
  grow(count: number): void {
    const heights = new Float64Array(count).fill(this.#guessPx);
    heights.set(this.#heights.subarray(0, Math.min(count, this.#count)));
    this.#heights = heights;
    this.#sums = sumsOf(heights);
    this.#count = count;
  }

  heightOf(row: number): number {
    return this.#heights[row] ?? this.#guessPx;
  }

  /** Takes a row's height as it was drawn; returns by how much it differs from the one before, px. */
  set(row: number, heightPx: number): number {
    const change = heightPx - this.#heights[row]!;
    if (change === 0) return 0;
    this.#heights[row] = heightPx;
    for (let at = row + 1; at <= this.#count; at += at & -at) this.#sums[at]! += change;
    return change;
  }

  /** Returns where a row begins, px from the first. */
  topOf(row: number): number {
    let sum = 0;
    for (let at = row; at > 0; at -= at & -at) sum += this.#sums[at]!;
    return sum;
  }

  /** Returns the row at an offset; the last one for offsets after it. */
  rowAt(placePx: number): number {
    let row = 0;
    let left = placePx;
    for (let step = 2 ** Math.floor(Math.log2(Math.max(1, this.#count))); step >= 1; step /= 2) {
      const next = row + step;
      if (next > this.#count || this.#sums[next]! > left) continue;
      row = next;
      left -= this.#sums[next]!;
    }
    return Math.max(0, Math.min(row, this.#count - 1));
  }
}

function sumsOf(heights: Float64Array): Float64Array {
  const sums = new Float64Array(heights.length + 1);
  for (let row = 0; row < heights.length; row++) {
    const at = row + 1;
    sums[at]! += heights[row]!;
    const parent = at + (at & -at);
    if (parent < sums.length) sums[parent]! += sums[at]!;
  }
  return sums;
}

interface RowWindow {
  /** First row to draw, and the one after the last. */
  readonly first: number;
  readonly end: number;
}

/** Returns the rows to draw. Sizes in CSS pixels. */
export function visibleRows(
  scrollTop: number,
  viewHeight: number,
  rowHeight: number,
  count: number,
): RowWindow {
  const first = Math.max(0, Math.floor(scrollTop / rowHeight) - OVERSCAN_ROWS);
  const end = Math.min(count, Math.ceil((scrollTop + viewHeight) / rowHeight) + OVERSCAN_ROWS);
  return { first: Math.min(first, end), end };
}

/** Returns the scroll offset that shows a row with as little movement as can be. */
export function scrollToRow(row: number, scrollTop: number, viewHeight: number, rowHeight: number): number {
  return scrollToPlace({ topPx: row * rowHeight, heightPx: rowHeight }, scrollTop, viewHeight);
}

/** The same for a row of its own height. */
export function scrollToPlace(
  { topPx, heightPx }: { readonly topPx: number; readonly heightPx: number },
  scrollTop: number,
  viewHeight: number,
): number {
  if (topPx < scrollTop) return topPx;
  return Math.max(scrollTop, topPx + heightPx - viewHeight);
}
