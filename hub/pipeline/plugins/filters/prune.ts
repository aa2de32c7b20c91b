/** Filter prune: keeps or removes fields by their names and values. */

import { defineFilter } from "#hub/pipeline/plugins/filter.ts";
import { translateRubyRegexp } from "#hub/pipeline/regexp/ruby-regexp.ts";
import { valueText } from "#proto/event.ts";
import { compileFormat } from "#proto/format.ts";
import { flag, list, options, table } from "#proto/kit/options.ts";

export const pruneFilter = defineFilter({
  name: "prune",
  description: "keeps or removes top-level fields whose name or value matches",
  options: options({
    interpolate: flag("true: the expressions are formats", false),
    whitelist_names: list("regular expressions of names to keep; empty: all"),
    blacklist_names: list("regular expressions of names to remove", ["%\\{[^}]+\\}"]),
    whitelist_values: table("regular expressions by field: keeps the field only if its value matches"),
    blacklist_values: table("regular expressions by field: removes the field if its value matches"),
  }),
  create({ interpolate, whitelist_names, blacklist_names, whitelist_values, blacklist_values }) {
    type Test = (event: Parameters<ReturnType<typeof compileFormat>>[0], text: string) => boolean;
    const test = (expression: string): Test => {
      const format = compileFormat(expression);
      if (!interpolate || format.isConstant) {
        const regexp = new RegExp(translateRubyRegexp(expression).source, "u");
        return (_, text) => regexp.test(text);
      }
      return (event, text) => new RegExp(translateRubyRegexp(format(event)).source, "u").test(text);
    };
    const keep = whitelist_names.map(test);
    const remove = blacklist_names.map(test);
    const keepValues = new Map(Object.entries(whitelist_values).map(([name, each]) => [name, test(each)]));
    const removeValues = new Map(Object.entries(blacklist_values).map(([name, each]) => [name, test(each)]));
    return {
      apply(event) {
        for (const [name, value] of Object.entries(event.fields)) {
          if (name === "@timestamp") continue;
          const matches = (tests: readonly Test[]): boolean => tests.some((each) => each(event, name));
          const texts = (Array.isArray(value) ? value : [value]).map(valueText);
          const holds = (each: Test | undefined): boolean =>
            each !== undefined && texts.some((text) => each(event, text));
          const goes =
            (keep.length > 0 && !matches(keep)) ||
            matches(remove) ||
            (keepValues.has(name) && !holds(keepValues.get(name))) ||
            holds(removeValues.get(name));
          if (goes) delete event.fields[name];
        }
        return true;
      },
    };
  },
});
