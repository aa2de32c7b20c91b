/** A dashboard as a file that another hub reads. */

import { msg, str } from "@lit/localize";
import { parametersOf, type SavedObject } from "#ui/services/hub/saved-client.ts";
import { type Dashboard, readDashboard } from "./dashboard.ts";

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
