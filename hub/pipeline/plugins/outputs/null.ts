/** Output null: events end here. */

import { defineOutput } from "#hub/pipeline/plugins/output.ts";
import { optional, options, text } from "#proto/kit/options.ts";

export const nullOutput = defineOutput({
  name: "null",
  description: "discards events",
  options: options({ id: optional(text("name of this output in metrics and messages")) }),
  create: () => ({ route: () => undefined }),
});
