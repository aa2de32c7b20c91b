/** Processors that do their work with a filter of the pipelines. */

import { parseDissection } from "#hub/pipeline/formats/dissection.ts";
import { csvFilter } from "#hub/pipeline/plugins/filters/csv.ts";
import { date, dateIndexName } from "./date-processor.ts";
import { grok } from "./grok-processor.ts";
import { ProcessorFault } from "./ingest-document.ts";
import { kv } from "./kv-processor.ts";
import { LOOKUP_PROCESSORS } from "./lookup-processors.ts";
import { type ProcessorKind, readText } from "./processor.ts";
import { makeFilter, runFilter } from "./processor-filter.ts";

const dissect: ProcessorKind = (settings) => {
  const field = settings.text("field");
  const ignoreMissing = settings.flag("ignore_missing");
  const dissection = parseDissection(settings.text("pattern"), settings.text("append_separator", ""));
  if (typeof dissection === "string") throw settings.fault("pattern", dissection);
  return (document) => {
    const value = readText(document, { field, target: field, ignoreMissing });
    if (value === undefined) return;
    const found = dissection(value);
    if (found === undefined)
      throw new ProcessorFault(`Unable to find match for dissect pattern against source: ${value}`);
    for (const [path, text] of found) document.set(path, text);
  };
};

const csv: ProcessorKind = (settings, context) => {
  const field = settings.text("field");
  const ignoreMissing = settings.flag("ignore_missing");
  const columns = settings.texts("target_fields");
  const trims = settings.flag("trim");
  const empty = settings.take("empty_value");
  const filter = makeFilter(settings, "separator", csvFilter, context, {
    source: "[value]",
    target: "[found]",
    columns: columns.map((_, index) => String(index)),
    separator: settings.text("separator", ","),
    quote_char: settings.text("quote", '"'),
    autogenerate_column_names: false,
  });
  return (document) => {
    const value = readText(document, { field, target: field, ignoreMissing });
    if (value === undefined || value === "") return;
    const found = runFilter(filter, value, context);
    if (found === undefined) throw new ProcessorFault(`field [${field}] holds no line of separated values`);
    for (const [index, column] of columns.entries()) {
      const item = found[String(index)];
      const text = trims && typeof item === "string" ? item.trim() : item;
      if (text === undefined || text === null) continue;
      if (text !== "") document.set(column, text);
      else if (empty !== undefined) document.set(column, empty);
    }
  };
};

export const FILTER_PROCESSORS: Readonly<Record<string, ProcessorKind>> = {
  grok,
  dissect,
  date,
  date_index_name: dateIndexName,
  kv,
  csv,
  ...LOOKUP_PROCESSORS,
};
