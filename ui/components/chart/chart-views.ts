/** The parts beside a plot: its legend, the numbers under the cursor, and the table of all numbers. */

import { msg, str } from "@lit/localize";
import { html, nothing, type TemplateResult } from "lit";
import { formatCount, formatShare, formatTime } from "#ui/services/text/format.ts";
import { formatValue, type Unit } from "#ui/services/visualise/chart-look.ts";
import type { ChartData, Group, Part, Series, TimeMark } from "#ui/services/visualise/series.ts";
import { seriesColours } from "#ui/services/visualise/series-colours.ts";
import { colourClass } from "./chart-plots.ts";
import { colouredShare, type Share } from "./chart-ring.ts";

/** Called with the selected part, and whether its lines are to be excluded. */
export type OnPick = (group: Group | undefined, series: Series | undefined, exclude: boolean) => void;

/** Lines of the readout: the largest ones. */
const READOUT_LINES = 10;

/** Returns all numbers; the name of a group chooses it. */
export function tableView(
  { groups, series, isTime }: ChartData,
  label: string,
  unit: Unit,
  onPick: OnPick,
): TemplateResult {
  const name = (group: Group): TemplateResult | string =>
    isTime || group.part === "others"
      ? group.label
      : pickButton(group.label, -1, group.label, (exclude) => onPick(group, undefined, exclude));
  return html`<div class="table" tabindex="0" role="region" aria-label=${label} @keydown=${movePick}><table>
    <thead><tr><th scope="col"></th>${series.map((one) => html`<th scope="col">${one.name}</th>`)}</tr></thead>
    <tbody>${groups.map(
      (group, at) =>
        html`<tr><th scope="row" title=${group.label}>${name(group)}</th>${series.map(({ values }) => html`<td>${cellText(values[at], unit)}</td>`)}</tr>`,
    )}</tbody></table></div>`;
}

interface LegendEntry {
  readonly name: string;
  readonly text: string;
  readonly part: Part;
  readonly pick: (exclude: boolean) => void;
}

/** Returns the names of the series with their sums, or of the slices with their shares; nothing for a single series. */
export function legendView(
  data: ChartData,
  shares: readonly Share[] | undefined,
  unit: Unit,
  onPick: OnPick,
): TemplateResult | typeof nothing {
  const { series, isAdditive } = data;
  if (shares === undefined && series.length < 2) return nothing;
  const entries: readonly LegendEntry[] =
    shares === undefined
      ? series.map((one) => ({
          name: one.name,
          text: isAdditive ? formatValue(sumOf(one), unit) : "",
          part: one.part,
          pick: (exclude) => onPick(undefined, one, exclude),
        }))
      : shares.map(({ group, label, part: share }) => ({
          name: label,
          text: formatShare(share),
          part: group.part,
          pick: (exclude) => onPick(group, undefined, exclude),
        }));
  const colours = seriesColours(entries);
  const content = ({ name, text }: LegendEntry, at: number): TemplateResult =>
    html`<i class="key ${colourClass(colours[at]!)}"></i><span>${name}</span>${text === "" ? nothing : html`<b>${text}</b>`}`;
  const first = entries.findIndex(({ part }) => part !== "others");
  return html`<ul class="legend" aria-label=${msg("Legend")} @keydown=${movePick}>${entries.map((one, at) =>
    one.part === "others"
      ? html`<li title=${one.name}>${content(one, at)}</li>`
      : html`<li>${pickButton(one.name, at === first ? 0 : -1, content(one, at), one.pick)}</li>`,
  )}</ul>`;
}

/** State of the cursor: number of the group or slice, the measure with its unit, and the side of the readout. */
export interface ReadoutPosition {
  readonly at: number;
  readonly label: string;
  readonly isLeft: boolean;
  readonly unit: Unit;
}

/** Returns the numbers of a group, the largest first, or of a slice. */
export function readoutView(
  data: ChartData,
  shares: readonly Share[] | undefined,
  { at, label, isLeft, unit }: ReadoutPosition,
): TemplateResult {
  const title = shares === undefined ? data.groups[at]?.label : shares[at]?.label;
  const colours = seriesColours(shares?.map(colouredShare) ?? data.series);
  const lines =
    shares === undefined
      ? data.series.map(({ name, values }, series) => ({ name, value: values[at], colour: colours[series]! }))
      : [{ name: label, value: shares[at]?.value, colour: colours[at] ?? 0 }];
  const found = lines.filter(({ value }) => value !== undefined && value !== 0);
  const shown = found.toSorted((a, b) => b.value! - a.value!).slice(0, READOUT_LINES);
  return html`<output class="readout ${isLeft ? "left" : ""}"><strong>${title}</strong>
    ${shown.map(({ name, value, colour }) => html`<div><i class="key ${colourClass(colour)}"></i><span>${name}</span><b>${cellText(value, unit)}</b></div>`)}
    ${shown.length === 0 ? msg("nothing") : nothing}${found.length > shown.length ? msg(str`and ${found.length - shown.length} more`) : nothing}</output>`;
}

function pickButton(
  name: string,
  tabIndex: number,
  content: TemplateResult | string,
  pick: (exclude: boolean) => void,
): TemplateResult {
  const title = msg(str`Filter for ${name}; with Alt: without it`);
  return html`<button class="plain pick" data-pick tabindex=${tabIndex} title=${title} @click=${(event: MouseEvent) => pick(event.altKey)}>${content}</button>`;
}

/** Arrow keys go from one entry to the next: a list is one stop of the Tab key. */
function movePick(event: KeyboardEvent): void {
  const step = /^Arrow(Right|Down)$/.test(event.key) ? 1 : /^Arrow(Left|Up)$/.test(event.key) ? -1 : 0;
  if (step === 0) return;
  const list = event.currentTarget as HTMLElement;
  const picks = [...list.querySelectorAll<HTMLElement>("[data-pick]")];
  const at = picks.indexOf(event.target as HTMLElement);
  const next = picks[at < 0 ? (step > 0 ? 0 : picks.length - 1) : at + step];
  if (next === undefined) return;
  event.preventDefault();
  next.focus();
}

function sumOf({ values }: Series): number {
  return values.reduce<number>((sum, value) => sum + (value ?? 0), 0);
}

function cellText(value: number | undefined, unit: Unit): string {
  return value === undefined ? "–" : formatValue(value, unit);
}

/** Returns the lines that are marked in time, folded. */
export function marksView(marks: readonly TimeMark[], isUtc: boolean): TemplateResult {
  const text =
    marks.length === 1 ? msg("1 marked line") : msg(str`${formatCount(marks.length)} marked lines`);
  return html`<details class="marks"><summary>${text}</summary>
    <ol>${marks.map((mark) => html`<li>${formatTime(mark.atMs, isUtc).slice(0, 19)} ${mark.text}</li>`)}</ol></details>`;
}
