/** Time ranges in words. Their texts are made when this is loaded, which must not be before the language is chosen. */

import { msg, str } from "@lit/localize";
import { resolveTime, type TimeRange } from "./time-range.ts";

interface QuickRange extends TimeRange {
  readonly label: string;
}

export const QUICK_RANGES: readonly QuickRange[] = [
  { label: msg("Last 5 minutes"), from: "now-5m", to: "now" },
  { label: msg("Last 15 minutes"), from: "now-15m", to: "now" },
  { label: msg("Last 30 minutes"), from: "now-30m", to: "now" },
  { label: msg("Last hour"), from: "now-1h", to: "now" },
  { label: msg("Last 4 hours"), from: "now-4h", to: "now" },
  { label: msg("Last 24 hours"), from: "now-24h", to: "now" },
  { label: msg("Today"), from: "now/d", to: "now" },
  { label: msg("Last 7 days"), from: "now-7d", to: "now" },
  { label: msg("Last 30 days"), from: "now-30d", to: "now" },
  { label: msg("Last year"), from: "now-1y", to: "now" },
];

/** Whole phrases: in other languages the first word bends to the unit. */
const LAST: Readonly<Record<string, readonly [one: string, many: (count: string) => string]>> = {
  s: [msg("Last second"), (count) => msg(str`Last ${count} seconds`)],
  m: [msg("Last minute"), (count) => msg(str`Last ${count} minutes`)],
  h: [msg("Last hour"), (count) => msg(str`Last ${count} hours`)],
  d: [msg("Last day"), (count) => msg(str`Last ${count} days`)],
  w: [msg("Last week"), (count) => msg(str`Last ${count} weeks`)],
  M: [msg("Last month"), (count) => msg(str`Last ${count} months`)],
  y: [msg("Last year"), (count) => msg(str`Last ${count} years`)],
};

/** Returns what is wrong with a range, in words for its writer; undefined if nothing is. */
export function rangeFault(range: TimeRange, nowMs: number): string | undefined {
  const fromMs = resolveTime(range.from, nowMs);
  if (fromMs === undefined)
    return msg(str`Start “${range.from}” isn't a time. Write 2026-01-31 14:00 or now-15m.`);
  const toMs = resolveTime(range.to, nowMs);
  if (toMs === undefined) return msg(str`End “${range.to}” isn't a time. Write 2026-01-31 15:00 or now.`);
  return toMs <= fromMs ? msg("The end must be later than the start.") : undefined;
}

/** Returns a range in words: a quick one's name, `Last 45 minutes`, or both ends by `format`. */
export function describeRange(range: TimeRange, format: (atMs: number) => string, nowMs: number): string {
  const quick = QUICK_RANGES.find(({ from, to }) => from === range.from && to === range.to);
  if (quick !== undefined) return quick.label;
  const last = /^now-(\d+)([smhdwMy])$/.exec(range.from);
  if (last !== null && range.to === "now") {
    const [one, many] = LAST[last[2]!]!;
    return last[1] === "1" ? one : many(last[1]!);
  }
  const { from, to } = range;
  return `${end(from, format, nowMs)} → ${end(to, format, nowMs)}`;
}

function end(text: string, format: (atMs: number) => string, nowMs: number): string {
  if (text.startsWith("now")) return text;
  const atMs = resolveTime(text, nowMs);
  return atMs === undefined ? text : format(atMs);
}
