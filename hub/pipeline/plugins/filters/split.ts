/** Filter split: one event per part of a field. */

import { rubySplit } from "#hub/pipeline/formats/ruby-split.ts";
import { defineFilter } from "#hub/pipeline/plugins/filter.ts";
import { fieldReference } from "#proto/field-reference.ts";
import { optional, options, text } from "#proto/kit/options.ts";

/** Tag of events whose field is neither text nor a list. */
const TYPE_FAILURE_TAG = "_split_type_failure";

export const splitFilter = defineFilter({
  name: "split",
  description: "makes an event from each part of a field",
  options: options({
    field: text("field to split: text at the terminator, a list at its items", "message"),
    terminator: text("delimiter of the parts of a text", "\n"),
    target: optional(text("target field for the part; default: the field itself")),
  }),
  create({ field, terminator, target }) {
    const source = fieldReference(field);
    const into = target === undefined || target === "" ? source : fieldReference(target);
    return {
      apply(event, emit) {
        const value = event.get(source);
        const all = typeof value === "string" ? rubySplit(value, terminator) : undefined;
        if (all?.length === 1) return false; // nothing to split: neither the target nor decorations
        const parts = Array.isArray(value) ? value : all && withoutLastEmpty(all);
        if (parts === undefined) {
          event.tag(TYPE_FAILURE_TAG);
          return false;
        }
        if (typeof value === "string" && parts.length === 1) {
          event.set(into, parts[0]);
          return true;
        }
        for (const part of parts) {
          if (part === "" || part === null) continue;
          const child = event.clone();
          child.set(into, part);
          emit(child, true);
        }
        event.cancel();
        return false;
      },
    };
  },
});

/** A text of nothing but terminators keeps one part, so that its event isn't lost. */
function withoutLastEmpty(parts: string[]): string[] {
  while (parts.length > 1 && parts.at(-1) === "") parts.pop();
  return parts;
}
