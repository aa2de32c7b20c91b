/** What a dashboard's address says beside its id: what is looked at now, where that isn't what was saved. */

import type { TimeRange } from "#ui/services/search/time-range.ts";
import { chooseVariables, type Dashboard, type Variable } from "./dashboard.ts";

/** How a dashboard is looked at. */
export interface DashboardLook extends Omit<Dashboard, "panels"> {
  readonly isUtc: boolean;
  readonly isEditing: boolean;
}

/** Returns how a dashboard is looked at: as it is saved, but for what the address says. */
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
    isEditing: parameters.get("edit") === "1",
  };
}

/** What can be changed of a look; undefined: not. */
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
