/** What Discover shows, and how the address writes it: `#/discover?q=&from=&to=&index=…`, defaults left out. */

import { isUtcPreferred } from "#ui/services/browser/preferences.ts";
import { DEFAULT_RANGE, type TimeRange } from "./time-range.ts";

/** A field that must, or must not, have a value; a disabled one is kept but not applied. */
export interface FieldFilter {
  readonly field: string;
  /** Undefined: the field must exist at all. */
  readonly value: string | undefined;
  readonly exclude: boolean;
  readonly disabled: boolean;
  /** One of it and the filter before suffices; else both must hold. */
  readonly isOr?: boolean;
}

/** What lines are ordered by. */
export interface Sort {
  /** A field that values can be ordered by: of a text its keyword sub-field. */
  readonly field: string;
  readonly isDescending: boolean;
}

export const NEWEST_FIRST: Sort = { field: "@timestamp", isDescending: true };

/** The lines themselves, or their patterns. */
export type ResultView = "lines" | "patterns";

export interface DiscoverState {
  readonly query: string;
  readonly index: string;
  readonly range: TimeRange;
  readonly filters: readonly FieldFilter[];
  /** Columns beside time and level; none: the message. */
  readonly columns: readonly string[];
  /** Chosen widths of columns, px. */
  readonly widths: Readonly<Record<string, number>>;
  readonly sort: Sort;
  /** Seconds between two searches; 0: only on request. */
  readonly refreshSeconds: number;
  readonly isUtc: boolean;
  readonly view: ResultView;
  /** Length of the histogram's steps as the address writes it, `30s`; "": chosen by the range. */
  readonly step: string;
  /** The histogram's heights are logarithmic. */
  readonly isLog: boolean;
}

export const DEFAULT_INDEX = "logs-*";

export const DEFAULT_STATE: DiscoverState = {
  query: "",
  index: DEFAULT_INDEX,
  range: DEFAULT_RANGE,
  filters: [],
  columns: [],
  widths: {},
  sort: NEWEST_FIRST,
  refreshSeconds: 0,
  isUtc: false,
  view: "lines",
  step: "",
  isLog: false,
};

/** Returns the state that an address describes; missing or invalid parts have their defaults. */
export function readState(parameters: URLSearchParams): DiscoverState {
  const refresh = Number(parameters.get("refresh"));
  return {
    query: parameters.get("q") ?? "",
    index: parameters.get("index") || DEFAULT_INDEX,
    range: {
      from: parameters.get("from") || DEFAULT_RANGE.from,
      to: parameters.get("to") || DEFAULT_RANGE.to,
    },
    filters: parameters.getAll("f").flatMap(readFilter),
    columns: (parameters.get("cols") ?? "").split(",").filter((name) => name !== ""),
    widths: readWidths(parameters.get("w") ?? ""),
    sort: readSort(parameters.get("sort")),
    refreshSeconds: Number.isInteger(refresh) && refresh >= 1 && refresh <= 3_600 ? refresh : 0,
    isUtc: parameters.has("tz") ? parameters.get("tz") === "utc" : isUtcPreferred(),
    view: parameters.get("view") === "patterns" ? "patterns" : "lines",
    step: parameters.get("step") ?? "",
    isLog: parameters.get("scale") === "log",
  };
}

/** Returns the parameters of a state, defaults left out. */
export function writeState(state: DiscoverState): URLSearchParams {
  const parameters = new URLSearchParams();
  if (state.query !== "") parameters.set("q", state.query);
  if (state.index !== DEFAULT_INDEX) parameters.set("index", state.index);
  if (state.range.from !== DEFAULT_RANGE.from) parameters.set("from", state.range.from);
  if (state.range.to !== DEFAULT_RANGE.to) parameters.set("to", state.range.to);
  for (const filter of state.filters) parameters.append("f", writeFilter(filter));
  if (state.columns.length > 0) parameters.set("cols", state.columns.join(","));
  if (Object.keys(state.widths).length > 0) parameters.set("w", writeWidths(state.widths));
  const { field, isDescending } = state.sort;
  if (field !== NEWEST_FIRST.field || !isDescending)
    parameters.set("sort", `${isDescending ? "-" : ""}${field}`);
  if (state.refreshSeconds > 0) parameters.set("refresh", String(state.refreshSeconds));
  if (state.isUtc !== isUtcPreferred()) parameters.set("tz", state.isUtc ? "utc" : "local");
  if (state.view !== "lines") parameters.set("view", state.view);
  if (state.step !== "") parameters.set("step", state.step);
  if (state.isLog) parameters.set("scale", "log");
  return parameters;
}

