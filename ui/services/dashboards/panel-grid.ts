/** Moves the panels of a dashboard on their grid, and makes them wider or higher. */

import { HEIGHTS, type Height, type Panel, WIDTHS } from "./dashboard.ts";

/** Heights in px, as the style sheet has them. */
const HEIGHTS_PX: Readonly<Record<Height, number>> = { low: 170, middle: 300, high: 440 };
const COLUMNS = 12;

/** Returns the panels with one moved by one position; at the ends it stays. */
export function movePanel(panels: readonly Panel[], at: number, step: 1 | -1): readonly Panel[] {
  return placePanel(panels, at, at + step);
}

/** Returns the panels with one put at another's position, those between moved up; beyond the ends it stays. */
export function placePanel(panels: readonly Panel[], from: number, to: number): readonly Panel[] {
  const panel = panels[from];
  if (panel === undefined || to < 0 || to >= panels.length) return panels;
  return panels.toSpliced(from, 1).toSpliced(to, 0, panel);
}

/** Returns the panels with one as near to a size in px as there is one; `gridPx` is the width of all columns. */
export function resizePanel(
  panels: readonly Panel[],
  at: number,
  {
    widthPx,
    heightPx,
    gridPx,
  }: { readonly widthPx: number; readonly heightPx: number; readonly gridPx: number },
): readonly Panel[] {
  const width = nearest(WIDTHS, (one) => Math.abs((one * gridPx) / COLUMNS - widthPx));
  const height = nearest(HEIGHTS, (one) => Math.abs(HEIGHTS_PX[one] - heightPx));
  const { width: before, height: heightBefore } = panels[at]!;
  if (width === before && height === heightBefore) return panels;
  return panels.map((panel, index) => (index === at ? { ...panel, width, height } : panel));
}

function nearest<T>(values: readonly T[], away: (value: T) => number): T {
  return values.toSorted((a, b) => away(a) - away(b))[0]!;
}

/** Returns the panels with one wider (1) or narrower (-1). */
export function widenPanel(panels: readonly Panel[], at: number, step: 1 | -1): readonly Panel[] {
  return panels.map((panel, index) =>
    index === at ? { ...panel, width: neighbour(WIDTHS, panel.width, step) } : panel,
  );
}

/** Returns the panels with one higher (1) or lower (-1). */
export function heightenPanel(panels: readonly Panel[], at: number, step: 1 | -1): readonly Panel[] {
  return panels.map((panel, index) =>
    index === at ? { ...panel, height: neighbour(HEIGHTS, panel.height, step) } : panel,
  );
}

function neighbour<T>(values: readonly T[], value: T, step: 1 | -1): T {
  return values[values.indexOf(value) + step] ?? value;
}
