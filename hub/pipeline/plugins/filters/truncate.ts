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
        let isCut = false;
        const cutField = (value: unknown, set: (value: unknown) => void): void => {
          const shorter = cut(value, length_bytes);
          if (shorter === value) return;
          isCut = true;
          set(shorter);
        };
        for (const reference of references)
          cutField(event.get(reference), (value) => event.set(reference, value));
        if (references.length > 0) return isCut;
        for (const [name, value] of Object.entries(event.fields))
          cutField(value, (shorter) => (event.fields[name] = shorter));
        return isCut;
      },
    };
  },
});

/** Returns `value` itself if no text in it is too long. A character that the limit would split goes as a whole. */
function cut(value: unknown, limit: number): unknown {
  if (Array.isArray(value)) {
    const items = value.map((item) => cut(item, limit));
    return items.some((item, at) => item !== value[at]) ? items : value;
  }
  if (isHash(value)) {
    const members = Object.entries(value).map(([key, item]) => [key, cut(item, limit)] as const);
    return members.some(([key, item]) => item !== value[key]) ? Object.fromEntries(members) : value;
  }
  if (typeof value !== "string" || value.length * 3 <= limit) return value;
  const bytes = Buffer.from(value);
  if (bytes.length <= limit) return value;
  let end = limit;
  while (end > 0 && (bytes[end]! & 0xc0) === 0x80) end--;
  return bytes.toString("utf8", 0, end);
}
