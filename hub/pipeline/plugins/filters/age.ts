/** Filter age: how old an event is when it is filtered. */

import { defineFilter } from "#hub/pipeline/plugins/filter.ts";
import { decimal } from "#proto/codec/json.ts";
import { fieldReference } from "#proto/field-reference.ts";
import { options, text } from "#proto/kit/options.ts";

export const ageFilter = defineFilter({
  name: "age",
  description: "puts the seconds since an event's time into a field",
  options: options({ target: text("field for the age, s", "[@metadata][age]") }),
  create({ target }, { clock }) {
    const reference = fieldReference(target);
    return {
      apply(event) {
        event.set(reference, decimal((clock.now() - event.timeMs) / 1000));
        return true;
      },
    };
  },
});
