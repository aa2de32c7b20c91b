/** Ranges of a number as groups of a chart. */

/** A range below the first bound, those between them, and one from the last bound on. */
export interface NumberRange {
  readonly from?: number;
  readonly to?: number;
}

/** Returns the ranges between bounds, as the search interface takes them. */
export function rangesOf(bounds: readonly number[]): readonly NumberRange[] {
  return [undefined, ...bounds].map((from, at) => {
    const to = bounds[at];
    return { ...(from !== undefined && { from }), ...(to !== undefined && { to }) };
  });
}

/** `< 10`, `10 – 100`, `≥ 100` */
export function rangeName({ from, to }: NumberRange): string {
  if (from === undefined) return `< ${to}`;
  return to === undefined ? `≥ ${from}` : `${from} – ${to}`;
}
