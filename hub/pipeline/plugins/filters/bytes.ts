/** Filter bytes: a size written with a unit ("32 kB") as a number of bytes. */

import { defineFilter } from "#hub/pipeline/plugins/filter.ts";
import { parseJson } from "#proto/codec/json.ts";
import { fieldReference } from "#proto/field-reference.ts";
import { list, oneOf, optional, options, text } from "#proto/kit/options.ts";

/** The power of 1024 or 1000 of a prefix is its index here. */
const PREFIXES = ["", "k", "m", "g", "t", "p", "e"];

export const bytesFilter = defineFilter({
  name: "bytes",
  description: "converts sizes with units (32 kB) to numbers of bytes",
  options: options({
    source: text("field with the size", "message"),
    target: optional(text("field for the number of bytes; default: the source")),
    conversion_method: oneOf(["binary", "metric"], "binary: 1 kB is 1024 bytes; metric: 1000", "binary"),
    decimal_separator: oneOf(
      [".", ","],
      "decimal separator; other separators between digits are ignored",
      ".",
    ),
    tag_on_failure: list("tags of events whose field isn't a size", ["_bytesparsefailure"]),
  }),
  create({ source, target, conversion_method, decimal_separator, tag_on_failure }) {
    const from = fieldReference(source);
    const to = fieldReference(target ?? source);
    const unit = conversion_method === "binary" ? 1024 : 1000;
    return {
      apply(event) {
        const value = event.get(from);
        const bytes = typeof value === "string" ? parseSize(value, decimal_separator, unit) : undefined;
        if (bytes === undefined) {
          for (const tag of tag_on_failure) event.tag(tag);
          return false;
        }
        event.set(to, bytes);
        return true;
      },
    };
  },
});

function parseSize(text: string, separator: string, unit: number): unknown {
  // Blanks are of one part only: of two, a long run of them could be split between the parts in as many ways.
  const [, written = "", prefix = ""] = /^([0-9\s_,.]*)([kmgtpe]?)b?$/i.exec(text.trim()) ?? [];
  const [whole = "", fraction = "", ...more] = written
    .split(separator)
    .map((part) => part.replace(/\D/g, ""));
  if (more.length > 0 || whole + fraction === "") return undefined;
  const bytes = Math.round(Number(`${whole}.${fraction}`) * unit ** PREFIXES.indexOf(prefix.toLowerCase()));
  if (Number.isSafeInteger(bytes)) return bytes;
  // JavaScript prints larger numbers rounded to the digits that tell them apart.
  return Number.isFinite(bytes) ? parseJson(String(BigInt(bytes))) : undefined;
}
