/** Filter prune: keeps or removes fields by their names and values. */

import { defineFilter } from "#hub/pipeline/plugins/filter.ts";
import { translateRubyRegexp } from "#hub/pipeline/regexp/ruby-regexp.ts";
import { type Event, valueText } from "#proto/event.ts";
import { compileFormat, type Format } from "#proto/format.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import { flag, list, options, table } from "#proto/kit/options.ts";

type Test = (event: Event, text: string) => boolean;
type ValueRule = (
  event: Event,
  fields: Readonly<JsonObject>,
) => { readonly name: string; readonly value: unknown[] | undefined } | undefined;

export const pruneFilter = defineFilter({
  name: "prune",
  description: "keeps or removes top-level fields whose name or value matches",
  options: options({
    interpolate: flag("true: the expressions are formats", false),
    whitelist_names: list("regular expressions of names to keep; empty: all"),
    blacklist_names: list("regular expressions of names to remove", ["%\\{[^}]+\\}"]),
    whitelist_values: table(
      "regular expressions by field: keeps the field, and of a list the members, only if the value matches",
    ),
    blacklist_values: table(
      "regular expressions by field: removes the field, and of a list the members, if the value matches",
    ),
  }),
  create({ interpolate, whitelist_names, blacklist_names, whitelist_values, blacklist_values }) {
    const textOf = (text: string): Format =>
      interpolate ? compileFormat(text) : Object.assign(() => text, { isConstant: true, fields: [] });
    const test = (expression: string): Test => {
      const format = textOf(expression);
      if (!format.isConstant) return (event, text) => compiled(format(event)).test(text);
      const regexp = compiled(expression);
      return (_, text) => regexp.test(text);
    };
    const keep = whitelist_names.map(test);
    const remove = blacklist_names.map(test);
    const values = [
      ...Object.entries(whitelist_values).map(([name, each]) => valueRule(textOf(name), test(each), true)),
      ...Object.entries(blacklist_values).map(([name, each]) => valueRule(textOf(name), test(each), false)),
    ];
    return {
      apply(event) {
        // Everything is decided before anything goes, as expressions may name fields that go.
        const { fields } = event;
        const left = values.map((rule) => rule(event, fields));
        const gone = Object.keys(fields).filter((name) => {
          if (name === "@timestamp") return false;
          const matches = (tests: readonly Test[]): boolean => tests.some((each) => each(event, name));
          return (keep.length > 0 && !matches(keep)) || matches(remove);
        });
        for (const { name, value } of left.filter((each) => each !== undefined)) {
          if (value === undefined) gone.push(name);
          else fields[name] = value;
        }
        for (const name of gone) delete fields[name];
        return true;
      },
    };
  },
});

function compiled(expression: string): RegExp {
  return new RegExp(translateRubyRegexp(expression).source, "u");
}

/** Returns what says how a field's value changes: `value` is undefined if the field goes, and no answer means unchanged. */
function valueRule(nameOf: Format, test: Test, keeps: boolean): ValueRule {
  return (event, fields) => {
    const name = nameOf(event);
    const value = Object.hasOwn(fields, name) ? fields[name] : undefined;
    // Upstream a value that counts as false isn't a value.
    if (value === undefined || value === null || value === false || name === "@timestamp") return undefined;
    const stays = (each: unknown): boolean => test(event, valueText(each)) === keeps;
    if (!Array.isArray(value)) return stays(value) ? undefined : { name, value: undefined };
    const members = value.filter(stays);
    if (members.length === value.length) return undefined;
    return { name, value: members.length === 0 ? undefined : members };
  };
}
