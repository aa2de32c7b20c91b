/** Filter truncate: cuts long texts. */

import { defineFilter } from "#hub/pipeline/plugins/filter.ts";
import { isHash } from "#proto/event.ts";
import { fieldReference } from "#proto/field-reference.ts";
import { list, options } from "#proto/kit/options.ts";
import { Type } from "#proto/kit/schema.ts";

export const truncateFilter = defineFilter({
  name: "truncate",
  description: "truncates texts that are longer than a limit",
  options: options({
    fields: list("fields to truncate; none: all"),
    length_bytes: Type.Integer({ minimum: 0, description: "maximum length of a text, bytes of UTF-8" }),
  }),
  create({ fields, length_bytes }) {
    const references = fields.map(fieldReference);
    return {
      apply(event) {
        if (references.length === 0) {
          for (const [name, value] of Object.entries(event.fields))
            event.fields[name] = cut(value, length_bytes);
        }
        for (const reference of references) {
          const value = event.get(reference);
          if (value !== undefined) event.set(reference, cut(value, length_bytes));
        }
        return true;
      },
    };
  },
});

/** A character that the limit would split goes as a whole. */
function cut(value: unknown, limit: number): unknown {
  if (Array.isArray(value)) return value.map((item) => cut(item, limit));
  if (isHash(value))
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, cut(item, limit)]));
  if (typeof value !== "string" || value.length * 3 <= limit) return value;
  const bytes = Buffer.from(value);
  if (bytes.length <= limit) return value;
  let end = limit;
  while (end > 0 && (bytes[end]! & 0xc0) === 0x80) end--;
  return bytes.toString("utf8", 0, end);
}
