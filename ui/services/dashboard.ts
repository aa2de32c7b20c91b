/** A dashboard: saved visualisations on a grid of twelve columns, with one time range and one query for all. */

import { msg, str } from "@lit/localize";
import { parametersOf, type SavedObject } from "./saved-client.ts";
import { DEFAULT_RANGE, type TimeRange } from "./time-range.ts";

export const WIDTHS = [3, 4, 6, 8, 12] as const;
export type Width = (typeof WIDTHS)[number];
export const HEIGHTS = ["low", "middle", "high"] as const;
export type Height = (typeof HEIGHTS)[number];

/** A place on the grid; panels follow each other line by line. */
export interface Panel {
  /** Of the saved visualisation. */
  readonly id: string;
  /** Columns of twelve. */
  readonly width: Width;
  readonly height: Height;
}

export interface Dashboard {
  readonly panels: readonly Panel[];
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
  readonly visualisations: readonly {
    readonly id: string;
    readonly title: string;
    readonly parameters: string;
  }[];
}

export const EMPTY_DASHBOARD: Dashboard = {
  panels: [],
  range: { from: "now-24h", to: DEFAULT_RANGE.to },
  refreshSeconds: 0,
  query: "",
};
/** More panels ask more at once than anybody looks at. */
export const MAX_PANELS = 40;

/** Returns the dashboard of saved attributes; what isn't right in them is left out. */
export function readDashboard(attributes: Readonly<Record<string, unknown>>): Dashboard {
  const range = attributes["range"] as Partial<TimeRange> | undefined;
  const panels = Array.isArray(attributes["panels"]) ? (attributes["panels"] as unknown[]) : [];
  const refresh = Number(attributes["refreshSeconds"]);
  return {
    panels: panels.flatMap(readPanel).slice(0, MAX_PANELS),
    range:
      typeof range?.from === "string" && typeof range.to === "string"
        ? { from: range.from, to: range.to }
        : EMPTY_DASHBOARD.range,
    refreshSeconds: Number.isInteger(refresh) && refresh > 0 && refresh <= 3_600 ? refresh : 0,
    query: typeof attributes["query"] === "string" ? attributes["query"] : "",
  };
}

function readPanel(value: unknown): Panel[] {
  const { id, width, height } = (value ?? {}) as Partial<Panel>;
  if (typeof id !== "string" || id === "") return [];
  return [
    {
      id,
      width: WIDTHS.find((one) => one === width) ?? 6,
      height: HEIGHTS.find((one) => one === height) ?? "middle",
    },
  ];
}

/** Returns the panels with one moved by a place; at the ends it stays. */
export function movePanel(panels: readonly Panel[], at: number, step: 1 | -1): readonly Panel[] {
  const to = at + step;
  if (to < 0 || to >= panels.length) return panels;
  const moved = [...panels];
  [moved[at], moved[to]] = [moved[to]!, moved[at]!];
  return moved;
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
): string {
  const shown = new Set(dashboard.panels.map(({ id }) => id));
  const file: DashboardFile = {
    kind: "tailrace-dashboard",
    version: 1,
    title,
    dashboard,
    visualisations: visualisations
      .filter(({ id }) => shown.has(id))
      .map((one) => ({
        id: one.id,
        title: one.title,
        parameters: parametersOf(one),
      })),
  };
  return `${JSON.stringify(file, undefined, 2)}\n`;
}

/** Returns the dashboard of a file's text. Throws an Error that says what is wrong with it. */
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
  const found = visualisations.filter(
    (one: Partial<DashboardFile["visualisations"][number]> | null) =>
      typeof one?.id === "string" && typeof one.title === "string" && typeof one.parameters === "string",
  );
  return { kind: value.kind, version: 1, title, dashboard, visualisations: found };
}

/** Returns a dashboard whose panels show other visualisations; panels without one are left out. */
export function withIds(dashboard: Dashboard, ids: ReadonlyMap<string, string>): Dashboard {
  const panels = dashboard.panels.flatMap((panel) => {
    const id = ids.get(panel.id);
    return id === undefined ? [] : [{ ...panel, id }];
  });
  return { ...dashboard, panels };
}
