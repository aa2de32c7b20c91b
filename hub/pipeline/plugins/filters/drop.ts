/** Filter drop: ends events, all or a share of them. */

import { defineFilter } from "#hub/pipeline/plugins/filter.ts";
import { options } from "#proto/kit/options.ts";
import { Type } from "#proto/kit/schema.ts";

export const dropFilter = defineFilter({
  name: "drop",
  description: "drops events; they count as processed",
  options: options({
    percentage: Type.Number({
      minimum: 0,
      maximum: 100,
      default: 100,
      description: "percentage of the events to drop",
    }),
  }),
  create: ({ percentage }, { random }) => ({
    apply(event) {
      if (percentage === 100 || random() * 100 < percentage) event.cancel();
      return event.cancelled;
    },
  }),
});
