/**
 * Filter json.
 *
 * Not expected: an empty text; what follows a value; names with brackets, which the product has no reference for.
 */

import type { Dice } from "#test/fuzz/oracle/dice.ts";
import type { PlainFilter } from "../configuration.ts";
import { FieldError, type PlainEvent } from "../plain-event.ts";
import { type Hash, isHash, jsonOf, parsedJson, Time, textOf, Unspecified, type Value } from "../values.ts";
import { value as randomValue, reference } from "../vocabulary.ts";

const BROKEN = ["{", "x", '{"a":}', "[1,", "nul", '{"a" 1}'];
const OTHERS = ["[1, 2.0]", '"text"', "5", "true"];

export function json(dice: Dice): PlainFilter {
  const into = dice.chance(0.4) ? dice.pick(["js", "[n][js]", "[@metadata][js]", "a"]) : undefined;
  const source = dice.chance(0.7) ? "message" : reference(dice);
  const isSkipped = dice.chance(0.2) ? true : undefined;
  const tags = dice.chance(0.2) ? ["no_json", "bad"] : undefined;
  return {
    name: "json",
    options: { source, target: into, skip_on_invalid_json: isSkipped, tag_on_failure: tags },
    message: (dice) => {
      if (dice.chance(0.3)) return dice.pick([...BROKEN, ...OTHERS]);
      const names = dice.some(
        ["a", "b", "new", "ü", "d.ot", "n", "tags", "@timestamp", "__proto__"],
        dice.below(5),
      );
      return jsonOf(new Map(names.map((name) => [name, member(dice, name)])));
    },
    apply(event, { matched }) {
      const fail = (): void => {
        for (const tag of tags ?? ["_jsonparsefailure"]) event.tag(tag);
      };
      const value = event.get(source);
      if (value === undefined || value === null || value === false) return;
      let parsed: Value;
      try {
        parsed = jsonRead(value);
      } catch (error) {
        if (!(error instanceof SyntaxError)) throw error;
        if (isSkipped !== true) fail();
        return;
      }
      try {
        if (into !== undefined) event.set(into, parsed);
        else if (isHash(parsed)) spread(event, parsed);
        else {
          fail();
          return;
        }
        matched(event);
      } catch (error) {
        if (!(error instanceof FieldError)) throw error;
        fail();
      }
    },
  };
}

function member(dice: Dice, name: string): Value {
  if (name === "@timestamp") return dice.pick(["2020-01-02T03:04:05.678Z", "2021-03-04T05:06:07+02:00"]);
  if (name === "tags") return dice.pick<Value>(["one", ["one", "two"], null]);
  return randomValue(dice);
}

function jsonRead(value: Value): Value {
  if (typeof value !== "string") throw new SyntaxError("no text");
  if (/^\s*$/.test(value)) throw new Unspecified("an empty text");
  try {
    return parsedJson(value);
  } catch (error) {
    if (/^\s*(?:[-0-9"[{]|true|false|null)/.test(value) && !BROKEN.includes(value))
      throw new Unspecified("what follows a value");
    throw error;
  }
}

function spread(event: PlainEvent, parsed: Hash): void {
  const time = parsed.get("@timestamp");
  if (time !== undefined && textOf(time) !== textOf(time).toUpperCase())
    throw new Unspecified("small letters of a time");
  for (const [key, value] of parsed) if (key !== "@timestamp") event.set(key, value);
  if (time !== undefined) event.set("@timestamp", new Time(Date.parse(textOf(time))));
}
