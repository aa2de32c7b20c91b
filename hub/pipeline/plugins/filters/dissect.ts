/** Filter dissect: cuts text at fixed delimiters. */

import { type Dissection, parseDissection } from "#hub/pipeline/formats/dissection.ts";
import { conversions } from "#hub/pipeline/formats/value-conversion.ts";
import { defineFilter, type FilterContext } from "#hub/pipeline/plugins/filter.ts";
import { decimal } from "#proto/codec/json.ts";
import { type Event, valueText } from "#proto/event.ts";
import { type FieldReference, fieldReference } from "#proto/field-reference.ts";
import { list, options, table } from "#proto/kit/options.ts";

export const dissectFilter = defineFilter({
  name: "dissect",
  description: "splits text into fields at fixed delimiters, without regular expressions",
  options: options({
    mapping: table("a pattern by field: %{a} %{+a} %{?a} %{&a} %{a->} with the delimiters between them"),
    convert_datatype: table("int or float by field"),
    tag_on_failure: list("tags of events that don't fit", ["_dissectfailure"]),
  }),
  create({ mapping, convert_datatype, tag_on_failure }, { report }) {
    const steps = Object.entries(mapping).flatMap(([field, text]) => compile(field, text, report));
    const conversions = Object.entries(convert_datatype).map(([field, kind]) => {
      if (kind !== "int" && kind !== "float")
        report("error", "convert_datatype", `"${kind}" isn't a kind`, "write int or float");
      return { field, reference: fieldReference(field), kind };
    });
    return {
      apply(event) {
        let isMatched = false;
        for (const { source, dissection } of steps) {
          if (!event.has(source)) continue;
          if (dissect(event, source, dissection)) isMatched = true;
          else for (const tag of tag_on_failure) event.tag(tag);
        }
        // One mapping that fits is enough, and conversions don't depend on any.
        for (const { field, reference, kind } of conversions) convert(event, field, reference, kind);
        return isMatched;
      },
      conflicted(event) {
        for (const tag of tag_on_failure) event.tag(tag);
      },
    };
  },
});

interface Step {
  readonly source: FieldReference;
  readonly dissection: Dissection;
}

function compile(field: string, text: string, report: FilterContext["report"]): Step[] {
  const dissection = parseDissection(text);
  if (typeof dissection === "string") {
    report("error", "mapping", dissection, "write for example: %{time} %{host} %{message}");
    return [];
  }
  return [{ source: fieldReference(field), dissection }];
}

/** A field that is empty doesn't fit. */
function dissect(event: Event, source: FieldReference, dissection: Dissection): boolean {
  const value = event.get(source);
  if (value === undefined || value === null || value === "") return false;
  const found = dissection(valueText(value), (name) => {
    const before = event.get(fieldReference(name));
    return before === undefined || before === null ? undefined : valueText(before);
  });
  if (found === undefined) return false;
  for (const [name, text] of found) event.set(fieldReference(name), text);
  return true;
}

/** The other numbers of the language, such as 0x1f and Infinity, aren't meant. */
const DECIMAL = /^[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?$/i;

/** What can't be converted keeps its text, and the event gets a tag; so it does where there is nothing. */
function convert(event: Event, field: string, reference: FieldReference, kind: string): void {
  const value = event.get(reference);
  if (value === undefined || value === null) {
    event.tag(`_dataconversionnullvalue_${field}_${kind}`);
    return;
  }
  const text = valueText(value);
  const isNumber = !Array.isArray(value) && DECIMAL.test(text) && Number.isFinite(Number(text));
  if (!isNumber) event.tag(`_dataconversionuncoercible_${field}_${kind}`);
  else event.set(reference, kind === "int" ? conversions["integer"]!(text) : decimal(Number(text)));
}
