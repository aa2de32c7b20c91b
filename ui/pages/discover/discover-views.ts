/** Parts of Discover: the counts, and the message if no line is found. */

import { msg, str } from "@lit/localize";
import { html, nothing, type TemplateResult } from "lit";
import { type IconName, icon } from "#ui/components/style/icons.ts";
import type { DiscoverState, ResultView } from "#ui/services/search/discover-state.ts";
import { luceneOfKql, type MissingField, missingField } from "#ui/services/search/query-check.ts";
import { absoluteRange, type TimeRange } from "#ui/services/search/time-range.ts";
import { formatAgo, formatCount } from "#ui/services/text/format.ts";
import type { DiscoverModel } from "./discover-model.ts";

/** Indices that are offered if the requested one has no documents. */
const NAMED_INDICES = 8;
/** Around the newest line of an empty range. */
const NEWEST_MARGIN_MS = 15 * 60_000;

/** Returns what to do where the range is empty; `go` changes what is searched for, `mayConnect`: the reader may add servers. */
export function emptyView(
  { fields, newestMs, indexNames }: DiscoverModel,
  { query, index }: Pick<DiscoverState, "query" | "index">,
  go: (change: Partial<DiscoverState>) => void,
  mayConnect: boolean,
): TemplateResult {
  if (fields?.size === 0 && newestMs === undefined)
    return indexNames.length === 0
      ? nothingStoredView(index, mayConnect)
      : otherIndicesView(index, indexNames, go);
  const missing = fields === undefined || fields.size === 0 ? undefined : missingField(query, fields);
  if (missing !== undefined && newestMs === undefined) return missingFieldView(missing, query, go);
  const advice =
    newestMs === undefined
      ? html`<p>${msg("Nothing matches at any time. Look at the query, the filters and the index, or at")}
          <a href="#/status">${msg("Health")}</a> ${msg("whether lines arrive at all.")}</p>`
      : html`<p>${msg(str`The newest line that matches is from ${formatAgo(newestMs, Date.now())}.`)}</p>
          <button class="primary" @click=${() => go({ range: rangeAround(newestMs) })}>${icon("end")}${msg("Jump to the newest data")}</button>`;
  const meant = fields === undefined ? undefined : luceneOfKql(query, fields);
  const otherwise = meant === undefined ? nothing : kqlView(meant, go);
  return html`<div class="empty"><h2>${msg("No lines in this time range")}</h2>${otherwise}${advice}</div>`;
}

/** The query is written in KQL, whose operators are words to search for here. */
function kqlView(meant: string, go: (change: Partial<DiscoverState>) => void): TemplateResult {
  return html`<p>${msg("Queries are written in Lucene syntax: AND, OR and NOT in capitals, field:>5 for numbers.")}</p>
    <button class="primary" @click=${() => go({ query: meant })}>${icon("search")}${msg(str`Did you mean ${meant}?`)}</button>`;
}

/** Nothing has arrived yet. Only administrators reach the page that connects servers. */
function nothingStoredView(index: string, mayConnect: boolean): TemplateResult {
  const health = html`<a href="#/status">${msg("Health")}</a>`;
  const advice = mayConnect
    ? html`<a href="#/enrolment">${msg("Connect servers")}</a>, ${msg("or look at")} ${health}.`
    : html`${msg("look at")} ${health}.`;
  return html`<div class="empty">${noLinesHeading(index)}<p>${msg("Nothing has arrived yet:")} ${advice}</p></div>`;
}

/** Nothing is stored under the name: it may be mistyped. */
function otherIndicesView(
  index: string,
  names: readonly string[],
  go: (change: Partial<DiscoverState>) => void,
): TemplateResult {
  return html`<div class="empty">${noLinesHeading(index)}<p>${msg("Indices of this hub:")}</p>
    <div class="choices">${names.slice(0, NAMED_INDICES).map((name) => html`<button class="small" @click=${() => go({ index: name })}>${name}</button>`)}</div></div>`;
}

function noLinesHeading(index: string): TemplateResult {
  return html`<h2>${msg(str`No lines are stored in ${index}`)}</h2>`;
}

