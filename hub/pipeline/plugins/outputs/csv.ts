/** Output csv: fields of events as lines of files. */

import { defineOutput } from "#hub/pipeline/plugins/output.ts";
import { valueText } from "#proto/event.ts";
import { fieldReference } from "#proto/field-reference.ts";
import { anyTable, flag, list, options } from "#proto/kit/options.ts";
import { fileOutput } from "./file.ts";

/** A cell that a spreadsheet would take for a formula. */
const FORMULA = /^[=+\-@]/;

const { codec: _codec, ...FILE } = fileOutput.options.properties;

export const csvOutput = defineOutput({
  name: "csv",
  description: "appends fields of each event to a file of separated values",
  options: options({
    ...FILE,
    fields: list("fields that are written, in their order"),
    csv_options: anyTable("col_sep, quote_char and row_sep"),
    spreadsheet_safe: flag(
      "puts a quote before values that a spreadsheet would interpret as a formula",
      true,
    ),
  }),
  create(values, { report }) {
    const { col_sep = ",", quote_char = '"', row_sep = "\n" } = values.csv_options as Record<string, string>;
    if (values.fields.length === 0)
      report("error", "fields", "there is no field to write", 'write: fields => ["message"]');
    const references = values.fields.map(fieldReference);
    const cell = (value: unknown): string => {
      const written = valueText(value);
      const safe =
        values.spreadsheet_safe && FORMULA.test(written) && typeof value === "string"
          ? `'${written}`
          : written;
      if (!safe.includes(col_sep) && !safe.includes(quote_char) && !/[\r\n]/.test(safe)) return safe;
      return `${quote_char}${safe.replaceAll(quote_char, quote_char + quote_char)}${quote_char}`;
    };
    const lines = fileOutput.create(
      { ...values, codec: "" },
      {
        report,
        codec: () => ({
          decode: () => [],
          encode: (event) =>
            Buffer.from(references.map((field) => cell(event.get(field))).join(col_sep) + row_sep),
        }),
      },
    );
    return lines;
  },
  writer: (values, context) => fileOutput.writer?.({ ...values, codec: "" }, context),
});
