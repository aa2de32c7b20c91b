/** Filter de_dot: replaces dots in field names. */

import { defineFilter } from "#hub/pipeline/plugins/filter.ts";
import { type Event, isHash } from "#proto/event.ts";
import { fieldReference } from "#proto/field-reference.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import { flag, list, options, text } from "#proto/kit/options.ts";

export const deDotFilter = defineFilter({
  name: "de_dot",
  description: "replaces the dots in field names, or makes objects of them",
  options: options({
    separator: text("replacement of dots", "_"),
    nested: flag("true: a.b becomes b in an object a", false),
    recursive: flag("true: also names within objects", false),
    fields: list("top-level fields to process; none: all"),
    tag_on_failure: text("tag of events for which a name can't be changed", "_de_dot_error"),
  }),
  create({ separator, nested, recursive, fields, tag_on_failure }, { report }) {
    if (separator.includes(".")) report("error", "separator", "the separator can't have a dot");
    const rename = (event: Event, name: string): void => {
      const path = name.split(".");
      const value = event.fields[name];
      delete event.fields[name];
      const target = nested ? path.map((part) => `[${part}]`).join("") : `[${path.join(separator)}]`;
      event.set(fieldReference(target), value);
    };
    return {
      apply(event) {
        try {
          const names = Object.keys(event.fields).filter(
            (name) => fields.length === 0 || fields.includes(name),
          );
          for (const name of names) {
            if (recursive) event.fields[name] = withoutDots(event.fields[name], separator);
            if (name.includes(".") && !name.split(".").includes("")) rename(event, name);
          }
          return true;
        } catch {
          event.tag(tag_on_failure);
          return false;
        }
      },
    };
  },
});

function withoutDots(value: unknown, separator: string): unknown {
  if (Array.isArray(value)) return value.map((item) => withoutDots(item, separator));
  if (!isHash(value)) return value;
  const result: JsonObject = {};
  for (const [name, item] of Object.entries(value))
    result[name.replaceAll(".", separator)] = withoutDots(item, separator);
  return result;
}
