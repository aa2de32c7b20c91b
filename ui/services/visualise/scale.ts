/** Numbers on axes. */

/**
 * Returns about `count` round numbers that cover 0 (or `min` below it) to `max`; the last one is ≥ max. `minStep` is 1
 * where there is nothing between whole numbers.
 */
export function niceTicks(min: number, max: number, count: number, minStep = 0): number[] {
  const low = Math.min(0, min);
  const high = Math.max(max, low + Number.EPSILON, low === 0 && max <= 0 ? 1 : max);
  const rough = (high - low) / Math.max(1, count);
  const power = 10 ** Math.floor(Math.log10(rough));
  const round = [1, 2, 2.5, 5, 10].map((factor) => factor * power).find((one) => one >= rough)!;
  const step = Math.max(minStep, minStep === 1 ? Math.ceil(round) : round);
  const first = Math.floor(low / step);
  const last = Math.ceil(high / step - 1e-9);
  return Array.from({ length: last - first + 1 }, (_, index) =>
    Number(((first + index) * step).toPrecision(12)),
  );
}

/** Returns numbers of groups to label, so that each label has `width` px of `total`. */
export function labelledGroups(groups: number, totalPx: number, labelPx: number): number[] {
  if (groups === 0) return [];
  const fits = Math.max(1, Math.floor(totalPx / labelPx));
  const every = Math.max(1, Math.ceil(groups / fits));
  return Array.from({ length: Math.ceil(groups / every) }, (_, index) => index * every);
}

/** Returns a text of at most `length` characters, its middle left out: both ends of an address tell something. */
export function shorten(text: string, length: number): string {
  if (text.length <= length) return text;
  const head = Math.ceil((length - 1) * 0.6);
  return `${text.slice(0, head)}…${text.slice(text.length - (length - 1 - head))}`;
}
