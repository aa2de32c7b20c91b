/** Output null: events end here. */

import { optional, options, text } from "../filters/option-types.ts";
import { defineOutput } from "./output.ts";

export const nullOutput = defineOutput({
  name: "null",
  description: "takes events and keeps nothing",
  options: options({ id: optional(text("name of this output in metrics and messages")) }),
  create: () => ({ route: () => undefined }),
});
