/** Filter csv: reads a line of separated values. */

import type { Static } from "typebox";
import { type CsvConversion, csvConversions } from "#hub/pipeline/formats/csv-conversion.ts";
import { parseCsvLine } from "#hub/pipeline/formats/csv-line.ts";
import { defineFilter, type Filter, type FilterContext } from "#hub/pipeline/plugins/filter.ts";
import type { Event } from "#proto/event.ts";
import { bracketed, type FieldReference, fieldReference } from "#proto/field-reference.ts";
import { flag, list, optional, options, table, text } from "#proto/kit/options.ts";

type Row = readonly (string | undefined)[];

const FAILURE_TAG = "_csvparsefailure";
const SKIPPED_TAG = "_csvskippedemptyfield";

const OPTIONS = options({
  source: text("field to read", "message"),
  columns: list("names of the columns; further ones are named column4 and so on"),
  separator: text("delimiter of values", ","),
  quote_char: text("quote character of values that contain separators; empty: none", '"'),
  target: optional(text("target field for the columns; default: the event itself")),
  autogenerate_column_names: flag("false: columns without a name are left out", true),
  skip_header: flag("drops events that repeat the column names", false),
  skip_empty_columns: flag("omits columns without a value", false),
  skip_empty_rows: flag("events without any value get a tag and no fields", false),
  convert: table("integer, float, boolean, date or date_time by column"),
  autodetect_column_names: flag("reads the column names from the first event", false),
});

type Values = Static<typeof OPTIONS>;

export const csvFilter = defineFilter({
  name: "csv",
  description: "parses separated values into fields",
  options: OPTIONS,
  create: (values, context) => new CsvFilter(values, context),
});

class CsvFilter implements Filter {
  readonly #values: Values;
  readonly #place: () => number;
  readonly #source: FieldReference;
  /** Field that gets the columns; empty: the event itself. */
  readonly #root: string;
  readonly #converters: ReadonlyMap<string, CsvConversion>;
  #columns: readonly string[];
  /** Position of the event that named the columns: its batch may be done again. */
  #namedAt = Number.NaN;

  constructor(values: Values, { report, place }: FilterContext) {
    this.#values = values;
    this.#place = place;
    this.#source = fieldReference(values.source);
    this.#root = values.target === undefined || values.target === "" ? "" : bracketed(values.target);
    this.#converters = convertersOf(values.convert, report);
    this.#columns = values.columns;
  }

  apply(event: Event): boolean {
    const value = event.get(this.#source);
    if (value === undefined || value === null) return false;
    const { separator, quote_char: quote } = this.#values;
    const row = typeof value === "string" ? parseCsvLine(value, separator, quote) : undefined;
    const isEmpty = row?.every((item) => item === undefined || item === "") === true;
    if (row === undefined || (value === "" && !this.#values.skip_empty_rows)) {
      event.tag(FAILURE_TAG);
      return false;
    }
    if (isEmpty && this.#values.skip_empty_rows) {
      event.tag(SKIPPED_TAG);
      return false;
    }
    if (this.#isHeader(row, isEmpty)) event.cancel();
    else this.#assign(event, row);
    return true;
  }

  conflicted(event: Event): void {
    event.tag(FAILURE_TAG);
  }

  /** Returns true for a row that names the columns, or repeats the names and is to be dropped. */
  #isHeader(row: Row, isEmpty: boolean): boolean {
    const { autodetect_column_names: autodetect, skip_header: skipHeader } = this.#values;
    if (this.#columns.length === 0 && autodetect) {
      this.#namedAt = this.#place(); // first: the work may be stopped in between
      this.#columns = row.map((item) => item ?? "");
      return true;
    }
    const columns = this.#columns;
    const isNaming =
      this.#place() === this.#namedAt && row.every((item, index) => (item ?? "") === columns[index]);
    const isHeader = row.length === columns.length && row.every((item, index) => item === columns[index]);
    return isNaming || (skipHeader && isHeader && !isEmpty);
  }

  #assign(event: Event, row: Row): void {
    for (const [index, value] of row.entries()) {
      const column = this.#columnAt(index);
      if (column === undefined) continue;
      if (this.#values.skip_empty_columns && (value === undefined || value === "")) continue;
      const convert = this.#converters.get(column);
      const converted = value === undefined ? null : convert === undefined ? value : convert(value);
      const path = this.#root === "" ? column : `${this.#root}${bracketed(column)}`;
      event.set(fieldReference(path), converted);
    }
  }

  #columnAt(index: number): string | undefined {
    return (
      this.#columns[index] ?? (this.#values.autogenerate_column_names ? `column${index + 1}` : undefined)
    );
  }
}

/** Returns the conversion of each column; a kind that isn't known is reported. */
function convertersOf(kinds: Values["convert"], report: FilterContext["report"]): Map<string, CsvConversion> {
  const converters = new Map<string, CsvConversion>();
  for (const [column, kind] of Object.entries(kinds)) {
    const convert = csvConversions.get(kind);
    if (convert !== undefined) converters.set(column, convert);
    else
      report(
        "error",
        "convert",
        `"${kind}" isn't a kind of value`,
        `kinds are: ${[...csvConversions.keys()].join(", ")}`,
      );
  }
  return converters;
}
