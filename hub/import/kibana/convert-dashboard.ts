/** Converts Kibana's dashboards to those of the hub: panels on twelve columns, read row by row. */

import { isObject, type JsonObject } from "#proto/kit/json.ts";
import { hubId, type KibanaObject, listIn, textOf } from "./exported-objects.ts";

/** Columns of Kibana's grid from 6.3 on; 12 before. */
const GRID_COLUMNS = 48;
const OLD_COLUMNS = 12;
const WIDTHS = [3, 4, 6, 8, 12];
/** Maximum height of a low and of a medium panel, in rows of the grid. */
const LOW_ROWS = 8;
const MIDDLE_ROWS = 20;
const MAX_PANELS = 40;

/** The converted objects that panels name, by type and id: "visualization/ID". */
export type PanelTargets = ReadonlyMap<string, { readonly id: string } | { readonly text: string }>;

export interface ConvertedDashboard {
  readonly attributes: JsonObject;
  readonly leftOut: readonly string[];
}

interface Place {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly rows: number;
}

/** Converts a dashboard. `query`: applies to all panels. */
export function convertDashboard(
  object: KibanaObject,
  targets: PanelTargets,
  query: string,
): ConvertedDashboard {
  const { attributes } = object;
  const leftOut: string[] = [];
  const placed = listIn(attributes, "panelsJSON")
    .map((panel) => ({ panel, place: placeOf(panel) }))
    .sort((a, b) => a.place.y - b.place.y || a.place.x - b.place.x);
  const panels = placed.flatMap(({ panel, place }, at) =>
    panelOf(object, panel, place, targets, at, leftOut),
  );
  if (panels.length > MAX_PANELS)
    leftOut.push(`${panels.length - MAX_PANELS} panels beyond the first ${MAX_PANELS}`);
  const hasRange = attributes["timeRestore"] === true;
  const refresh = isObject(attributes["refreshInterval"]) ? attributes["refreshInterval"] : {};
  const seconds = refresh["pause"] === true ? 0 : Math.round(Number(refresh["value"] ?? 0) / 1000);
  return {
    attributes: {
      panels: panels.slice(0, MAX_PANELS),
      variables: [],
      range: {
        from: hasRange ? String(attributes["timeFrom"]) : "now-24h",
        to: hasRange ? String(attributes["timeTo"]) : "now",
      },
      refreshSeconds: seconds > 0 && seconds <= 3_600 ? seconds : 0,
      query,
    },
    leftOut,
  };
}

function placeOf({ gridData, col, row, size_x: sizeX, size_y: sizeY }: JsonObject): Place {
  if (isObject(gridData)) {
    const { x, y, w, h } = gridData;
    const width = (Number(w) / GRID_COLUMNS) * 12;
    return { x: Number(x), y: Number(y), width, rows: Number(h) };
  }
  const width = (Number(sizeX ?? 6) / OLD_COLUMNS) * 12;
  // A row of the old grid is about four of the current one.
  return { x: Number(col ?? 1), y: Number(row ?? 1), width, rows: Number(sizeY ?? 3) * 4 };
}

function panelOf(
  { references }: KibanaObject,
  panel: JsonObject,
  { width, rows }: Place,
  targets: PanelTargets,
  at: number,
  leftOut: string[],
): JsonObject[] {
  const reference = references.find(
    ({ name }) => name === panel["panelRefName"] || name.endsWith(`:${String(panel["panelRefName"])}`),
  );
  const [type, id] = [reference?.type ?? String(panel["type"]), reference?.id ?? panel["id"]];
  const target = targets.get(`${type}/${String(id)}`);
  if (target === undefined) {
    leftOut.push(`the panel ${textOf(panel["title"], id, at + 1)} (${type})`);
    return [];
  }
  const size = {
    width: WIDTHS.reduce((best, each) => (Math.abs(each - width) < Math.abs(best - width) ? each : best)),
    height: rows <= LOW_ROWS ? "low" : rows <= MIDDLE_ROWS ? "middle" : "high",
  };
  if ("text" in target) return [{ id: `text-${at}`, kind: "text", text: target.text, ...size }];
  return [{ id: hubId(target.id), ...(type === "search" && { kind: "search" }), ...size }];
}
