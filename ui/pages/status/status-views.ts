/** Parts of the status page: the hub's facts, its streams, pipelines and agents. */

import { msg, str } from "@lit/localize";
import { html, nothing, type TemplateResult } from "lit";
import { icon } from "#ui/components/style/icons.ts";
import { healthLook, healthText } from "#ui/services/administration/fleet.ts";
import {
  indicesText,
  type SlowQueries,
  type SlowQuery,
  slowReasons,
} from "#ui/services/administration/slow-queries.ts";
import type { Facts } from "#ui/services/hub/json-call.ts";
import { valueText } from "#ui/services/search/log-document.ts";
import {
  formatAgo,
  formatBytes,
  formatCount,
  formatDuration,
  formatMoment,
  formatShare,
} from "#ui/services/text/format.ts";

type Cell = (facts: Facts) => string | TemplateResult;
type Columns = readonly (readonly [title: string, cell: Cell, look?: "number"])[];

/** Streams by their names in the hub's answer. */
const STREAMS: Readonly<Record<string, readonly [title: string, meaning: string]>> = {
  raw: [msg("Raw"), msg("from agents, kept until committed")],
  doc: [msg("Documents"), msg("processed, kept until committed")],
  dead_letters: [msg("Dead letters"), msg("events that no output accepts")],
};
/** What the log survives, by the hub's name for it. */
const DURABILITY: Readonly<Record<string, string>> = {
  "power-loss": msg("survives crashes and power loss"),
  process: msg("survives crashes, not power loss"),
};
/** From this level on a stream will soon make its senders wait. */
const FILL_WARNING = 0.7;
const FILL_FAILED = 0.9;
/** Shown elsewhere on the page. */
const PLACED = new Set([
  "status",
  "health",
  "version",
  "node",
  "cluster",
  "started",
  "uptime_seconds",
  "durability",
  "durability_meaning",
  "streams",
  "pipelines",
  "indices",
  "indexed_docs",
  "index_bytes",
  "agents",
]);

const AGENT_COLUMNS: Columns = [
  [msg("Name"), (agent) => html`<span class="name">${valueText(agent["name"] ?? agent["id"])}</span>`],
  [msg("Health"), healthCell],
  [msg("Last seen"), (agent) => formatAgo(Date.parse(valueText(agent["last_seen"])) || 0, Date.now())],
  [msg("Behind"), (agent) => factText("bytes", agent["lag_bytes"]), "number"],
  [msg("Lines read"), (agent) => factText("count", agent["lines_read"]), "number"],
  [msg("Bytes read"), (agent) => factText("bytes", agent["bytes_read"]), "number"],
  [msg("Files"), (agent) => factText("count", agent["open_files"]), "number"],
  [msg("Memory"), (agent) => factText("bytes", agent["rss_bytes"]), "number"],
  [msg("Version"), (agent) => valueText(agent["version"])],
  [msg("Host"), (agent) => valueText(agent["host"])],
];

/** Returns what is asked for first. */
export function factsView(status: Facts): TemplateResult {
  const state = valueText(status["status"]) || "unknown";
  const facts: readonly (readonly [string, string | TemplateResult])[] = [
    [
      msg("Hub"),
      html`<span class="badge ${state === "ok" ? "ok" : state === "failing" ? "failed" : "warning"}">${WORDS[state] ?? state}</span>`,
    ],
    [msg("Uptime"), factText("uptime_seconds", status["uptime_seconds"])],
    [msg("Documents"), factText("count", status["indexed_docs"])],
    [msg("Size of indices"), factText("bytes", status["index_bytes"])],
    [msg("Indices"), html`<a href="#/indices">${factText("count", status["indices"])}</a>`],
    [msg("Agents"), factText("count", status["agents"])],
  ];
  return html`<dl class="facts">${facts.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>${healthView(status["health"])}`;
}

/** Returns what is wrong with parts of the hub; nothing while all are well. */
function healthView(parts: unknown): TemplateResult[] {
  return (Array.isArray(parts) ? parts : [])
    .filter(isFacts)
    .filter(({ level }) => level !== "ok")
    .map(({ part, reason }) => html`<p>${valueText(part)}: ${valueText(reason)}</p>`);
}