function rangeAround(newestMs: number): TimeRange {
  return absoluteRange(newestMs - NEWEST_MARGIN_MS, newestMs + 1_000);
}

/** A mistyped field finds nothing, and the hub reports no error. */
function missingFieldView(
  { name, nearest, from }: MissingField,
  query: string,
  go: (change: Partial<DiscoverState>) => void,
): TemplateResult {
  const heading = html`<h2>${msg(str`No line has a field ${name}.`)}</h2>`;
  if (nearest === undefined)
    return html`<div class="empty">${heading}<p>${msg("Choose one of the fields at the left.")}</p></div>`;
  const meant = query.slice(0, from) + nearest + query.slice(from + name.length);
  return html`<div class="empty">${heading}
    <button class="primary" @click=${() => go({ query: meant })}>${icon("search")}${msg(str`Did you mean ${nearest}?`)}</button></div>`;
}

const VIEWS: readonly (readonly [ResultView, string])[] = [
  ["lines", msg("Lines")],
  ["patterns", msg("Patterns")],
];

export interface StatusOptions {
  readonly model: DiscoverModel;
  readonly hasFields: boolean;
  readonly isFinding: boolean;
  readonly isWrapped: boolean;
  /** Content at the right: saved searches, exports … */
  readonly tools: TemplateResult;
  readonly view: ResultView;
  readonly onView: (view: ResultView) => void;
  readonly onFields: () => void;
  readonly onFind: () => void;
  readonly onWrap: () => void;
  readonly onError: (step: 1 | -1) => void;
  readonly onAgain: () => void;
}

/** Returns the bar over the lines: what was found, and what can be done with it. */
export function statusView(options: StatusOptions): TemplateResult {
  const { model, hasFields, isFinding, isWrapped, tools } = options;
  const action = (name: IconName, text: string, act: () => void, pressed?: boolean): TemplateResult =>
    html`<button class="plain small icon" aria-label=${text} title=${text} aria-pressed=${pressed ?? nothing} @click=${act}>${icon(name)}</button>`;
  return html`<div class="status">
    <button class="plain small" aria-pressed=${hasFields} @click=${options.onFields} title=${msg("Fields (f)")}>${icon("list")}<span class="word">${msg("Fields")}</span></button>
    <span class="views" role="group" aria-label=${msg("Shown as")}>${VIEWS.map(
      ([view, text]) =>
        html`<button class="plain small" aria-pressed=${options.view === view} @click=${() => options.onView(view)}>${text}</button>`,
    )}</span>
    <span role="status">${summaryText(model)}</span>
    <tr-search-cost .cost=${model.cost}></tr-search-cost>
    <span class="space"></span>
    <span class="group" role="group" aria-label=${msg("Lines")}>
      ${action("find", msg("Find in the lines (s)"), options.onFind, isFinding)}
      ${action("previousError", msg("Previous error (E)"), () => options.onError(-1))}
      ${action("nextError", msg("Next error (e)"), () => options.onError(1))}
      ${action("wrap", msg("Wrap long lines (w)"), options.onWrap, isWrapped)}
    </span>
    ${tools}
    ${action("refresh", msg("Search again (r)"), options.onAgain)}
  </div>`;
}

/** Returns how many lines were found and how long it took. */
export function summaryText({ range, total, tookMs, rows, isLoading, progress }: DiscoverModel): string {
  if (progress !== undefined)
    return msg(str`${formatCount(total)} lines in ${progress.done} of ${progress.of} indices so far …`);
  if (range === undefined) return isLoading ? msg("Searching …") : "";
  const found =
    total === 1
      ? msg(str`1 line in ${formatCount(tookMs)} ms`)
      : msg(str`${formatCount(total)} lines in ${formatCount(tookMs)} ms`);
  if (rows.length === 0 || rows.length >= total) return found;
  return `${found}, ${msg(str`${formatCount(rows.length)} loaded`)}`;
}

/** Returns the text below the last row. */
export function footerText({ rows, hasMore, total }: DiscoverModel): string {
  if (hasMore) return msg("Scroll for older lines");
  return rows.length < total
    ? msg(str`${formatCount(rows.length)} lines are loaded; choose a shorter time range for the others`)
    : msg("No older lines in this time range");
}
