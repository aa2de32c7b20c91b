/** Filter ruby: refused with what to write instead. Code of another language doesn't run here. */

import { defineFilter } from "#hub/pipeline/plugins/filter.ts";
import { anyTable, optional, options, text, withoutEffect } from "#proto/kit/options.ts";

export const rubyFilter = defineFilter({
  name: "ruby",
  description: "is refused: use the filter js for code",
  options: options({
    code: optional(text("Ruby code, which isn't supported")),
    init: optional(text("Ruby code, which isn't supported")),
    path: optional(text("file of Ruby code, which isn't supported")),
    script_params: anyTable("values for the script"),
    tag_on_exception: withoutEffect("the filter is refused as a whole"),
    tag_with_exception_message: withoutEffect("the filter is refused as a whole"),
  }),
  create(_values, { report }) {
    report(
      "error",
      "code",
      "Ruby code doesn't run here",
      "write it for the filter js: js { code => \"…\" }; event.get, event.set, event.remove, event.tag and event.cancel() are the same, Ruby's nil is undefined, strings have JavaScript's methods",
    );
    return { apply: () => false };
  },
});