/** Returns the hub's identity, the safety of its data, and its other facts. */
export function identityView(status: Facts): TemplateResult {
  const others = Object.entries(status)
    .filter(([name]) => !PLACED.has(name))
    .flatMap(([name, value]): (readonly [string, unknown])[] =>
      isFacts(value)
        ? Object.entries(value).map(([key, inner]) => [`${name} ${key}`, inner])
        : [[name, value]],
    );
  const durability = valueText(status["durability"]);
  return html`<div class="facets">
    <section class="card"><h3>${msg("Identity")}</h3><dl>
      <dt>${msg("Node")}</dt><dd>${valueText(status["node"])}</dd><dt>${msg("Cluster")}</dt><dd>${valueText(status["cluster"])}</dd>
      <dt>${msg("Version")}</dt><dd>${valueText(status["version"])}</dd>
      <dt>${msg("Started")}</dt><dd>${factText("started", Date.parse(valueText(status["started"])))}</dd></dl></section>
    ${
      durability === ""
        ? nothing
        : html`<section class="card"><h3>${msg("Durability")}</h3><p><span class="badge ${durability === "power-loss" ? "ok" : "warning"}">${DURABILITY[durability] ?? durability}</span></p>
          <p class="muted">${DURABILITY_MEANINGS[durability] ?? sentence(valueText(status["durability_meaning"]))}</p></section>`
    }
    ${others.length === 0 ? nothing : html`<section class="card"><h3>${msg("More")}</h3><dl>${others.map(([name, value]) => html`<dt>${words(name)}</dt><dd>${factText(name, value)}</dd>`)}</dl></section>`}
  </div>`;
}

/** Returns the streams with their fill levels; nothing if the hub lists none. */
export function streamsView(streams: unknown): TemplateResult | typeof nothing {
  if (!isFacts(streams)) return nothing;
  const rows = Object.entries(streams).map(([name, stream]) =>
    streamRow(name, isFacts(stream) ? stream : {}),
  );
  return html`<h2>${msg("Streams")}</h2><div class="table cards" tabindex="0" role="region" aria-label=${msg("Streams")}><table role="table">
    <thead role="rowgroup"><tr role="row"><th scope="col" role="columnheader">${msg("Stream")}</th><th scope="col" role="columnheader" class="number">${msg("Messages")}</th><th scope="col" role="columnheader" class="number" title=${msg("Messages that the slowest reader hasn't read yet")}>${msg("Behind")}</th><th scope="col" role="columnheader" class="number">${msg("Size")}</th><th scope="col" role="columnheader">${msg("Filled")}</th></tr></thead>
    <tbody role="rowgroup">${rows}</tbody>
  </table></div>`;
}

function streamRow(name: string, stream: Facts): TemplateResult {
  const [title, meaning] = STREAMS[name] ?? [words(name), ""];
  const label = html`<td role="cell"><b>${title}</b> <span class="muted">${meaning}</span></td>`;
  const fault = valueText(stream["error"]);
  if (fault !== "")
    return html`<tr role="row">${label}<td role="cell" colspan="4"><span class="badge failed">${fault}</span></td></tr>`;
  const fill = Number(stream["fill"] ?? 0) || 0;
  const state = fill >= FILL_FAILED ? "failed" : fill >= FILL_WARNING ? "warning" : "";
  return html`<tr role="row">${label}
    <td role="cell" class="number" data-label=${msg("Messages")}>${factText("count", stream["messages"])}</td>
    <td role="cell" class="number" data-label=${msg("Behind")}>${name === "dead_letters" ? "–" : factText("count", stream["behind"])}</td>
    <td role="cell" class="number" data-label=${msg("Size")}>${msg(str`${factText("bytes", stream["bytes"])} of ${factText("bytes", stream["max_bytes"])}`)}</td>
    <td role="cell" data-label=${msg("Filled")}><span class="fill ${state}"><i data-share=${Math.min(100, fill * 100)}></i></span>${formatShare(fill)}${state === "" ? nothing : html` <b>${msg("nearly full")}</b>`}</td></tr>`;
}

