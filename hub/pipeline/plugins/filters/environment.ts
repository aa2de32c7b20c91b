/** Filter environment: values of variables as metadata of events. */

import { defineFilter } from "#hub/pipeline/plugins/filter.ts";
import { fieldReference } from "#proto/field-reference.ts";
import { options, table } from "#proto/kit/options.ts";

export const environmentFilter = defineFilter({
  name: "environment",
  description: "puts values of environment variables into [@metadata] of events",
  options: options({
    add_metadata_from_env: table("names of variables by the names of their fields in [@metadata]"),
  }),
  create({ add_metadata_from_env }, { variable }) {
    const values = Object.entries(add_metadata_from_env).map(
      ([field, name]) => [fieldReference(`[@metadata][${field}]`), variable(name) ?? null] as const,
    );
    return {
      apply(event) {
        for (const [reference, value] of values) event.set(reference, value);
        return true;
      },
    };
  },
});
