/** Filter uuid: gives events a random id. */

import { randomUUID } from "node:crypto";
import { defineFilter } from "#hub/pipeline/plugins/filter.ts";
import { fieldReference } from "#proto/field-reference.ts";
import { flag, options, text } from "#proto/kit/options.ts";

export const uuidFilter = defineFilter({
  name: "uuid",
  description: "puts a random UUID (RFC 9562 version 4) into a field",
  options: options({
    target: text("target field for the UUID"),
    overwrite: flag("replaces an existing value", false),
  }),
  create({ target, overwrite }) {
    const reference = fieldReference(target);
    return {
      apply(event) {
        if (overwrite || !event.has(reference)) event.set(reference, randomUUID());
        return true;
      },
    };
  },
});
