/** Filter json_encode: a field's value as JSON text. */

import { defineFilter } from "#hub/pipeline/plugins/filter.ts";
import { fieldReference } from "#proto/field-reference.ts";
import { list, optional, options, text } from "#proto/kit/options.ts";

export const jsonEncodeFilter = defineFilter({
  name: "json_encode",
  description: "writes a field's value as JSON text",
  options: options({
    source: text("field whose value is written"),
    target: optional(text("field for the text; default: the source")),
    tag_on_failure: list("tags of events without a value in the source", ["_jsongeneratorfailure"]),
  }),
  create({ source, target, tag_on_failure }) {
    const from = fieldReference(source);
    const to = fieldReference(target ?? source);
    return {
      apply(event) {
        const json = JSON.stringify(event.get(from)) as string | undefined;
        if (json === undefined) {
          for (const tag of tag_on_failure) event.tag(tag);
          return false;
        }
        event.set(to, json);
        return true;
      },
    };
  },
});
