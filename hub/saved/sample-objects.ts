/**
 * Sample searches, visualisations and dashboards for access logs and shipped logs, based on the field names of the
 * default pipeline. They are saved if missing; afterwards they are users' objects like any other.
 */

import { AppError } from "#proto/kit/errors.ts";
import type { JsonObject } from "#proto/kit/json.ts";

/** Which samples were saved, and which existed before. */
export interface SampleOutcome {
  readonly saved: readonly SampleName[];
  readonly existing: readonly SampleName[];
}

export interface SampleName {
  readonly type: string;
  readonly id: string;
  readonly title: string;
}

/** Where samples are saved. */
export interface SampleStore {
  get(type: string, id: string): Promise<unknown>;
  create(type: string, content: SampleContent, id: string): Promise<unknown>;
}

interface SampleContent {
  readonly title: string;
  readonly attributes: JsonObject;
}

interface Sample extends SampleName, SampleContent {}

const STATUS = "http.response.status_code";
const ACCESS = `${STATUS}:*`;
const UNPARSED = "tags:(_grokparsefailure OR _jsonparsefailure OR _dateparsefailure)";
const FAILED = "log.level:(error OR fatal OR critical)";

/** Title and the parameters of the page's address. */
type Shown = readonly [title: string, parameters: Readonly<Record<string, string>>];

const SEARCHES: Readonly<Record<string, Shown>> = {
  "shipped-errors": ["Errors in shipped lines", { q: `${FAILED} OR message:error` }],
  "failed-requests": ["Server errors", { q: `${STATUS}:>=500` }],
  "without-parsing": ["Lines that no parser understood", { q: UNPARSED }],
};

const VISUALISATIONS: Readonly<Record<string, Shown>> = {
  "access-requests": ["Requests", { q: ACCESS, chart: "number" }],
  "access-failures": ["Server errors", { q: `${STATUS}:>=500`, chart: "number" }],
  "access-clients": ["Different clients", { q: ACCESS, chart: "number", metric: "unique:source.address" }],
  "access-bytes": [
    "Bytes sent",
    { q: ACCESS, chart: "number", metric: "sum:http.response.body.bytes", unit: "bytes" },
  ],
  "access-by-status": ["Requests by status", { q: ACCESS, split: `8:${STATUS}` }],
  "access-statuses": ["Status codes", { q: ACCESS, chart: "pie", by: `terms:10:${STATUS}` }],
  "access-pages": ["Most requested addresses", { q: ACCESS, by: "terms:15:url.original" }],
  "access-failed-pages": [
    "Addresses that fail",
    { q: `${STATUS}:>=400`, by: "terms:15:url.original", split: `5:${STATUS}` },
  ],
  "access-sizes": [
    "Size of answers, 95th percentile",
    {
      q: ACCESS,
      chart: "line",
      metric: "p95:http.response.body.bytes",
      unit: "bytes",
      split: "5:http.request.method",
    },
  ],
  "access-addresses": [
    "Busiest clients",
    { q: ACCESS, chart: "table", by: "terms:15:source.address", split: `5:${STATUS}` },
  ],
  "shipped-lines": ["Lines", { chart: "number" }],
  "shipped-agents": ["Agents that sent lines", { chart: "number", metric: "unique:shipper.id" }],
  "shipped-unparsed": ["Lines without parsing", { q: UNPARSED, chart: "number" }],
  "shipped-failed": ["Error lines", { q: FAILED, chart: "number" }],
  "shipped-by-agent": ["Lines by agent", { chart: "area", split: "10:shipper.name" }],
  "shipped-by-input": ["Inputs", { chart: "pie", by: "terms:10:input.type" }],
  "shipped-files": ["Busiest files", { by: "terms:15:log.file.path", split: "5:host.name" }],
  "shipped-levels": ["Levels over time", { chart: "heat", split: "8:log.level" }],
  "shipped-errors-by-host": ["Errors by host", { q: FAILED, chart: "line", split: "8:host.name" }],
};

/** Visualisations of the hub's own metrics, which are recorded while the dashboard exists. */
const OWN: Readonly<Record<string, Shown>> = Object.fromEntries(
  Object.entries<Shown>({
    "hub-events": [
      "Events taken in",
      { chart: "area", metric: "sum:hub.events", split: "5:node.name.keyword" },
    ],
    "hub-events-sum": ["Events taken in", { chart: "number", metric: "sum:hub.events" }],
    "hub-waiting-now": ["Messages waiting at most", { chart: "number", metric: "max:hub.documents_waiting" }],
    "hub-errors-sum": ["Errors and retries", { chart: "number", metric: "sum:hub.errors" }],
    "hub-behind-now": [
      "Bytes agents were behind at most",
      { chart: "number", metric: "max:hub.agents_behind_bytes", unit: "bytes" },
    ],
    "hub-raw-waiting": [
      "Messages that wait for the pipelines",
      { chart: "line", metric: "max:hub.raw_waiting", split: "5:node.name.keyword" },
    ],
    "hub-documents-waiting": [
      "Messages that wait for the index",
      { chart: "line", metric: "max:hub.documents_waiting", split: "5:node.name.keyword" },
    ],
    "hub-memory": [
      "Memory of the hub",
      { chart: "line", metric: "max:hub.memory_bytes", unit: "bytes", split: "5:node.name.keyword" },
    ],
    "hub-heap": [
      "Heap of the hub",
      { chart: "line", metric: "max:hub.heap_bytes", unit: "bytes", split: "5:node.name.keyword" },
    ],
    "hub-cpu": [
      "Processor time, ms",
      { chart: "area", metric: "sum:hub.cpu_ms", split: "5:node.name.keyword" },
    ],
    "hub-loop": [
      "Delay of the event loop, ms",
      { chart: "line", metric: "max:hub.loop_delay_ms", split: "5:node.name.keyword" },
    ],
    "hub-log-bytes": [
      "Bytes in the log of documents",
      { chart: "line", metric: "max:hub.documents_bytes", unit: "bytes", split: "5:node.name.keyword" },
    ],
    "hub-requests": ["Requests", { chart: "bar", metric: "sum:hub.requests", split: "5:node.name.keyword" }],
    "hub-errors": [
      "Errors and retries",
      { chart: "bar", metric: "sum:hub.errors", split: "5:node.name.keyword" },
    ],
    "hub-agents": [
      "Agents in trouble",
      { chart: "line", metric: "max:hub.agents_in_trouble", split: "5:node.name.keyword" },
    ],
    "hub-viewers": [
      "Live viewers",
      { chart: "line", metric: "max:hub.live_viewers", split: "5:node.name.keyword" },
    ],
  }).map(([id, [title, parameters]]) => [id, [title, { index: ".tailrace-metrics-*", ...parameters }]]),
);

