/** Filter extractnumbers: the numbers among the words of a text, as fields int1, int2, …, float1, float2, …. */

import { defineFilter } from "#hub/pipeline/plugins/filter.ts";
import { decimal } from "#proto/codec/json.ts";
import { fieldReference } from "#proto/field-reference.ts";
import { options, text } from "#proto/kit/options.ts";

/** Most numbers of a kind: each is a field. */
const MAX_NUMBERS = 100;

/** A single underscore between digits. */
const GROUPING = /(?<=[\da-f])_(?=[\da-f])/gi;

/** As Ruby's Integer() and Float() read them. */
const INTEGER = /^([-+]?)(0x(?=[0-9a-f])|0b(?=[01])|0o?(?=[0-7]))?(\d+|(?<=0x)[0-9a-f]+)$/i;
const FLOAT = /^[-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?$/i;

export const extractnumbersFilter = defineFilter({
  name: "extractnumbers",
  description: `puts the numbers of a text into fields int1, float1 and so on, at most ${MAX_NUMBERS} of each kind`,
  options: options({ source: text("field with the text; of a list its first text", "message") }),
  create({ source }) {
    const reference = fieldReference(source);
    return {
      apply(event) {
        const value = event.get(reference);
        const text: unknown = Array.isArray(value) ? value[0] : value;
        if (typeof text !== "string") return false;
        let [integers, floats] = [0, 0];
        for (const word of text.trim().split(/\s+/)) {
          const integer = toInteger(word);
          if (integer !== undefined) {
            if (++integers <= MAX_NUMBERS) event.fields[`int${integers}`] = integer;
          } else if (FLOAT.test(word.replaceAll(GROUPING, ""))) {
            const float = Number(word.replaceAll(GROUPING, ""));
            if (Number.isFinite(float) && ++floats <= MAX_NUMBERS)
              event.fields[`float${floats}`] = decimal(float);
          }
        }
        return integers + floats > 0;
      },
    };
  },
});

/** A leading 0 means octal. */
function toInteger(word: string): number | undefined {
  const [, sign, base = "", digits = ""] = INTEGER.exec(word.replaceAll(GROUPING, "")) ?? [];
  if (digits === "") return undefined;
  const value = Number((base === "0" ? "0o" : base) + digits);
  if (!Number.isSafeInteger(value)) return undefined;
  return sign === "-" ? -value + 0 : value;
}
