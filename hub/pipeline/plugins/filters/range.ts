/** Filter range: an action where a number, or the length of a text, is within a range. */

import { defineFilter, type FilterContext } from "#hub/pipeline/plugins/filter.ts";
import { numberOf } from "#proto/codec/json.ts";
import type { Event } from "#proto/event.ts";
import { type FieldReference, fieldReference } from "#proto/field-reference.ts";
import { compileFormat } from "#proto/format.ts";
import { flag, options } from "#proto/kit/options.ts";
import { Type } from "#proto/kit/schema.ts";

export const rangeFilter = defineFilter({
  name: "range",
  description: "tags, drops or extends events with a number or a length of text within a range",
  options: options({
    ranges: Type.Array(Type.Unknown(), {
      description:
        "field, least, most, action, in fours; actions: drop, tag:NAME, field:NAME:VALUE, names and values as formats",
      default: [],
    }),
    negate: flag("acts where the value is out of the range", false),
  }),
  create({ ranges, negate }, { report }) {
    if (ranges.length % 4 !== 0)
      report("error", "ranges", "ranges needs field, least, most and action, in fours");
    const checks: Check[] = [];
    for (let at = 0; at + 4 <= ranges.length; at += 4) {
      const check = compileCheck(ranges.slice(at, at + 4), report);
      if (check !== undefined) checks.push(check);
    }
    return {
      apply(event) {
        for (const { field, least, most, act } of checks) {
          const size = sizeOf(event.get(field));
          const isWithin = size !== undefined && size >= least && size <= most;
          if (!event.has(field) || isWithin === negate) continue;
          act(event);
          if (event.cancelled) return false;
        }
        return true;
      },
    };
  },
});

interface Check {
  readonly field: FieldReference;
  readonly least: number;
  readonly most: number;
  readonly act: (event: Event) => void;
}

/** Returns a number as it is, and how many characters a text has. */
function sizeOf(value: unknown): number | undefined {
  return typeof value === "string" ? Array.from(value).length : numberOf(value);
}

function compileCheck(
  [name, least, most, action]: readonly unknown[],
  report: FilterContext["report"],
): Check | undefined {
  const act = typeof action === "string" ? compileAction(action) : undefined;
  if (act === undefined)
    report(
      "error",
      "ranges",
      `${JSON.stringify(action)} isn't an action`,
      "write drop, tag:NAME or field:NAME:VALUE",
    );
  if (typeof name !== "string" || typeof least !== "number" || typeof most !== "number")
    report(
      "error",
      "ranges",
      "each range needs a field's name and two numbers",
      'write: "field", 1, 10, "drop"',
    );
  else if (act !== undefined) return { field: fieldReference(name), least, most, act };
  return undefined;
}

function compileAction(action: string): ((event: Event) => void) | undefined {
  const [kind, name = "", value = "", ...more] = action.split(":");
  const count = action.split(":").length;
  if (kind === "drop" && count === 1) return (event) => event.cancel();
  const format = compileFormat(name);
  if (kind === "tag" && count === 2) return (event) => event.tag(format(event));
  if (kind !== "field" || count !== 3 || more.length > 0) return undefined;
  const make = compileFormat(value);
  const number = String(Number(value)) === value ? Number(value) : undefined;
  return (event) => {
    const reference = fieldReference(format(event));
    const before = event.get(reference);
    if (before === undefined || before === null) event.set(reference, number ?? make(event));
    else event.set(reference, [...(Array.isArray(before) ? before : [before]), make(event)]);
  };
}
