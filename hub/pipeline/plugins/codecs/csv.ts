/** Codec csv: lines of separated values. */

import { parseCsvLine } from "#hub/pipeline/formats/csv-line.ts";
import { conversions } from "#hub/pipeline/formats/value-conversion.ts";
import { defineCodec } from "#hub/pipeline/plugins/codec.ts";
import { decodeText } from "#proto/codec/plain.ts";
import { Event, valueText } from "#proto/event.ts";
import { fieldReference } from "#proto/field-reference.ts";
import { AppError } from "#proto/kit/errors.ts";
import { flag, list, optional, options, table, text } from "#proto/kit/options.ts";
import { splitPayload } from "./line.ts";
import { charsetOption, toUtf8 } from "./plain.ts";

const FAILURE_TAG = "_csvparsefailure";

export const csvCodec = defineCodec({
  name: "csv",
  description: "one line of separated values per event",
  options: options({
    columns: list(
      "names of the columns; further ones are named column4 and so on; also the columns to write",
    ),
    separator: text("delimiter of values", ","),
    quote_char: text("quote character of values that contain separators", '"'),
    include_headers: flag("writes the column names before the first event", false),
    autogenerate_column_names: flag("false: columns without a name are left out", true),
    skip_empty_columns: flag("omits columns without a value", false),
    autodetect_column_names: flag("reads the column names from the first line", false),
    convert: table("integer, float or boolean by column"),
    charset: charsetOption,
    target: optional(text("target field for the columns; default: the event itself")),
  }),
  create(values) {
    const utf8 = toUtf8(values.charset);
    const converters = new Map(
      Object.entries(values.convert).map(([column, kind]) => [column, converter(kind)]),
    );
    const root = values.target === undefined || values.target === "" ? "" : bracketed(values.target);
    let columns = values.columns;
    let hasHeader = !values.include_headers;
    const assign = (event: Event, row: readonly (string | undefined)[]): void => {
      for (const [index, value] of row.entries()) {
        const column =
          columns[index] ?? (values.autogenerate_column_names ? `column${index + 1}` : undefined);
        if (column === undefined || (values.skip_empty_columns && (value === undefined || value === "")))
          continue;
        const convert = converters.get(column);
        const path = root === "" ? column : `${root}${bracketed(column)}`;
        event.set(
          fieldReference(path),
          value === undefined ? null : convert === undefined ? value : convert(value),
        );
      }
    };
    const readLine = (bytes: Uint8Array, timeMs: number): Event[] => {
      const line = decodeText(bytes);
      const row = parseCsvLine(line, values.separator, values.quote_char);
      if (row === undefined) return [failure(line, timeMs)];
      if (columns.length === 0 && values.autodetect_column_names) {
        columns = row.map((item) => item ?? "");
        return [];
      }
      const event = new Event({}, timeMs);
      try {
        assign(event, row);
      } catch {
        // Names from a first line may be no names of fields.
        return [failure(line, timeMs)];
      }
      return [event];
    };
    const writeRow = (row: readonly string[]): string =>
      `${row.map((value) => quoted(value, values.separator, values.quote_char)).join(values.separator)}\n`;
    return {
      decode: (payload, timeMs) =>
        splitPayload(utf8(payload), "\n").flatMap((line) => readLine(line, timeMs)),
      encode(event) {
        const names =
          columns.length > 0 ? columns : Object.keys(event.fields).filter((name) => name !== "@timestamp");
        const row = writeRow(
          names.map((name) =>
            valueText(event.get(fieldReference(`${root}${root === "" ? name : bracketed(name)}`))),
          ),
        );
        if (hasHeader) return Buffer.from(row);
        hasHeader = true;
        return Buffer.from(writeRow(names) + row);
      },
    };
  },
});

function failure(line: string, timeMs: number): Event {
  const event = new Event({ message: line }, timeMs);
  event.tag(FAILURE_TAG);
  return event;
}

function converter(kind: string): (value: string) => unknown {
  const convert = conversions[kind];
  if (convert === undefined)
    throw new AppError(
      "settings_invalid",
      `"${kind}" is no kind of value; kinds are: integer, float, boolean`,
    );
  return convert;
}

function quoted(value: string, separator: string, quote: string): string {
  if (quote === "" || !(value.includes(separator) || value.includes(quote) || /[\r\n]/.test(value)))
    return value;
  return `${quote}${value.replaceAll(quote, quote + quote)}${quote}`;
}

function bracketed(field: string): string {
  return field.startsWith("[") ? field : `[${field}]`;
}
