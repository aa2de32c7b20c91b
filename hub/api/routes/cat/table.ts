/** Tables of `_cat`: columns that may be chosen, sorted, printed as text or JSON. */

import type { ApiContext } from "#hub/api/context/api-context.ts";
import { answerFormat } from "#hub/api/http/answer.ts";
import { printSize, printTime } from "#hub/api/http/printed-units.ts";
import type { ApiRequest } from "#hub/api/http/request.ts";
import { type ApiResponse, json, type Route } from "#hub/api/http/route.ts";
import type { Action } from "#hub/auth/accounts/principal.ts";
import { answersAs } from "#hub/search/options/request-version.ts";
import { AppError } from "#proto/kit/errors.ts";
import { matchesWildcard } from "#proto/kit/wildcard.ts";

/** A cell; sizes and times are printed in the requested unit, lists with commas. */
export type Cell =
  | string
  | number
  | boolean
  | null
  | undefined
  | { readonly bytes: number }
  | { readonly ms: number };

/** One column. */
export interface Column {
  readonly name: string;
  /** Short names; the help shows the first. */
  readonly aliases?: readonly string[];
  readonly help: string;
  /** Shown only on request. */
  readonly hidden?: boolean;
  /** Shown by default if this parameter is `true` (detailed), or unless it is `false` (ts). */
  readonly shownBy?: "detailed" | "ts";
  readonly right?: boolean;
  /** Versions that have the column: from `from` on, before `until`; see answersAs. */
  readonly from?: number;
  readonly until?: number;
}

export type Row = Readonly<Record<string, Cell>>;

export interface CatTable {
  readonly paths: readonly string[];
  readonly params?: readonly string[];
  readonly columns: readonly Column[];
  readonly summary: string;
  /** Right that the table needs; absent: monitor. */
  readonly action?: Action;
  rows(api: ApiContext, request: ApiRequest): Row[] | Promise<Row[]>;
}

/** Returns a column. `aliases`: separated by commas; the help shows the first. */
export function column(
  name: string,
  aliases: string,
  help: string,
  options: Omit<Column, "name" | "aliases" | "help"> = {},
): Column {
  return { name, ...(aliases !== "" && { aliases: aliases.split(",") }), help, ...options };
}

export const RIGHT = { right: true } as const;
export const HIDDEN = { hidden: true } as const;
export const HIDDEN_RIGHT = { hidden: true, right: true } as const;

/** Columns with which some tables begin. */
export const CLOCK_COLUMNS: readonly Column[] = [
  column("epoch", "t,time", "seconds since 1970-01-01 00:00:00", { shownBy: "ts" }),
  column("timestamp", "ts,hms,hhmmss", "time in HH:MM:SS", { shownBy: "ts" }),
];

/** Returns the cells of CLOCK_COLUMNS. `nowMs`: ms since 1970-01-01 UTC. */
export function clockCells(nowMs: number): Row {
  return { epoch: Math.floor(nowMs / 1_000), timestamp: new Date(nowMs).toISOString().slice(11, 19) };
}

const TABLE_PARAMS = [
  "format",
  "local",
  "master_timeout",
  "h",
  "help",
  "s",
  "v",
  "bytes",
  "time",
  "size",
  "ts",
];

/** Returns the route of a table. */
export function catRoute(table: CatTable, parts: ApiContext): Route {
  return {
    methods: ["GET"],
    paths: table.paths,
    params: [...TABLE_PARAMS, ...(table.params ?? [])],
    action: table.action ?? "monitor",
    summary: table.summary,
    handle: (request) => answer(table, parts, request),
  };
}

async function answer(table: CatTable, parts: ApiContext, request: ApiRequest): Promise<ApiResponse> {
  const known = table.columns.filter(
    ({ from = 0, until = Infinity }) => answersAs(from) && !answersAs(until),
  );
  if (request.flag("help") === true) return { status: 200, text: helpText(known) };
  const wanted = request.list("h");
  // A column that is requested by name is also available before its version.
  const named = table.columns.filter(({ until = Infinity }) => !answersAs(until));
  const columns = chosenColumns(
    wanted === undefined ? known.filter((column) => isShown(column, request)) : named,
    wanted,
  );
  const rows = sortRows(await table.rows(parts, request), table.columns, request.list("s"));
  const print = (cell: Cell): string => printCell(cell, request.query["bytes"], request.query["time"]);
  const format = answerFormat(request.query["format"], request.headers.accept);
  if (format === "json" || format === "yaml") {
    return json(
      rows.map((row) =>
        Object.fromEntries(columns.map(({ shown, column }) => [shown, jsonCell(row[column.name], print)])),
      ),
    );
  }
  const head = request.flag("v") === true ? [columns.map(({ shown }) => shown)] : [];
  return {
    status: 200,
    text: printTable(
      [...head, ...rows.map((row) => columns.map(({ column }) => print(row[column.name])))],
      columns.map(({ column }) => column),
    ),
  };
}

