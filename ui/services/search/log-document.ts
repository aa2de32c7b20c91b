/** A document as the pages show it: dotted fields and texts. */

import { type Level, levelOf } from "#proto/live.ts";
import { stripAnsi } from "#ui/services/text/ansi.ts";
import { visibleText } from "#ui/services/text/direction.ts";
import { type FieldFormats, type FormattedValue, formatField } from "#ui/services/text/field-format.ts";

type Json = Readonly<Record<string, unknown>>;

/** One hit of a search. */
export interface Hit {
  readonly _index: string;
  readonly _id: string;
  readonly _source?: Json;
  readonly sort?: readonly unknown[];
}

/** Deeper objects are shown as JSON. */
const MAX_DEPTH = 12;
const ERROR_LEVEL = 5;
/** Rows show the beginning of long texts; the details show all. */
const MAX_ROW_TEXT = 2_000;
const MAX_WRAPPED_TEXT = 10_000;
/** Of a row that is shown whole. */
const MAX_WHOLE_TEXT = 500_000;
const LEVEL_FIELDS = ["log.level", "level", "severity", "loglevel"];

/** A line of a table. */
export class LogDocument {
  readonly index: string;
  readonly id: string;
  readonly source: Json;
  /** ms since 1970-01-01 UTC; 0 if the document has no time. */
  readonly timestampMs: number;
  /** What the search sorted it by, time and offset last; none if it wasn't sorted. */
  readonly sort: readonly unknown[];
  readonly #formats: FieldFormats | undefined;
  #fields: ReadonlyMap<string, unknown> | undefined;
  #rowTexts: Map<string, string> | undefined;

  /** `formats`: those of the index pattern; other fields are formatted by their names. */
  constructor({ _index, _id, _source = {}, sort = [] }: Hit, formats?: FieldFormats) {
    this.#formats = formats;
    this.index = _index;
    this.id = _id;
    this.source = _source;
    this.sort = sort;
    this.timestampMs = timeOf(sort.at(-2), _source["@timestamp"]);
  }

  /** Tells documents of all indices apart. */
  get key(): string {
    return `${this.index}/${this.id}`;
  }

  /** All fields by dotted name, sorted. */
  get fields(): ReadonlyMap<string, unknown> {
    if (this.#fields === undefined) {
      const fields = new Map<string, unknown>();
      flatten(this.source, "", 0, fields);
      this.#fields = new Map([...fields].toSorted(([a], [b]) => (a < b ? -1 : 1)));
    }
    return this.#fields;
  }

  get level(): Level {
    const name = this.levelField;
    return name === undefined ? 0 : levelOf(this.fields.get(name));
  }

  /** Name of the field with the level. */
  get levelField(): string | undefined {
    return LEVEL_FIELDS.find((name) => levelOf(this.fields.get(name)) > 0);
  }

  /** The message, or where there is none all fields in a line. */
  get message(): string {
    const message = this.fields.get("message");
    if (typeof message === "string") return message;
    return [...this.fields]
      .filter(([name]) => name !== "@timestamp")
      .map(([name, value]) => `${name}=${valueText(value)}`)
      .join("  ");
  }

  /** Returns a column's text for a row, on one line and cut; "" if the field is missing. */
  rowText(column: string): string {
    this.#rowTexts ??= new Map();
    let text = this.#rowTexts.get(column);
    if (text === undefined) {
      text = visibleText(this.#textOf(column).slice(0, MAX_ROW_TEXT)).replaceAll(/\s+/g, " ");
      this.#rowTexts.set(column, text);
    }
    return text;
  }

  /**
   * Returns a column's text on one line as far as it is searched, further than a row shows it from its start, without
   * colours.
   */
  lineText(column: string): string {
    const text = this.rowText(column);
    if (text.length < MAX_ROW_TEXT) return stripAnsi(text);
    return stripAnsi(this.fullText(column)).replaceAll(/\s+/g, " ");
  }

  /** Returns a column's text for a row of several lines; of a whole row as much as a browser lays out at once. */
  fullText(column: string, isWhole = false): string {
    return visibleText(this.#textOf(column).slice(0, isWhole ? MAX_WHOLE_TEXT : MAX_WRAPPED_TEXT));
  }

  /** Returns a field's value formatted for people; undefined if it is shown unchanged. */
  formatted(field: string): FormattedValue | undefined {
    return formatField(field, this.fields.get(field), this.#formats?.get(field));
  }

  /** Returns the same line with other formats. */
  withFormats(formats: FieldFormats): LogDocument {
    const { index, id, source, sort } = this;
    return new LogDocument({ _index: index, _id: id, _source: source, sort }, formats);
  }

  #textOf(column: string): string {
    if (column === "message") return this.message;
    return this.formatted(column)?.text ?? valueText(this.fields.get(column));
  }
}

/** Columns of events where none were chosen. */
export const DEFAULT_COLUMNS: readonly string[] = ["message"];

/** Returns the numbers of the rows whose columns hold a text, in any case; none for an empty one. */
export function linesWith(rows: readonly LogDocument[], columns: readonly string[], text: string): number[] {
  const wanted = text.toLowerCase();
  if (wanted === "") return [];
  const shown = columns.length === 0 ? DEFAULT_COLUMNS : columns;
  const found: number[] = [];
  for (const [number, row] of rows.entries())
    if (shown.some((column) => row.lineText(column).toLowerCase().includes(wanted))) found.push(number);
  return found;
}

/** Returns true where `rows` begins with all rows there were. */
export function isContinued(
  before: readonly LogDocument[] | undefined,
  rows: readonly LogDocument[],
): boolean {
  if (before === undefined || before.length === 0 || before.length > rows.length) return false;
  return before[0] === rows[0] && before.at(-1) === rows[before.length - 1];
}

/** Returns the number of the next row with an error from `row` on; undefined if there is none. */
export function nextError(rows: readonly LogDocument[], row: number, step: 1 | -1): number | undefined {
  const start = row < 0 && step < 0 ? rows.length : row;
  for (let at = start + step; at >= 0 && at < rows.length; at += step)
    if (rows[at]!.level >= ERROR_LEVEL) return at;
  return undefined;
}

/** Returns a value as people read it: texts as they are, lists with commas, objects as JSON, "" for nothing. */
export function valueText(value: unknown): string {
  if (value === undefined || value === null) return "";
  if (typeof value === "string") return value;
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  if (Array.isArray(value) && value.every((item) => typeof item !== "object"))
    return value.map(valueText).join(", ");
  return JSON.stringify(value);
}

/** Returns a value's texts to filter by, one of each item of a list; none if it is an object. */
export function filterValues(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(filterValues);
  if (value === null || value === undefined || typeof value === "object") return [];
  return [valueText(value)];
}

function flatten(value: Json, prefix: string, depth: number, into: Map<string, unknown>): void {
  for (const [key, item] of Object.entries(value)) {
    const name = `${prefix}${key}`;
    if (typeof item === "object" && item !== null && !Array.isArray(item) && depth < MAX_DEPTH)
      flatten(item as Json, `${name}.`, depth + 1, into);
    else into.set(name, item);
  }
}

function timeOf(sort: unknown, timestamp: unknown): number {
  if (typeof sort === "number" && Number.isSafeInteger(sort)) return sort;
  const atMs = typeof timestamp === "number" ? timestamp : Date.parse(String(timestamp));
  return Number.isNaN(atMs) ? 0 : atMs;
}
