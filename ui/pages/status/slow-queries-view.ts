/** Searches that took long: when, how long, where, what likely cost the time, and the way to try them again. */

import { msg, str } from "@lit/localize";
import { html, nothing, type TemplateResult } from "lit";
import { icon } from "#ui/components/style/icons.ts";
import { type SlowQueries, type SlowQuery, slowReasons } from "#ui/services/administration/slow-queries.ts";
import { formatAgo, formatCount, formatMoment } from "#ui/services/text/format.ts";

/** Rows shown; the hub keeps somewhat more. */
const MAX_ROWS = 50;

/** Returns the section of slow searches; nothing before they are known. */
export function slowQueriesView(slow: SlowQueries | undefined): TemplateResult | typeof nothing {
  if (slow === undefined) return nothing;
  return html`<h2>${msg("Slow searches")}</h2>${bodyView(slow)}`;
}

function bodyView({ thresholdMs, queries }: SlowQueries): TemplateResult {
  if (thresholdMs === undefined)
    return html`<p class="muted">${msg("This hub keeps none: give search.slowlog.threshold a number of milliseconds.")}</p>`;
  if (queries.length === 0)
    return html`<p class="muted">${msg(str`None took ${formatCount(thresholdMs)} ms or more since the hub was started.`)}</p>`;
  return html`<div class="table" tabindex="0" role="region" aria-label=${msg("Slow searches")}><table>
    <thead><tr><th scope="col">${msg("When")}</th><th scope="col" class="number">${msg("Took")}</th><th scope="col">${msg("Indices")}</th>
      <th scope="col" class="number">${msg("Hits")}</th><th scope="col">${msg("Why slow")}</th><th scope="col">${msg("Search")}</th></tr></thead>
    <tbody>${queries.slice(0, MAX_ROWS).map(rowView)}</tbody></table></div>`;
}

function rowView(query: SlowQuery): TemplateResult {
  const reasons = slowReasons(query);
  const path = query.indices.length === 0 ? "/_search" : `/${query.indices.join(",")}/_search`;
  const isWhole = !query.body.endsWith("…");
  const request = new URLSearchParams({ request: `GET ${path}\n${query.body}` });
  return html`<tr>
    <td title=${formatMoment(query.atMs)}>${formatAgo(query.atMs, Date.now())}</td>
    <td class="number">${formatCount(query.tookMs)} ms${query.isTimedOut ? html` <span class="badge warning">${msg("timed out")}</span>` : nothing}</td>
    <td>${query.indices.join(", ") || "–"}</td>
    <td class="number">${query.total === undefined ? "–" : formatCount(query.total)}</td>
    <td class="why">${reasons.length === 0 ? html`<span class="muted">${msg("Nothing in it is known to be slow: much data, or a busy hub.")}</span>` : reasons.map((reason) => html`<p>${reason}</p>`)}</td>
    <td class="search"><details><summary>${msg("Request")}</summary><pre>${query.body}</pre></details>
      ${isWhole ? html`<a class="button small" href="#/console?${request}">${icon("terminal")}${msg("Console")}</a>` : nothing}</td>
  </tr>`;
}
