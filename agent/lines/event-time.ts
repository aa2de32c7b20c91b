/** Returns the time that a line's field has, ms since 1970-01-01 UTC; 0 if it is no text with a time since then. */
export function eventTimeMs(field: unknown): number {
  const timeMs = typeof field === "string" ? Date.parse(field) : Number.NaN;
  return Number.isNaN(timeMs) || timeMs < 0 ? 0 : timeMs;
}
