/** Filter json: parses a field that is JSON. */

import { defineFilter } from "#hub/pipeline/plugins/filter.ts";
import { parseEventJson } from "#proto/codec/json.ts";
import { isHash } from "#proto/event.ts";
import { fieldReference } from "#proto/field-reference.ts";
import { flag, list, optional, options, text } from "#proto/kit/options.ts";

export const jsonFilter = defineFilter({
  name: "json",
  description: "parses JSON into fields",
  options: options({
    source: text("field with the JSON"),
    target: optional(text("target field for the result; default: its members become fields")),
    tag_on_failure: list("tags of events whose text isn't JSON", ["_jsonparsefailure"]),
    skip_on_invalid_json: flag("ignores text that isn't JSON, without a tag", false),
  }),
  create({ source, target, tag_on_failure, skip_on_invalid_json }) {
    const from = fieldReference(source);
    const to = target === undefined || target === "" ? undefined : fieldReference(target);
    return {
      apply(event) {
        const value = event.get(from);
        if (value === undefined || value === null || value === false || value === "") return false;
        const parsed = typeof value === "string" ? parseEventJson(value) : undefined;
        const fits = parsed !== undefined && (to !== undefined || isHash(parsed)) && namesAreFields(parsed);
        if (!fits) {
          if (!(skip_on_invalid_json && parsed === undefined))
            for (const tag of tag_on_failure) event.tag(tag);
          return false;
        }
        if (to !== undefined) event.set(to, parsed);
        else for (const [name, item] of Object.entries(parsed as object)) setMember(event, name, item);
        return true;
      },
      conflicted(event) {
        for (const tag of tag_on_failure) event.tag(tag);
      },
    };
  },
});

/** Returns false if a name within has brackets, which no field reference can express. */
function namesAreFields(value: unknown): boolean {
  if (Array.isArray(value)) return value.every(namesAreFields);
  if (!isHash(value)) return true;
  return Object.entries(value).every(([name, item]) => !/[[\]]/.test(name) && namesAreFields(item));
}

/** Sets a member by its literal name; `@timestamp` is made a time. */
function setMember(
  event: Parameters<ReturnType<typeof jsonFilter.create>["apply"]>[0],
  name: string,
  value: unknown,
): void {
  if (name === "@timestamp") event.set(fieldReference(name), value);
  else if (name === "@metadata") event.set(fieldReference(`[${name}]`), value);
  else
    Object.defineProperty(event.fields, name, {
      value,
      enumerable: true,
      configurable: true,
      writable: true,
    });
}
