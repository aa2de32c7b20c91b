/**
 * Searches, visualisations and dashboards to begin with: of access logs and of what is shipped, by the names that the
 * default pipeline gives to fields. They are saved where they aren't there, and belong to people from then on.
 */

import { AppError } from "#proto/kit/errors.ts";
import type { SavedContent, SavedObjects } from "./saved-objects.ts";

/** What was there before, and what was saved. */
export interface SampleOutcome {
  readonly saved: readonly SampleName[];
  readonly existing: readonly SampleName[];
}

export interface SampleName {
  readonly type: string;
  readonly id: string;
  readonly title: string;
}

interface Sample extends SampleName, SavedContent {}

const STATUS = "http.response.status_code";
const ACCESS = `${STATUS}:*`;
const UNPARSED = "tags:(_grokparsefailure OR _jsonparsefailure OR _dateparsefailure)";
const FAILED = "log.level:(error OR fatal OR critical)";

/** Title and the parameters of the page's address. */
type Shown = readonly [title: string, parameters: Readonly<Record<string, string>>];

const SEARCHES: Readonly<Record<string, Shown>> = {
  "shipped-errors": ["Errors in shipped lines", { q: `${FAILED} OR message:error` }],
  "failed-requests": ["Failed requests", { q: `${STATUS}:>=500` }],
  "without-parsing": ["Lines that no parser understood", { q: UNPARSED }],
};

const VISUALISATIONS: Readonly<Record<string, Shown>> = {
  "access-requests": ["Requests", { q: ACCESS, chart: "number" }],
  "access-failures": ["Failed requests", { q: `${STATUS}:>=500`, chart: "number" }],
  "access-clients": ["Different clients", { q: ACCESS, chart: "number", metric: "unique:source.address" }],
  "access-bytes": ["Bytes sent", { q: ACCESS, chart: "number", metric: "sum:http.response.body.bytes" }],
  "access-by-status": ["Requests by status", { q: ACCESS, split: `8:${STATUS}` }],
  "access-statuses": ["Status codes", { q: ACCESS, chart: "pie", by: `terms:10:${STATUS}` }],
  "access-pages": ["Most requested addresses", { q: ACCESS, by: "terms:15:url.original" }],
  "access-failed-pages": [
    "Addresses that fail",
    { q: `${STATUS}:>=400`, by: "terms:15:url.original", split: `5:${STATUS}` },
  ],
  "access-sizes": [
    "Size of answers, 95th percentile",
    { q: ACCESS, chart: "line", metric: "p95:http.response.body.bytes", split: "5:http.request.method" },
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
};

/** Saves the samples that aren't there. What was deleted comes back; what was changed stays as it is. */
export async function loadSamples(objects: Pick<SavedObjects, "get" | "create">): Promise<SampleOutcome> {
  const saved: SampleName[] = [];
  const existing: SampleName[] = [];
  for (const { type, id, title, attributes } of samples())
    ((await isThere(objects, type, id, { title, attributes })) ? existing : saved).push({ type, id, title });
  return { saved, existing };
}

async function isThere(
  objects: Pick<SavedObjects, "get" | "create">,
  type: string,
  id: string,
  content: SavedContent,
): Promise<boolean> {
  try {
    await objects.get(type, id);
    return true;
  } catch (error) {
    if (!(error instanceof AppError && error.code === "not_found")) throw error;
  }
  return objects.create(type, content, id).then(() => false, existsMeanwhile);
}

/** Another hub was quicker. */
function existsMeanwhile(error: unknown): true {
  if (error instanceof AppError && error.code === "journal_conflict") return true;
  throw error;
}

/** All samples; a dashboard comes behind what it shows. */
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
    ...shown("visualisation", VISUALISATIONS),
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
