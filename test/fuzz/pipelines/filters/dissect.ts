/**
 * Filter dissect, as Dissector.java cuts a text.
 *
 * Not expected: an empty first field, from which its source reads on at the start of the text; conversions after the options that
 * all filters have, as the product does these last; several fields that name another by one name.
 */

import type { Dice } from "#test/fuzz/oracle/dice.ts";
import type { PlainFilter } from "../configuration.ts";
import { FieldError, type PlainEvent } from "../plain-event.ts";
import { isHash, textOf, Unspecified } from "../values.ts";
import { reference, word } from "../vocabulary.ts";

interface DissectField {
  readonly before: string;
  readonly kind: "skip" | "normal" | "append" | "indirect";
  readonly name: string;
  readonly order: number;
  readonly isPadded: boolean;
}

const DELIMITERS = [" ", ",", " - ", ": ", "|", "ü", "]["];

function dissectField(dice: Dice, at: number): DissectField {
  const kind = dice.pick(["normal", "normal", "normal", "skip", "append", "indirect"] as const);
  const before = at === 0 ? dice.pick(["", "", "<", "- "]) : dice.pick(DELIMITERS);
  const name = dice.pick(["a", "b", "f1", "f2", "[n][f]", "[@metadata][f]", "ü"]);
  const order = kind === "append" && dice.chance(0.5) ? dice.between(1, 4) : 0;
  const isUnnamed = kind === "skip" && dice.chance(0.5);
  return { before, kind, name: isUnnamed ? "" : name, order, isPadded: !isUnnamed && dice.chance(0.2) };
}

const SIGNS = { skip: "?", normal: "", append: "+", indirect: "&" };

function fieldText({ kind, name, order, isPadded }: DissectField): string {
  if (kind === "skip" && name === "") return "%{}";
  return `%{${SIGNS[kind]}${name}${order > 0 ? `/${order}` : ""}${isPadded ? "->" : ""}}`;
}

export function dissect(dice: Dice): PlainFilter {
  const fields = dice.times(dice.between(1, 4), (at) => dissectField(dice, at));
  const end = dice.chance(0.2) ? dice.pick(["!", " end"]) : "";
  const all =
    end === ""
      ? fields
      : [...fields, { before: end, kind: "skip", name: "", order: 0, isPadded: false } as const];
  const source = dice.chance(0.8) ? "message" : reference(dice);
  const convert = new Map(
    dice.some(["a", "f1", "[n][f]"], dice.below(3)).map((name) => [name, dice.pick(["int", "float"])]),
  );
  const mapping = fields.map((field) => field.before + fieldText(field)).join("") + end;
  return {
    name: "dissect",
    options: {
      mapping: new Map([[source, mapping]]),
      convert_datatype: convert.size > 0 ? convert : undefined,
    },
    message: (dice) => {
      const parts = fields.map(({ before, isPadded }) => {
        const gap = isPadded && dice.chance(0.5) ? 2 : 1;
        return (
          dice.pick(["", ...Array<string>(9).fill(before)]) +
          dice.pick([word(dice), "12", "-3.75", "x"]) +
          (gap > 1 ? "  " : "")
        );
      });
      return parts.join("") + end;
    },
    apply(event, { matched }) {
      try {
        const fits = dissectInto(event, source, all);
        for (const [name, kind] of convert) convertField(event, name, kind);
        if (fits) matched(event);
      } catch (error) {
        if (!(error instanceof FieldError)) throw error;
        event.tag("_dissectfailure");
      }
    },
  };
}

function dissectInto(event: PlainEvent, source: string, fields: readonly DissectField[]): boolean {
  if (!event.has(source)) return false;
  const value = event.get(source)!;
  if (typeof value !== "string" && typeof value !== "bigint") throw new Unspecified("to_s of others");
  const values = value === "" ? undefined : dissected(textOf(value), fields);
  if (values === undefined) {
    event.tag("_dissectfailure");
    return false;
  }
  const places = [...fields.keys()];
  for (const at of places) if (fields[at]!.kind === "normal") event.set(fields[at]!.name, values[at]!);
  const appended = places.filter((at) => fields[at]!.kind === "append");
  appended.sort((one, other) => fields[one]!.order - fields[other]!.order);
  for (const at of appended) append(event, fields[at]!, values[at]!);
  for (const at of places) if (fields[at]!.kind === "indirect") indirect(event, fields, values, at);
  return true;
}

/** Dissector.java; undefined: the text doesn't fit. */
function dissected(text: string, fields: readonly DissectField[]): string[] | undefined {
  let at = fields[0]!.before.length;
  if (!text.startsWith(fields[0]!.before)) return undefined;
  const values: string[] = [];
  for (const [place, { isPadded }] of fields.entries()) {
    const next = fields[place + 1]?.before;
    if (next === undefined) {
      values.push(text.slice(at));
      return values;
    }
    const end = text.indexOf(next, at);
    if (end < 0) return undefined;
    if (end === 0) throw new Unspecified("an empty first field");
    values.push(text.slice(at, end));
    at = end + next.length;
    while (isPadded && text.startsWith(next, at)) at += next.length;
  }
  return values;
}

function append(event: PlainEvent, { name, before }: DissectField, value: string): void {
  const old = event.has(name) ? event.get(name)! : undefined;
  if (old === null) throw new Unspecified("appending to null");
  event.set(name, old === undefined ? value : textOf(old) + (before === "" ? " " : before) + value);
}

function indirect(
  event: PlainEvent,
  fields: readonly DissectField[],
  values: readonly string[],
  at: number,
): void {
  const { name } = fields[at]!;
  const other = fields.findIndex((field, place) => place !== at && field.name === name);
  const sharing = fields.filter((field) => field.name === name);
  if (sharing.length > 2 || sharing.filter(({ kind }) => kind === "indirect").length > 1)
    throw new Unspecified("which of several fields names it");
  const key = event.has(name) ? textOf(event.get(name)) : (values[other] ?? "");
  if (event.has(name) && event.get(name) === null) throw new Unspecified("a name that is null");
  if (key !== "") event.set(key, values[at]!);
}

function convertField(event: PlainEvent, name: string, kind: string): void {
  const value = event.get(name);
  if (value === undefined || value === null) {
    event.tag(`_dataconversionnullvalue_${name}_${kind}`);
    return;
  }
  if (Array.isArray(value) || isHash(value) || typeof value === "boolean") {
    event.tag(`_dataconversionuncoercible_${name}_${kind}`);
    return;
  }
  const text = textOf(value);
  if (!/^[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?$/.test(text)) {
    event.tag(`_dataconversionuncoercible_${name}_${kind}`);
    return;
  }
  if (kind === "float") event.set(name, Number(text));
  else if (Math.abs(Number(text)) < 2 ** 53) event.set(name, BigInt(Math.trunc(Number(text))));
  else throw new Unspecified("large numbers");
}
