/**
 * A dashboard: saved visualisations, lines of saved searches and texts on a grid of twelve columns, with one time range, one query and one choice of
 * variables for all.
 */

import { msg, str } from "@lit/localize";
import { parametersOf, type SavedObject } from "#ui/services/hub/saved-client.ts";
import { DEFAULT_RANGE, type TimeRange } from "#ui/services/search/time-range.ts";
import { MAX_MARKDOWN } from "#ui/services/text/markdown.ts";

export const WIDTHS = [3, 4, 6, 8, 12] as const;
export type Width = (typeof WIDTHS)[number];
export const HEIGHTS = ["low", "middle", "high"] as const;
export type Height = (typeof HEIGHTS)[number];

/** A place on the grid; panels follow each other line by line. */
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

/** A dashboard with the visualisations it shows, as a file. */
export interface DashboardFile {
  readonly kind: "tailrace-dashboard";
  readonly version: 1;
  readonly title: string;
  readonly dashboard: Dashboard;
  readonly visualisations: readonly SavedPart[];
  /** Those whose lines are shown. */
  readonly searches?: readonly SavedPart[];
}

/** A saved object in a file. */
export interface SavedPart {
  readonly id: string;
  readonly title: string;
  readonly parameters: string;
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
/** Heights in px, as the style sheet has them. */
const HEIGHTS_PX: Readonly<Record<Height, number>> = { low: 170, middle: 300, high: 440 };
const COLUMNS = 12;

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

/** Returns the variables with the values an address chooses, each as `FIELD=VALUE`. */
export function chooseVariables(
  variables: readonly Variable[],
  chosen: readonly string[],
): readonly Variable[] {
  const values = new Map(chosen.map((text) => [text.slice(0, text.indexOf("=")), text]));
  return variables.map((variable) => {
    const text = values.get(variable.field);
    return text === undefined ? variable : { ...variable, value: text.slice(variable.field.length + 1) };
  });
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

/** Returns the panels with one moved by a place; at the ends it stays. */
export function movePanel(panels: readonly Panel[], at: number, step: 1 | -1): readonly Panel[] {
  return placePanel(panels, at, at + step);
}

/** Returns the panels with one put at another's place, those between moved up; beyond the ends it stays. */
export function placePanel(panels: readonly Panel[], from: number, to: number): readonly Panel[] {
  const panel = panels[from];
  if (panel === undefined || to < 0 || to >= panels.length) return panels;
  return panels.toSpliced(from, 1).toSpliced(to, 0, panel);
}

/** Returns the panels with one as near to a size in px as there is one; `gridPx` is the width of all columns. */
export function resizePanel(
  panels: readonly Panel[],
  at: number,
  {
    widthPx,
    heightPx,
    gridPx,
  }: { readonly widthPx: number; readonly heightPx: number; readonly gridPx: number },
): readonly Panel[] {
  const width = nearest(WIDTHS, (one) => Math.abs((one * gridPx) / COLUMNS - widthPx));
  const height = nearest(HEIGHTS, (one) => Math.abs(HEIGHTS_PX[one] - heightPx));
  const { width: before, height: heightBefore } = panels[at]!;
  if (width === before && height === heightBefore) return panels;
  return panels.map((panel, index) => (index === at ? { ...panel, width, height } : panel));
}

function nearest<T>(values: readonly T[], away: (value: T) => number): T {
  return values.toSorted((a, b) => away(a) - away(b))[0]!;
}

/** Returns the panels with one wider (1) or narrower (-1). */
export function widenPanel(panels: readonly Panel[], at: number, step: 1 | -1): readonly Panel[] {
  return panels.map((panel, index) =>
    index === at ? { ...panel, width: neighbour(WIDTHS, panel.width, step) } : panel,
  );
}

/** Returns the panels with one higher (1) or lower (-1). */
export function heightenPanel(panels: readonly Panel[], at: number, step: 1 | -1): readonly Panel[] {
  return panels.map((panel, index) =>
    index === at ? { ...panel, height: neighbour(HEIGHTS, panel.height, step) } : panel,
  );
}

function neighbour<T>(values: readonly T[], value: T, step: 1 | -1): T {
  return values[values.indexOf(value) + step] ?? value;
}

/** Returns a dashboard as a file's text. */
export function exportDashboard(
  title: string,
  dashboard: Dashboard,
  visualisations: readonly SavedObject[],
  searches: readonly SavedObject[] = [],
): string {
  const shown = new Set(dashboard.panels.map(({ id }) => id));
  const partsOf = (objects: readonly SavedObject[]): SavedPart[] =>
    objects
      .filter(({ id }) => shown.has(id))
      .map((one) => ({ id: one.id, title: one.title, parameters: parametersOf(one) }));
  const found = partsOf(searches);
  const file: DashboardFile = {
    kind: "tailrace-dashboard",
    version: 1,
    title,
    dashboard,
    visualisations: partsOf(visualisations),
    ...(found.length > 0 && { searches: found }),
  };
  return `${JSON.stringify(file, undefined, 2)}\n`;
}

/** Returns the dashboard of a file's text. Throws an Error with the fault in it. */
export function importDashboard(text: string): DashboardFile {
  let value: Partial<DashboardFile> & { dashboard?: unknown };
  try {
    value = JSON.parse(text) as typeof value;
  } catch (cause) {
    throw new Error(msg("The file isn't JSON. Export a dashboard to see how one looks."), { cause });
  }
  if (value?.kind !== "tailrace-dashboard")
    throw new Error(msg("The file holds no dashboard. Export a dashboard to see how one looks."));
  if (value.version !== 1)
    throw new Error(msg(str`The file is of version ${String(value.version)}; this hub reads version 1.`));
  const { title, visualisations } = value;
  if (typeof title !== "string" || !Array.isArray(visualisations))
    throw new Error(msg("The file's title or visualisations are missing."));
  const dashboard = readDashboard((value.dashboard ?? {}) as Readonly<Record<string, unknown>>);
  const found = visualisations.filter(isPart);
  const searches = Array.isArray(value.searches) ? value.searches.filter(isPart) : [];
  return { kind: value.kind, version: 1, title, dashboard, visualisations: found, searches };
}

function isPart(one: Partial<SavedPart> | null): one is SavedPart {
  return typeof one?.id === "string" && typeof one.title === "string" && typeof one.parameters === "string";
}

/** Returns a dashboard whose panels show other visualisations; panels without one are left out. */
export function withIds(dashboard: Dashboard, ids: ReadonlyMap<string, string>): Dashboard {
  const panels = dashboard.panels.flatMap((panel) => {
    if (panel.kind === "text") return [panel];
    const id = ids.get(panel.id);
    return id === undefined ? [] : [{ ...panel, id }];
  });
  return { ...dashboard, panels };
}

/** The state in which a dashboard is shown. */
export interface DashboardLook extends Omit<Dashboard, "panels"> {
  readonly isUtc: boolean;
  readonly isEditing: boolean;
  /** The address is a read-only link: no change of the dashboard is offered. */
  readonly isReadOnly: boolean;
}

/** Returns the state in which a dashboard is shown: as saved, overridden by the address. */
export function readLook(
  parameters: URLSearchParams,
  saved: Dashboard,
  isUtcPreferred: boolean,
): DashboardLook {
  const zone = parameters.get("tz");
  return {
    range: { from: parameters.get("from") ?? saved.range.from, to: parameters.get("to") ?? saved.range.to },
    query: parameters.get("q") ?? saved.query,
    variables: chooseVariables(saved.variables, parameters.getAll("var")),
    refreshSeconds: Number(parameters.get("refresh") ?? saved.refreshSeconds) || 0,
    isUtc: zone === null ? isUtcPreferred : zone === "utc",
    isEditing: parameters.get("edit") === "1" && parameters.get("read") !== "1",
    isReadOnly: parameters.get("read") === "1",
  };
}

/** Returns the address that shows others the dashboard in its current state. */
export function readingAddress(id: string, look: DashboardLook): URLSearchParams {
  const { range, query, refreshSeconds, variables, isUtc } = look;
  const parameters = new URLSearchParams({ id, read: "1", from: range.from, to: range.to });
  if (query !== "") parameters.set("q", query);
  if (refreshSeconds > 0) parameters.set("refresh", String(refreshSeconds));
  if (isUtc) parameters.set("tz", "utc");
  for (const { field, value } of variables) parameters.append("var", `${field}=${value}`);
  return parameters;
}

/** The changeable parts of a look; undefined: unchanged. */
export interface LookChange {
  readonly range?: TimeRange;
  readonly query?: string;
  readonly refreshSeconds?: number;
  readonly variable?: Variable;
  readonly isUtc?: boolean;
  readonly isEditing?: boolean;
}

/** Returns the address of a changed look. */
export function changeLook(parameters: URLSearchParams, change: LookChange): URLSearchParams {
  const next = new URLSearchParams(parameters);
  const { range, query, refreshSeconds, variable, isUtc, isEditing } = change;
  if (range !== undefined) {
    next.set("from", range.from);
    next.set("to", range.to);
  }
  if (query !== undefined) next.set("q", query);
  if (refreshSeconds !== undefined) next.set("refresh", String(refreshSeconds));
  if (isUtc !== undefined) next.set("tz", isUtc ? "utc" : "local");
  if (isEditing === true) next.set("edit", "1");
  if (isEditing === false) next.delete("edit");
  if (variable === undefined) return next;
  const others = next.getAll("var").filter((text) => !text.startsWith(`${variable.field}=`));
  next.delete("var");
  for (const text of [...others, `${variable.field}=${variable.value}`]) next.append("var", text);
  return next;
}
