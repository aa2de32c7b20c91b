/** Codec csv: lines of separated values. */

import type { Static } from "typebox";
import { type CsvConversion, csvConversions } from "#hub/pipeline/formats/csv-conversion.ts";
import { parseCsvLine } from "#hub/pipeline/formats/csv-line.ts";
import { type Codec, defineCodec } from "#hub/pipeline/plugins/codec.ts";
import { decodeText } from "#proto/codec/plain.ts";
import { Event, valueText } from "#proto/event.ts";
import { bracketed, type FieldReference, fieldReference } from "#proto/field-reference.ts";
import { AppError } from "#proto/kit/errors.ts";
import { flag, list, optional, options, table, text } from "#proto/kit/options.ts";
import { splitPayload } from "./line.ts";
import { charsetOption, toUtf8 } from "./plain.ts";

const FAILURE_TAG = "_csvparsefailure";

const OPTIONS = options({
  columns: list("names of the columns; further ones are named column4 and so on; also the columns to write"),
  separator: text("delimiter of values", ","),
  quote_char: text("quote character of values that contain separators", '"'),
  include_headers: flag("writes the column names before the first event", false),
  autogenerate_column_names: flag("false: columns without a name are left out", true),
  skip_empty_columns: flag("omits columns without a value", false),
  autodetect_column_names: flag("reads the column names from the first line", false),
  convert: table("integer, float, boolean, date or date_time by column"),
  charset: charsetOption,
  target: optional(text("target field for the columns; default: the event itself")),
});

type Values = Static<typeof OPTIONS>;

export const csvCodec = defineCodec({
  name: "csv",
  description: "one line of separated values per event",
  options: OPTIONS,
  create: (values) => new CsvCodec(values),
});

class CsvCodec implements Codec {
  readonly #values: Values;
  readonly #utf8: (bytes: Uint8Array) => Uint8Array;
  readonly #converters: ReadonlyMap<string, CsvConversion>;
  /** Field that gets the columns; empty: the event itself. */
  readonly #root: string;
  #columns: readonly string[];
  #hasHeader: boolean;

  constructor(values: Values) {
    this.#values = values;
    this.#utf8 = toUtf8(values.charset);
    this.#converters = new Map(
      Object.entries(values.convert).map(([column, kind]) => [column, converter(kind)]),
    );
    this.#root = values.target === undefined || values.target === "" ? "" : bracketed(values.target);
    this.#columns = values.columns;
    this.#hasHeader = !values.include_headers;
  }

  decode(payload: Uint8Array, timeMs: number): Event[] {
    return splitPayload(this.#utf8(payload), "\n").flatMap((line) => this.#readLine(line, timeMs));
  }

  encode(event: Event): Uint8Array {
    const names =
      this.#columns.length > 0
        ? this.#columns
        : Object.keys(event.fields).filter((name) => name !== "@timestamp");
    const row = this.#writeRow(names.map((name) => valueText(event.get(this.#fieldOf(name)))));
    if (this.#hasHeader) return Buffer.from(row);
    this.#hasHeader = true;
    return Buffer.from(this.#writeRow(names) + row);
  }

  #readLine(bytes: Uint8Array, timeMs: number): Event[] {
    const line = decodeText(bytes);
    const row = parseCsvLine(line, this.#values.separator, this.#values.quote_char);
    if (row === undefined) return [failure(line, timeMs)];
    if (this.#columns.length === 0 && this.#values.autodetect_column_names) {
      this.#columns = row.map((item) => item ?? "");
      return [];
    }
    const event = new Event({}, timeMs);
    try {
      this.#assign(event, row);
    } catch {
      // Names from a first line may be no names of fields.
      return [failure(line, timeMs)];
    }
    return [event];
  }

  #assign(event: Event, row: readonly (string | undefined)[]): void {
    const { autogenerate_column_names: autogenerate, skip_empty_columns: skipEmpty } = this.#values;
    for (const [index, value] of row.entries()) {
      const column = this.#columns[index] ?? (autogenerate ? `column${index + 1}` : undefined);
      if (column === undefined || (skipEmpty && (value === undefined || value === ""))) continue;
      const convert = this.#converters.get(column);
      const converted = value === undefined ? null : convert === undefined ? value : convert(value);
      event.set(this.#fieldOf(column), converted);
    }
  }

  #fieldOf(column: string): FieldReference {
    return fieldReference(this.#root === "" ? column : `${this.#root}${bracketed(column)}`);
  }

  #writeRow(row: readonly string[]): string {
    const { separator, quote_char: quote } = this.#values;
    return `${row.map((value) => quoted(value, separator, quote)).join(separator)}\n`;
  }
}

function failure(line: string, timeMs: number): Event {
  const event = new Event({ message: line }, timeMs);
  event.tag(FAILURE_TAG);
  return event;
}

function converter(kind: string): CsvConversion {
  const convert = csvConversions.get(kind);
  if (convert === undefined)
    throw new AppError(
      "settings_invalid",
      `"${kind}" isn't a kind of value; kinds are: ${[...csvConversions.keys()].join(", ")}`,
    );
  return convert;
}

function quoted(value: string, separator: string, quote: string): string {
  if (quote === "" || !(value.includes(separator) || value.includes(quote) || /[\r\n]/.test(value)))
    return value;
  return `${quote}${value.replaceAll(quote, quote + quote)}${quote}`;
}
