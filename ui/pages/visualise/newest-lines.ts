/**
 * Shown if the visualisations of a page found nothing in its time range: the time of the newest lines, with a link to
 * it.
 */

import { msg, str } from "@lit/localize";
import { html, nothing, type TemplateResult } from "lit";
import { icon } from "#ui/components/style/icons.ts";
import { absoluteRange, resolveRange, type TimeRange } from "#ui/services/search/time-range.ts";
import { formatAgo } from "#ui/services/text/format.ts";

/** The lines that a visualisation found, as `tr-found`. */
export interface FoundDetail {
  /** ms since 1970 of the newest line outside an empty range; undefined if there are lines, or none anywhere. */
  readonly newestMs: number | undefined;
  readonly hasLines: boolean;
}

/** The results of all visualisations of a page for one time range. */
export class NewestLines {
  #range = "";
  #hasLines = false;
  #newestMs: number | undefined;

  /** Adds the result of a visualisation; results for another range are forgotten. */
  take({ newestMs, hasLines }: FoundDetail, { from, to }: TimeRange): void {
    const range = `${from} ${to}`;
    if (range !== this.#range) [this.#range, this.#hasLines, this.#newestMs] = [range, false, undefined];
    this.#hasLines ||= hasLines;
    if (newestMs !== undefined) this.#newestMs = Math.max(newestMs, this.#newestMs ?? 0);
  }

  /** Returns the newest time where a range holds nothing of what is shown, but others do. */
  outside({ from, to }: TimeRange): number | undefined {
    return this.#hasLines || this.#range !== `${from} ${to}` ? undefined : this.#newestMs;
  }
}

/** Returns the range that leads to the newest lines: as long as the empty one. */
export function newestView(
  newestMs: number | undefined,
  range: TimeRange,
  onJump: (range: TimeRange) => void,
): TemplateResult | typeof nothing {
  if (newestMs === undefined) return nothing;
  const jump = (): void => onJump(rangeUpTo(newestMs, range));
  return html`<div class="notice newest" role="status"><p><strong>${msg("No lines in this time range")}</strong>
    ${msg(str`The newest line that matches is from ${formatAgo(newestMs, Date.now())}.`)}</p>
    <button class="small primary" @click=${jump}>${icon("end")}${msg("Jump to the newest data")}</button></div>`;
}

/** Returns the range that ends with a time and is as long as another. */
export function rangeUpTo(newestMs: number, range: TimeRange): TimeRange {
  const { fromMs, toMs } = resolveRange(range, Date.now()) ?? { fromMs: 0, toMs: 900_000 };
  return absoluteRange(newestMs - (toMs - fromMs), newestMs + 1_000);
}