/** Returns the pipelines; a fact of one that isn't its name is shown beside it. */
export function pipelinesView(pipelines: unknown): TemplateResult | typeof nothing {
  if (!Array.isArray(pipelines)) return nothing;
  const list = pipelines.filter(isFacts);
  const names = [...new Set(list.flatMap((pipeline) => Object.keys(pipeline)))].filter(
    (name) => name !== "id",
  );
  const lookOf = (name: string): string =>
    list.some((pipeline) => typeof pipeline[name] === "number") ? "number" : "";
  return html`<h2>${msg("Pipelines")}</h2>${
    list.length === 0
      ? html`<p class="muted">${msg("None is running.")}</p>`
      : html`<div class="table" tabindex="0" role="region" aria-label=${msg("Pipelines")}><table>
        <thead><tr><th scope="col">${msg("Pipeline")}</th>${names.map((name) => html`<th scope="col" class=${lookOf(name)}>${words(name)}</th>`)}</tr></thead>
        <tbody>${list.map((pipeline) => html`<tr><td class="name">${valueText(pipeline["id"])}</td>${names.map((name) => html`<td class=${lookOf(name)}>${factText(name, pipeline[name])}</td>`)}</tr>`)}</tbody>
      </table></div>`
  }`;
}

/** Returns the agents; undefined ones aren't known yet. */
export function agentsView(agents: readonly Facts[] | undefined, isFailed: boolean): TemplateResult {
  if (agents === undefined) return html`<p class="muted">${isFailed ? msg("Unknown") : msg("Asking …")}</p>`;
  if (agents.length === 0)
    return html`<div class="notice"><p><strong>${msg("No agent has reported yet.")}</strong>
      ${msg("Start one on a server whose logs should come here:")} <span class="mono">tailrace-agent run -c agent.yml</span></p></div>`;
  const cells = (agent: Facts): TemplateResult[] =>
    AGENT_COLUMNS.map(
      ([title, cell, look = ""], at) =>
        html`<td role="cell" class=${look} data-label=${at === 0 ? nothing : title}>${cell(agent)}</td>`,
    );
  return html`<div class="table cards wide" tabindex="0" role="region" aria-label=${msg("Agents")}><table role="table">
    <thead role="rowgroup"><tr role="row">${AGENT_COLUMNS.map(([title, , look = ""]) => html`<th scope="col" role="columnheader" class=${look}>${title}</th>`)}</tr></thead>
    <tbody role="rowgroup">${agents.map((agent) => html`<tr role="row">${cells(agent)}</tr>`)}</tbody>
  </table></div>`;
}

function healthCell(agent: Facts): TemplateResult {
  const health = valueText(agent["health"]);
  const reason = valueText(agent["reason"]);
  return html`<span class="badge ${healthLook(health)}">${healthText(health)}</span>${reason === "" ? nothing : html` <span class="muted">${reason}</span>`}`;
}

