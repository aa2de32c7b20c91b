/**
 * A dashboard: saved visualisations, lines of saved searches and texts on a grid of twelve columns, with one time range, one query and one choice of
 * variables for all.
 */

import { DEFAULT_RANGE, type TimeRange } from "#ui/services/search/time-range.ts";
import { MAX_MARKDOWN } from "#ui/services/text/markdown.ts";

export const WIDTHS = [3, 4, 6, 8, 12] as const;
export type Width = (typeof WIDTHS)[number];
export const HEIGHTS = ["low", "middle", "high"] as const;
export type Height = (typeof HEIGHTS)[number];

/** A position on the grid; panels follow each other line by line. */
export interface Panel {
  /** Of the saved visualisation or search; of a text any that no other panel has. */
  readonly id: string;
  /** Undefined: a visualisation. */
  readonly kind?: "search" | "text";
  /** Of a text, in Markdown. */
  readonly text?: string;
  /** Columns of twelve. */
  readonly width: Width;
  readonly height: Height;
}

/** A field whose value is chosen for all panels. */
export interface Variable {
  /** Of keywords or numbers. */
  readonly field: string;
  /** "": any. */
  readonly value: string;
}

export interface Dashboard {
  readonly panels: readonly Panel[];
  readonly variables: readonly Variable[];
  readonly range: TimeRange;
  readonly refreshSeconds: number;
  readonly query: string;
}

export const EMPTY_DASHBOARD: Dashboard = {
  panels: [],
  variables: [],
  range: { from: "now-24h", to: DEFAULT_RANGE.to },
  refreshSeconds: 0,
  query: "",
};
/** More panels would send more searches at once than anyone can read. */
export const MAX_PANELS = 40;
export const MAX_VARIABLES = 8;

/** Returns the dashboard of saved attributes; what isn't right in them is left out. */
export function readDashboard(attributes: Readonly<Record<string, unknown>>): Dashboard {
  const range = attributes["range"] as Partial<TimeRange> | undefined;
  const panels = Array.isArray(attributes["panels"]) ? (attributes["panels"] as unknown[]) : [];
  const variables = Array.isArray(attributes["variables"]) ? (attributes["variables"] as unknown[]) : [];
  const refresh = Number(attributes["refreshSeconds"]);
  return {
    panels: panels.flatMap(readPanel).slice(0, MAX_PANELS),
    variables: variables.flatMap(readVariable).slice(0, MAX_VARIABLES),
    range:
      typeof range?.from === "string" && typeof range.to === "string"
        ? { from: range.from, to: range.to }
        : EMPTY_DASHBOARD.range,
    refreshSeconds: Number.isInteger(refresh) && refresh > 0 && refresh <= 3_600 ? refresh : 0,
    query: typeof attributes["query"] === "string" ? attributes["query"] : "",
  };
}

function readPanel(value: unknown): Panel[] {
  const { id, width, height, kind, text } = (value ?? {}) as Partial<Panel>;
  if (typeof id !== "string" || id === "") return [];
  return [
    {
      id,
      width: WIDTHS.find((one) => one === width) ?? 6,
      height: HEIGHTS.find((one) => one === height) ?? "middle",
      ...(kind === "search" && { kind }),
      ...(kind === "text" && { kind, text: typeof text === "string" ? text.slice(0, MAX_MARKDOWN) : "" }),
    },
  ];
}

function readVariable(value: unknown): Variable[] {
  const { field, value: chosen } = (value ?? {}) as Partial<Variable>;
  if (typeof field !== "string" || field === "") return [];
  return [{ field, value: typeof chosen === "string" ? chosen : "" }];
}

/** Returns the query that all panels' lines must match. */
export function dashboardFilter(query: string, variables: readonly Variable[]): string {
  const chosen = variables
    .filter(({ value }) => value !== "")
    .map(
      ({ field, value }) =>
        `${field.replaceAll(/[\s:()"\\]/g, "\\$&")}:"${value.replaceAll(/["\\]/g, "\\$&")}"`,
    );
  const text = query.trim();
  if (text === "" || text === "*") return chosen.join(" AND ");
  return chosen.length === 0 ? text : [`(${text})`, ...chosen].join(" AND ");
}
