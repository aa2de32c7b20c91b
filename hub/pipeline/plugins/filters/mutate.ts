/** Filter mutate: changes fields. Its parts run in a fixed order, whatever order they are written in. */

import type { Static, Type } from "typebox";
import { convertParts } from "#hub/pipeline/formats/value-conversion.ts";
import { defineFilter, type FilterContext } from "#hub/pipeline/plugins/filter.ts";
import { structureParts } from "#hub/pipeline/plugins/filters/mutate/structure.ts";
import { textParts } from "#hub/pipeline/plugins/filters/mutate/text.ts";
import type { Event } from "#proto/event.ts";
import { FieldConflict } from "#proto/event-members.ts";
import { anyTable, list, options, table, text } from "#proto/kit/options.ts";

/** One change of an event. */
export type Mutation = (event: Event) => void;

const OPTIONS = options({
  coerce: anyTable("values for fields that are there but null"),
  rename: table("new names by old ones"),
  update: anyTable("new values, as formats, for fields that are there"),
  replace: anyTable("new values, as formats"),
  convert: anyTable("kinds by field: integer, float, integer_eu, float_eu, string, boolean"),
  gsub: list("field, expression, replacement, in threes"),
  uppercase: list("fields to write in upper case"),
  capitalize: list("fields to write with a capital first letter"),
  lowercase: list("fields to write in lower case"),
  strip: list("fields whose blanks at both ends are cut"),
  split: table("separators by field: text becomes a list"),
  join: table("separators by field: a list becomes text"),
  merge: anyTable("fields to append, by the field they are appended to"),
  copy: anyTable("fields to copy to, by the field they are copied from"),
  tag_on_failure: text(
    "tag of events where a change wasn't possible; what comes behind it isn't done",
    "_mutate_error",
  ),
});

export type MutateOptions = typeof OPTIONS extends Type.TSchema ? Static<typeof OPTIONS> : never;

export const mutateFilter = defineFilter({
  name: "mutate",
  description: "renames, converts and rewrites fields",
  options: OPTIONS,
  create(values, context) {
    const mutations = compileMutations(values, context);
    return {
      apply(event) {
        try {
          for (const mutate of mutations) mutate(event);
          return true;
        } catch (error) {
          if (!(error instanceof FieldConflict)) throw error;
          event.tag(values.tag_on_failure);
          return false;
        }
      },
    };
  },
});

/** Upstream's order; it can't be changed by the order of writing. */
function compileMutations(values: MutateOptions, context: FilterContext): Mutation[] {
  const { coerce, rename, update, replace } = structureParts;
  return [
    ...coerce(values.coerce),
    ...rename(values.rename),
    ...update(values.update),
    ...replace(values.replace),
    ...convertParts(values.convert, context),
    ...textParts.gsub(values.gsub, context),
    ...textParts.uppercase(values.uppercase),
    ...textParts.capitalize(values.capitalize),
    ...textParts.lowercase(values.lowercase),
    ...textParts.strip(values.strip),
    ...structureParts.split(values.split),
    ...structureParts.join(values.join),
    ...structureParts.merge(values.merge),
    ...structureParts.copy(values.copy),
  ];
}