function isFacts(value: unknown): value is Facts {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Known words of the hub's answer; others are shown unchanged. */
const WORDS: Readonly<Record<string, string>> = {
  origin: msg("Origin"),
  running: msg("Running"),
  compat_version: msg("Version reported to clients"),
  "built-in": msg("built-in"),
  files: msg("files"),
  page: msg("page"),
  ok: msg("ok"),
  starting: msg("starting"),
  degraded: msg("degraded"),
  failing: msg("failing"),
};

/** Descriptions of the two kinds of durability. */
const DURABILITY_MEANINGS: Readonly<Record<string, string>> = {
  "power-loss": msg("What is acknowledged survives the loss of power."),
  process: msg(
    "What is acknowledged survives the end of any process; the last seconds may be lost with the power.",
  ),
};

/** `last_seen`, `lastSeen` and `last.seen` become `Last seen`. */
function words(name: string): string {
  const known = WORDS[name];
  if (known !== undefined) return known;
  return sentence(
    name
      .replaceAll(/([a-z])([A-Z])/g, "$1 $2")
      .replaceAll(/[_.]+/g, " ")
      .replace(/ (bytes|ms|seconds)$/i, "")
      .toLowerCase(),
  );
}

function sentence(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function factText(name: string, value: unknown): string {
  if (value === undefined || value === null || value === "") return "–";
  if (typeof value === "boolean") return value ? msg("yes") : msg("no");
  if (typeof value === "string") return WORDS[value] ?? value;
  if (typeof value !== "number") return valueText(value);
  if (Number.isNaN(value)) return "–";
  if (/bytes$/i.test(name)) return formatBytes(value);
  if (/_?seconds$/i.test(name)) return formatDuration(value * 1_000);
  if (value > 1e12 && value < 1e13) return formatMoment(value);
  if (/ms$/i.test(name)) return `${formatCount(value)} ms`;
  return formatCount(value);
}

/** Maximum of rows; the hub keeps somewhat more. */
const MAX_ROWS = 50;

/** Returns the section of slow searches; nothing before they are known. */
export function slowQueriesView(slow: SlowQueries | undefined): TemplateResult | typeof nothing {
  if (slow === undefined) return nothing;
  return html`<h2>${msg("Slow searches")}</h2>${bodyView(slow)}`;
}

function bodyView({ thresholdMs, queries }: SlowQueries): TemplateResult {
  if (thresholdMs === undefined)
    return html`<p class="muted">${msg("This hub records none: set search.slowlog.threshold to a number of milliseconds.")}</p>`;
  if (queries.length === 0)
    return html`<p class="muted">${msg(str`None took ${formatCount(thresholdMs)} ms or more since the hub was started.`)}</p>`;
  return html`<div class="table cards wide" tabindex="0" role="region" aria-label=${msg("Slow searches")}><table role="table">
    <thead role="rowgroup"><tr role="row"><th scope="col" role="columnheader">${msg("When")}</th><th scope="col" role="columnheader" class="number">${msg("Took")}</th><th scope="col" role="columnheader">${msg("Indices")}</th>
      <th scope="col" role="columnheader" class="number">${msg("Hits")}</th><th scope="col" role="columnheader">${msg("Cause")}</th><th scope="col" role="columnheader">${msg("Search")}</th></tr></thead>
    <tbody role="rowgroup">${queries.slice(0, MAX_ROWS).map(rowView)}</tbody></table></div>`;
}

function rowView(query: SlowQuery): TemplateResult {
  const reasons = slowReasons(query);
  const path = query.indices.length === 0 ? "/_search" : `/${query.indices.join(",")}/_search`;
  const isWhole = !query.body.endsWith("…");
  const request = new URLSearchParams({ request: `GET ${path}\n${query.body}` });
  return html`<tr role="row">
    <td role="cell" title=${formatMoment(query.atMs)}>${formatAgo(query.atMs, Date.now())}</td>
    <td role="cell" class="number" data-label=${msg("Took")}>${formatCount(query.tookMs)} ms${query.isTimedOut ? html` <span class="badge warning">${msg("timed out")}</span>` : nothing}</td>
    <td role="cell" class="indices" data-label=${msg("Indices")} title=${query.indices.join(", ")}>${indicesText(query.indices)}</td>
    <td role="cell" class="number" data-label=${msg("Hits")}>${query.total === undefined ? "–" : formatCount(query.total)}</td>
    <td role="cell" class="why" data-label=${msg("Cause")}>${reasons.length === 0 ? html`<span class="muted">${msg("Nothing in the search itself is slow: much data, or a busy hub.")}</span>` : reasons.map((reason) => html`<p>${reason}</p>`)}</td>
    <td role="cell" class="search" data-label=${msg("Search")}><details><summary>${msg("Request")}</summary><pre>${query.body}</pre></details>
      ${isWhole ? html`<a class="button small" href="#/console?${request}">${icon("terminal")}${msg("Console")}</a>` : nothing}</td>
  </tr>`;
}
