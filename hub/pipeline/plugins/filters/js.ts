/** Filter js: users' own code, isolated from the hub, bounded in time and memory. */

import { readFileSync } from "node:fs";
import type { Static } from "typebox";
import { defineFilter, type FilterContext } from "#hub/pipeline/plugins/filter.ts";
import { Sandbox, type Script, ScriptFault } from "#hub/pipeline/plugins/filters/script/sandbox.ts";
import { anyTable, flag, optional, options, text } from "#proto/kit/options.ts";
import { Type } from "#proto/kit/schema.ts";
import { parseSize } from "#proto/kit/units.ts";

const OPTIONS = options({
  code: optional(
    text(
      "body of a function of `event` and `params`: event.get, set, remove, tag, cancel, clone, toHash; emit(event) adds one",
    ),
  ),
  path: optional(
    text("file that defines filter(event), which returns a list of events, and optionally register(params)"),
  ),
  init: optional(text("code that runs once before the first event")),
  script_params: anyTable("values for register(params) and `params`"),
  timeout_millis: Type.Integer({
    default: 1000,
    minimum: 1,
    description: "timeout of a call, ms",
  }),
  memory_limit: text("memory limit of the script", "32mb"),
  tag_on_exception: text("tag of events for which the script failed", "_jsexception"),
  tag_with_exception_message: flag("appends the reason to the tag", false),
});

type Options = Static<typeof OPTIONS>;

export const jsFilter = defineFilter({
  name: "js",
  description: "runs your own JavaScript on each event",
  options: OPTIONS,
  create(values, context) {
    const script = compile(values, context);
    if (script === undefined) return { apply: () => false };
    return {
      apply(event, emit) {
        try {
          return script.call(event, (added) => emit(added, false), { json: values.script_params });
        } catch (error) {
          if (!(error instanceof ScriptFault)) throw error;
          const reason = values.tag_with_exception_message ? `: ${error.message}` : "";
          event.tag(`${values.tag_on_exception}${reason}`);
          return false;
        }
      },
    };
  },
});

function compile(values: Options, { resolvePath, report }: FilterContext): Script | undefined {
  const { code, path, init, script_params, timeout_millis } = values;
  if ((code === undefined) === (path === undefined)) {
    report("error", "code", "js needs either code or path", "write: code => 'event.set(\"a\", 1)'");
    return undefined;
  }
  try {
    const sandbox = new Sandbox({ memoryBytes: parseSize(values.memory_limit), timeoutMs: timeout_millis });
    if (init !== undefined) sandbox.define(init, "init");
    if (path === undefined) return sandbox.compile(code!, ["params"]);
    sandbox.define(readFileSync(resolvePath(path), "utf8"), path);
    sandbox.define(
      `if (typeof register === "function") register(${JSON.stringify(script_params)});`,
      "register",
    );
    return sandbox.reference("filter");
  } catch (error) {
    report("error", path === undefined ? "code" : "path", (error as Error).message);
    return undefined;
  }
}
