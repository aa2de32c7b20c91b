/** Filter csv: reads a line of separated values. */

import { parseCsvLine } from "#hub/pipeline/formats/csv-line.ts";
import { conversions } from "#hub/pipeline/formats/value-conversion.ts";
import { defineFilter } from "#hub/pipeline/plugins/filter.ts";
import { type Event, isHash, Timestamp } from "#proto/event.ts";
import { fieldReference } from "#proto/field-reference.ts";
import { flag, list, optional, options, table, text } from "#proto/kit/options.ts";

const FAILURE_TAG = "_csvparsefailure";
const SKIPPED_TAG = "_csvskippedemptyfield";

/** Kinds of values beside those of mutate. */
const TIME_KINDS: Readonly<Record<string, (value: string) => unknown>> = {
  date: (value) => timeOf(value),
  date_time: (value) => timeOf(value),
};

export const csvFilter = defineFilter({
  name: "csv",
  description: "parses separated values into fields",
  options: options({
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
  }),
  create(values, { report, place }) {
    const source = fieldReference(values.source);
    const root = values.target === undefined || values.target === "" ? "" : bracketed(values.target);
    const converters = new Map<string, (value: string) => unknown>();
    for (const [column, kind] of Object.entries(values.convert)) {
      const convert = TIME_KINDS[kind] ?? conversions[kind];
      if (convert === undefined)
        report(
          "error",
          "convert",
          `"${kind}" is no kind of value`,
          "kinds are: integer, float, boolean, date, date_time",
        );
      else converters.set(column, convert);
    }
    let columns = values.columns;
    /** Place of the event that named the columns: its batch may be done again. */
    let namedAt = Number.NaN;
    const name = (index: number): string | undefined =>
      columns[index] ?? (values.autogenerate_column_names ? `column${index + 1}` : undefined);
    const assign = (event: Event, row: readonly (string | undefined)[]): void => {
      for (const [index, value] of row.entries()) {
        const column = name(index);
        if (column === undefined) continue;
        if (values.skip_empty_columns && (value === undefined || value === "")) {
          continue;
        }
        const convert = converters.get(column);
        const converted = value === undefined ? null : convert === undefined ? value : convert(value);
        event.set(fieldReference(root === "" ? column : `${root}${bracketed(column)}`), converted);
      }
    };
    return {
      apply(event) {
        const value = event.get(source);
        if (value === undefined || value === null) return false;
        const row =
          typeof value === "string" ? parseCsvLine(value, values.separator, values.quote_char) : undefined;
        if (row === undefined) {
          event.tag(FAILURE_TAG);
          return false;
        }
        const isEmpty = row.every((item) => item === undefined || item === "");
        if (isEmpty && values.skip_empty_rows) {
          event.tag(SKIPPED_TAG);
          return false;
        }
        if (columns.length === 0 && values.autodetect_column_names) {
          namedAt = place(); // first: the work may be stopped in between
          columns = row.map((item) => item ?? "");
          event.cancel();
          return true;
        }
        const isNaming = place() === namedAt && row.every((item, index) => (item ?? "") === columns[index]);
        const isRepeated =
          values.skip_header && !isEmpty && row.every((item, index) => item === columns[index]);
        if (isNaming || isRepeated) {
          event.cancel();
          return true;
        }
        assign(event, row);
        return true;
      },
    };
  },
});

function bracketed(field: string): string {
  return field.startsWith("[") ? field : `[${field}]`;
}

/** What is no time stays text. */
function timeOf(value: string): unknown {
  const timeMs = Date.parse(value);
  return Number.isNaN(timeMs) || isHash(value) ? value : new Timestamp(timeMs);
}