function isShown({ shownBy }: Column, request: ApiRequest): boolean {
  if (shownBy === "detailed") return request.flag("detailed") ?? false;
  return shownBy === undefined || (request.flag("ts") ?? true);
}

interface ChosenColumn {
  readonly column: Column;
  /** Name by which it was requested. */
  readonly shown: string;
}

/** Returns whether a request names one of `columns`, to show it or to sort by it. */
export function namesColumn(request: ApiRequest, columns: readonly Column[]): boolean {
  const names = [...(request.list("h") ?? []), ...(request.list("s") ?? []).map((key) => key.split(":")[0]!)];
  return chosenColumns(columns, names).length > 0;
}

function chosenColumns(columns: readonly Column[], wanted: readonly string[] | undefined): ChosenColumn[] {
  if (wanted === undefined) {
    return columns.filter(({ hidden }) => hidden !== true).map((column) => ({ column, shown: column.name }));
  }
  return wanted.flatMap((shown) => {
    if (shown.includes("*")) {
      const fitting = columns.filter(({ name, aliases = [] }) =>
        [name, ...aliases].some((each) => matchesWildcard(shown, each)),
      );
      return fitting.map((column) => ({ column, shown: column.name }));
    }
    const column = findColumn(columns, shown);
    return column === undefined ? [] : [{ column, shown }];
  });
}

function findColumn(columns: readonly Column[], name: string): Column | undefined {
  return (
    columns.find((column) => column.name === name) ?? columns.find((column) => column.aliases?.includes(name))
  );
}

/** Sorts rows. Throws request_invalid for unknown columns. */
function sortRows(rows: Row[], columns: readonly Column[], keys: readonly string[] | undefined): Row[] {
  if (keys === undefined) return rows;
  const orders = keys.map((key) => {
    const [, name = "", order] = /^(.*?)(?::(asc|desc))?$/.exec(key) ?? [];
    const column = findColumn(columns, name);
    if (column === undefined)
      throw new AppError("request_invalid", `Unable to sort by unknown sort key \`${name}\``, {
        data: { type: "unsupported_operation_exception", status: 500 },
      });
    return { name: column.name, sign: order === "desc" ? -1 : 1 };
  });
  return rows.sort((a, b) => {
    for (const { name, sign } of orders) {
      const compared = compareCells(a[name], b[name]);
      if (compared !== 0) return compared * sign;
    }
    return 0;
  });
}

function compareCells(a: Cell, b: Cell): number {
  const [x, y] = [sortValue(a), sortValue(b)];
  if (x === y) return 0;
  // Empty cells sort first.
  if (x === undefined) return -1;
  if (y === undefined) return 1;
  return x < y ? -1 : 1;
}

function sortValue(cell: Cell): string | number | undefined {
  if (cell === null || cell === undefined) return undefined;
  if (typeof cell === "object") return "bytes" in cell ? cell.bytes : cell.ms;
  return typeof cell === "number" ? cell : String(cell);
}

function jsonCell(cell: Cell, print: (cell: Cell) => string): unknown {
  return cell === null || cell === undefined ? null : print(cell);
}

function printCell(cell: Cell, sizeUnit: string | undefined, timeUnit: string | undefined): string {
  if (cell === null || cell === undefined) return "";
  if (typeof cell !== "object") return String(cell);
  return "bytes" in cell ? printSize(cell.bytes, sizeUnit) : printTime(cell.ms, timeUnit);
}

function printTable(lines: readonly (readonly string[])[], columns: readonly Column[]): string {
  const widths = columns.map((_, at) => Math.max(0, ...lines.map((line) => line[at]!.length)));
  const printed = lines.map((line) => line.map((cell, at) => pad(cell, at, widths, columns)).join(" "));
  return printed.map((line) => `${line}\n`).join("");
}

/** The last column isn't padded. */
function pad(cell: string, at: number, widths: readonly number[], columns: readonly Column[]): string {
  if (columns[at]!.right === true) return cell.padStart(widths[at]!);
  return at === columns.length - 1 ? cell : cell.padEnd(widths[at]!);
}

function helpText(columns: readonly Column[]): string {
  const cells = columns.map(({ name, aliases = [], help }) => [name, aliases.join(",") || "-", help]);
  const widths = [0, 1].map((at) => Math.max(...cells.map((cell) => cell[at]!.length)));
  return cells
    .map(
      ([name, aliases, help]) => `${name!.padEnd(widths[0]!)} | ${aliases!.padEnd(widths[1]!)} | ${help}\n`,
    )
    .join("");
}