/** Returns `filters` with one more; the same field and value is replaced. */
export function addFilter(filters: readonly FieldFilter[], filter: FieldFilter): readonly FieldFilter[] {
  const at = filters.findIndex(({ field, value }) => field === filter.field && value === filter.value);
  return [...(at < 0 ? filters : replaceFilter(filters, at)), filter];
}

/**
 * Returns `filters` with others instead of one; filters that were joined to a removed one are joined to nothing else.
 */
export function replaceFilter(
  filters: readonly FieldFilter[],
  at: number,
  ...others: readonly FieldFilter[]
): readonly FieldFilter[] {
  const replaced = filters.toSpliced(at, 1, ...others);
  const next = replaced[at];
  if (others.length > 0 || next?.isOr !== true || filters[at]?.isOr === true) return replaced;
  return replaced.with(at, { ...next, isOr: false });
}

/** Returns the filters that are turned on, in groups: one of each group must hold. */
export function filterGroups(filters: readonly FieldFilter[]): readonly (readonly FieldFilter[])[] {
  const groups: FieldFilter[][] = [];
  for (const [at, filter] of filters.entries())
    if (at > 0 && filter.isOr === true) groups.at(-1)!.push(filter);
    else groups.push([filter]);
  return groups.map((group) => group.filter(({ disabled }) => !disabled)).filter((group) => group.length > 0);
}

/** Returns `columns` with one more, or without it where it is there. */
export function toggleColumn(columns: readonly string[], name: string): readonly string[] {
  return columns.includes(name) ? columns.filter((column) => column !== name) : [...columns, name];
}

/** Returns true if both states find the same lines in the same order. */
export function isSameSearch(a: DiscoverState, b: DiscoverState): boolean {
  const searchOf = (state: DiscoverState): string =>
    JSON.stringify({ ...state, columns: [], widths: {}, refreshSeconds: 0, view: "lines", isLog: false });
  return searchOf(a) === searchOf(b);
}

/** Returns the filters and the query as one text for a live tail. */
export function toQueryText(query: string, filters: readonly FieldFilter[]): string {
  const parts = filterGroups(filters).map((group) => {
    if (group.length === 1) return filterText(group[0]!);
    // Not within OR would leave out the lines of the others, too.
    return `(${group.map((one) => (one.exclude ? `(${filterText(one)})` : filterText(one))).join(" OR ")})`;
  });
  if (query.trim() === "") return parts.join(" AND ");
  return parts.length === 0 ? query : [`(${query})`, ...parts].join(" AND ");
}

function filterText({ field, value, exclude }: FieldFilter): string {
  const text = value === undefined ? `${field}:*` : `${field}:"${value.replaceAll(/["\\]/g, "\\$&")}"`;
  return exclude ? `NOT ${text}` : text;
}

/** Written as `[|][~][-]field:value`; `|` or the one before, `~` disabled, `-` excluded, colons in the field escaped. */
export function writeFilter({ field, value, exclude, disabled, isOr = false }: FieldFilter): string {
  const name = field.replaceAll(/[:\\]/g, "\\$&");
  return `${isOr ? "|" : ""}${disabled ? "~" : ""}${exclude ? "-" : ""}${name}${value === undefined ? "" : `:${value}`}`;
}

/** Returns the filter of a text as `writeFilter` writes it, none if it is wrong. */
export function readFilter(text: string): FieldFilter[] {
  const match = /^(\|?)(~?)(-?)((?:[^:\\]|\\.)+)(?::([\s\S]*))?$/.exec(text);
  if (match === null) return [];
  const [, or, off, not, name, value] = match;
  const filter = {
    field: name!.replaceAll(/\\(.)/g, "$1"),
    value,
    exclude: not !== "",
    disabled: off !== "",
  };
  return [or === "" ? filter : { ...filter, isOr: true }];
}

/** Written as `[-]field`; `-`: the largest first. */
function readSort(text: string | null): Sort {
  if (text === null || text === "" || text === "-") return NEWEST_FIRST;
  const isDescending = text.startsWith("-");
  return { field: isDescending ? text.slice(1) : text, isDescending };
}

/** Written as `field:px,…`. */
function writeWidths(widths: Readonly<Record<string, number>>): string {
  return Object.entries(widths)
    .map(([column, width]) => `${column}:${width}`)
    .join(",");
}

function readWidths(text: string): Readonly<Record<string, number>> {
  const widths: Record<string, number> = {};
  for (const part of text.split(",")) {
    const cut = part.lastIndexOf(":");
    const width = Number(part.slice(cut + 1));
    if (cut > 0 && Number.isInteger(width) && width >= 40 && width <= 2_000)
      widths[part.slice(0, cut)] = width;
  }
  return widths;
}
