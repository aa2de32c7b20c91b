/** Which of many rows of one height are in sight. */

/** Rows drawn beyond each edge, so that a scroll shows no blank. */
const OVERSCAN_ROWS = 6;

export interface RowWindow {
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

/** Returns the scroll place that shows a row with as little movement as can be. */
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
