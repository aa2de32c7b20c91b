/** Filter urldecode: resolves %XX escapes. */

import { isUtf8 } from "node:buffer";
import { defineFilter } from "#hub/pipeline/plugins/filter.ts";
import { isHash } from "#proto/event.ts";
import { FieldConflict } from "#proto/event-members.ts";
import { fieldReference } from "#proto/field-reference.ts";
import { flag, list, oneOf, options, text } from "#proto/kit/options.ts";

export const urldecodeFilter = defineFilter({
  name: "urldecode",
  description: "resolves the %XX escapes of URLs",
  options: options({
    field: text("field to decode", "message"),
    all_fields: flag("decodes every field", false),
    tag_on_failure: list("tags of events for which that isn't possible", ["_urldecodefailure"]),
    charset: oneOf(["UTF-8"], "encoding of the escaped bytes", "UTF-8"),
  }),
  create({ field, all_fields, tag_on_failure }) {
    const reference = fieldReference(field);
    return {
      apply(event) {
        try {
          if (all_fields)
            for (const name of Object.keys(event.fields)) event.fields[name] = decode(event.fields[name]);
          else if (event.has(reference)) event.set(reference, decode(event.get(reference)));
          return true;
        } catch (error) {
          if (!(error instanceof FieldConflict)) throw error;
          for (const tag of tag_on_failure) event.tag(tag);
          return false;
        }
      },
    };
  },
});

/** A per cent sign without two digits stands for itself. */
function decode(value: unknown): unknown {
  if (typeof value === "string") return value.replace(/(?:%[0-9A-Fa-f]{2})+/g, decodeRun);
  if (Array.isArray(value)) return value.map(decode);
  if (!isHash(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, decode(item)]));
}

/** Bytes that aren't UTF-8 become \\xHH. */
function decodeRun(run: string): string {
  const bytes = Buffer.from(run.replaceAll("%", ""), "hex");
  if (isUtf8(bytes)) return bytes.toString();
  let text = "";
  for (let at = 0; at < bytes.length; ) {
    const length = [1, 2, 3, 4].find(
      (count) => at + count <= bytes.length && isUtf8(bytes.subarray(at, at + count)),
    );
    text +=
      length === undefined
        ? `\\x${bytes.toString("hex", at, at + 1).toUpperCase()}`
        : bytes.toString("utf8", at, at + length);
    at += length ?? 1;
  }
  return text;
}