/** Id of the dashboard of the hub's own metrics. */
export const HUB_HEALTH = "hub-health";

type Place = readonly [id: string, width: number, height: "low" | "middle" | "high"];

interface SampleDashboard {
  readonly title: string;
  readonly variables: readonly string[];
  readonly panels: readonly Place[];
}

const DASHBOARDS: Readonly<Record<string, SampleDashboard>> = {
  "access-logs": {
    title: "Access logs",
    variables: ["host.name", "http.request.method"],
    panels: [
      ["access-requests", 3, "low"],
      ["access-failures", 3, "low"],
      ["access-clients", 3, "low"],
      ["access-bytes", 3, "low"],
      ["access-by-status", 8, "middle"],
      ["access-statuses", 4, "middle"],
      ["access-pages", 6, "high"],
      ["access-failed-pages", 6, "high"],
      ["access-sizes", 6, "middle"],
      ["access-addresses", 6, "middle"],
    ],
  },
  "shipping-health": {
    title: "Health of shipping",
    variables: ["host.name", "shipper.name"],
    panels: [
      ["shipped-lines", 3, "low"],
      ["shipped-agents", 3, "low"],
      ["shipped-unparsed", 3, "low"],
      ["shipped-failed", 3, "low"],
      ["shipped-by-agent", 8, "middle"],
      ["shipped-by-input", 4, "middle"],
      ["shipped-levels", 6, "middle"],
      ["shipped-errors-by-host", 6, "middle"],
      ["shipped-files", 12, "middle"],
    ],
  },
  [HUB_HEALTH]: {
    title: "Health of the hub",
    variables: ["node.name.keyword"],
    panels: [
      ["hub-events-sum", 3, "low"],
      ["hub-waiting-now", 3, "low"],
      ["hub-errors-sum", 3, "low"],
      ["hub-behind-now", 3, "low"],
      ["hub-events", 12, "middle"],
      ["hub-raw-waiting", 6, "middle"],
      ["hub-documents-waiting", 6, "middle"],
      ["hub-memory", 6, "middle"],
      ["hub-heap", 6, "middle"],
      ["hub-cpu", 6, "middle"],
      ["hub-loop", 6, "middle"],
      ["hub-log-bytes", 6, "middle"],
      ["hub-requests", 6, "middle"],
      ["hub-errors", 6, "middle"],
      ["hub-agents", 6, "middle"],
      ["hub-viewers", 12, "middle"],
    ],
  },
};

/** Saves the samples that don't exist. Deleted ones are restored; changed ones are kept. */
export async function loadSamples(objects: SampleStore): Promise<SampleOutcome> {
  const saved: SampleName[] = [];
  const existing: SampleName[] = [];
  for (const { type, id, title, attributes } of samples())
    ((await isThere(objects, type, id, { title, attributes })) ? existing : saved).push({ type, id, title });
  return { saved, existing };
}

async function isThere(
  objects: SampleStore,
  type: string,
  id: string,
  content: SampleContent,
): Promise<boolean> {
  try {
    await objects.get(type, id);
    return true;
  } catch (error) {
    if (!(error instanceof AppError && error.code === "not_found")) throw error;
  }
  return objects.create(type, content, id).then(() => false, existsMeanwhile);
}

/** Handles a conflict: another hub was quicker. */
function existsMeanwhile(error: unknown): true {
  if (error instanceof AppError && error.code === "journal_conflict") return true;
  throw error;
}

/** Returns all samples; a dashboard comes after what it shows. */
function samples(): Sample[] {
  const shown = (type: string, rows: Readonly<Record<string, Shown>>): Sample[] =>
    Object.entries(rows).map(([id, [title, parameters]]) => ({
      type,
      id,
      title,
      attributes: { parameters: new URLSearchParams(parameters).toString() },
    }));
  return [
    ...shown("search", SEARCHES),
    ...shown("visualisation", { ...VISUALISATIONS, ...OWN }),
    ...Object.entries(DASHBOARDS).map(([id, { title, variables, panels }]) => ({
      type: "dashboard",
      id,
      title,
      attributes: {
        panels: panels.map(([panel, width, height]) => ({ id: panel, width, height })),
        variables: variables.map((field) => ({ field, value: "" })),
        range: { from: "now-24h", to: "now" },
        refreshSeconds: 0,
        query: "",
      },
    })),
  ];
}
