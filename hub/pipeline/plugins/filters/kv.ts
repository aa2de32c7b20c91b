/** Filter kv: reads `key=value` pairs. */

import { defineFilter } from "#hub/pipeline/plugins/filter.ts";
import { type KeyValueOptions, KeyValueReader } from "#hub/pipeline/plugins/filters/kv/key-value-reader.ts";
import { RegexpTimeout } from "#hub/pipeline/regexp/regexp-guard.ts";
import { type Event, isHash, valueText } from "#proto/event.ts";
import { fieldReference } from "#proto/field-reference.ts";
import { compileFormat } from "#proto/format.ts";
import { anyTable, flag, list, oneOf, optional, options, text } from "#proto/kit/options.ts";
import { Type } from "#proto/kit/schema.ts";

const TRANSFORMS = ["lowercase", "uppercase", "capitalize"] as const;

export const kvFilter = defineFilter({
  name: "kv",
  description: "makes fields of key=value pairs",
  options: options({
    trim_value: optional(text("characters to cut from both ends of values")),
    trim_key: optional(text("characters to cut from both ends of keys")),
    remove_char_value: optional(text("characters to take out of values")),
    remove_char_key: optional(text("characters to take out of keys")),
    transform_value: optional(oneOf(TRANSFORMS, "how values are written")),
    transform_key: optional(oneOf(TRANSFORMS, "how keys are written")),
    field_split: text("characters that stand between pairs", " "),
    field_split_pattern: optional(text("expression of what stands between pairs")),
    value_split: text("characters that stand between key and value", "="),
    value_split_pattern: optional(text("expression of what stands between key and value")),
    prefix: text("put before each key, a format", ""),
    source: text("field to read", "message"),
    target: optional(text("field that takes the pairs; without it they become fields")),
    include_keys: list("keys to take, as formats; none: all"),
    exclude_keys: list("keys to leave out, as formats"),
    default_keys: anyTable("values of keys that aren't found"),
    allow_duplicate_values: flag("false: a value that a key has already isn't added", true),
    allow_empty_values: flag("true: keys without a value become empty fields", false),
    include_brackets: flag("(…), […] and <…> around a value are cut off and keep it together", true),
    recursive: flag("values that are pairs themselves become objects", false),
    whitespace: oneOf(["strict", "lenient"], "lenient: blanks around value_split mean nothing", "lenient"),
    timeout_millis: Type.Integer({
      default: 30_000,
      minimum: 0,
      description: "reading is given up behind it, ms",
    }),
    tag_on_timeout: text("tag of events where reading was given up", "_kv_filter_timeout"),
    tag_on_failure: list("tags of events where reading failed", ["_kv_filter_error"]),
  }),
  create(values, { guard, report }) {
    const source = fieldReference(values.source);
    const target =
      values.target === undefined || values.target === "" ? undefined : fieldReference(values.target);
    const prefix = compileFormat(values.prefix);
    const include = values.include_keys.map(compileFormat);
    const exclude = values.exclude_keys.map(compileFormat);
    guard.expect(values.timeout_millis);
    const reader = KeyValueReader.create(values as KeyValueOptions, report);
    if (reader === undefined) return { apply: () => false };
    const read = (event: Event, value: unknown): Map<string, unknown> => {
      const keys = (formats: typeof include): Set<string> => new Set(formats.map((format) => format(event)));
      const filter = { prefix: prefix(event), include: keys(include), exclude: keys(exclude) };
      const found = new Map<string, unknown>();
      for (const item of Array.isArray(value) ? value : [value]) {
        if (typeof item === "string") reader.read(item, filter, found);
      }
      return found;
    };
    return {
      apply(event) {
        const value = event.get(source);
        if (typeof value !== "string" && !Array.isArray(value)) {
          if (value !== undefined && value !== null) for (const tag of values.tag_on_failure) event.tag(tag);
          return false;
        }
        try {
          const work = (): Map<string, unknown> => read(event, value);
          const found = guard.run(
            reader,
            typeof value === "string" ? value : value.join("\n"),
            values.timeout_millis,
            work,
          );
          for (const [key, fallback] of Object.entries(values.default_keys)) {
            if (!found.has(key)) found.set(key, fallback);
          }
          if (found.size === 0) return false;
          store(event, target, found);
          return true;
        } catch (error) {
          if (!(error instanceof RegexpTimeout)) throw error;
          event.tag(values.tag_on_timeout);
          return false;
        }
      },
    };
  },
});

function store(
  event: Event,
  target: ReturnType<typeof fieldReference> | undefined,
  found: Map<string, unknown>,
): void {
  const pairs = Object.fromEntries(found);
  if (target === undefined) {
    for (const [key, value] of found) event.set(keyReference(key), value);
    return;
  }
  const before = event.get(target);
  event.set(target, isHash(before) ? { ...before, ...pairs } : pairs);
}

/** A key with brackets that is no reference stands for itself, brackets made underscores. */
function keyReference(key: string): ReturnType<typeof fieldReference> {
  try {
    return fieldReference(key);
  } catch {
    return fieldReference(valueText(key).replace(/[[\]]/g, "_") || "_");
  }
}
