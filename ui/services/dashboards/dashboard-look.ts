/** How a dashboard is shown: as saved, overridden by the address of its page. */

import type { TimeRange } from "#ui/services/search/time-range.ts";
import type { Dashboard, Variable } from "./dashboard.ts";

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
