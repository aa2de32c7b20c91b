/** Filter clone: adds copies of an event. */

import { defineFilter } from "#hub/pipeline/plugins/filter.ts";
import { fieldReference } from "#proto/field-reference.ts";
import { options } from "#proto/kit/options.ts";
import { Type } from "#proto/kit/schema.ts";

const TYPE = fieldReference("type");

export const cloneFilter = defineFilter({
  name: "clone",
  description: "adds one copy of the event per name",
  options: options({
    clones: Type.Array(Type.String(), {
      description: "names of the copies, which become their type, or with ECS a tag",
    }),
  }),
  create: ({ clones }, { ecs }) => ({
    apply(event, emit) {
      for (const name of clones) {
        const copy = event.clone();
        if (ecs) copy.addTags([name]);
        else copy.set(TYPE, name);
        emit(copy, true);
      }
      // The decorations are the copies', not the original's.
      return false;
    },
  }),
});
