/** Random steps of a pipeline with their text, and what a plain evaluation makes of events. */

import type { Dice } from "../oracle/dice.ts";
import type { Condition } from "./conditions.ts";
import { FieldError, type PlainEvent } from "./plain-event.ts";
import { sprintf } from "./sprintf.ts";
import { isHash, Unspecified, type Value } from "./values.ts";

/** A table is a map. */
export type OptionValue =
  | string
  | number
  | boolean
  | readonly OptionValue[]
  | ReadonlyMap<string, OptionValue>;
export type Options = Readonly<Record<string, OptionValue | undefined>>;

/** What a filter does with the events that it makes or has handled. */
export interface Run {
  /** Applies the options that all filters have. */
  readonly matched: (event: PlainEvent) => void;
  readonly emit: (event: PlainEvent) => void;
}

export interface PlainFilter {
  readonly name: string;
  readonly options: Options;
  readonly apply: (event: PlainEvent, run: Run) => void;
  /** Texts that it is made for. */
  readonly message?: (dice: Dice) => string;
}

/** Options of all filters. */
export interface Decorations {
  readonly addFields: ReadonlyMap<string, string | readonly string[]>;
  readonly removeFields: readonly string[];
  readonly addTags: readonly string[];
  readonly removeTags: readonly string[];
}

export type Step =
  | { readonly kind: "filter"; readonly filter: PlainFilter; readonly decorations: Decorations }
  | { readonly kind: "if"; readonly cases: readonly Case[]; readonly otherwise: readonly Step[] | undefined };

interface Case {
  readonly condition: Condition;
  readonly steps: readonly Step[];
}

/** Returns the events that leave the steps. Throws Refused, Unspecified. */
export function evaluate(steps: readonly Step[], events: readonly PlainEvent[]): PlainEvent[] {
  let current = [...events];
  for (const step of steps) {
    if (step.kind === "filter") current = current.flatMap((event) => filtered(step, event));
    else current = current.flatMap((event) => evaluate(chosen(step, event), [event]));
  }
  return current;
}

function chosen({ cases, otherwise }: Step & { kind: "if" }, event: PlainEvent): readonly Step[] {
  return cases.find(({ condition }) => condition.holds(event))?.steps ?? otherwise ?? [];
}

function filtered({ filter, decorations }: Step & { kind: "filter" }, event: PlainEvent): PlainEvent[] {
  const made: PlainEvent[] = [];
  try {
    filter.apply(event, {
      matched: (each) => decorate(each, decorations),
      emit: (each) => made.push(each),
    });
  } catch (error) {
    if (error instanceof FieldError) throw new Unspecified(`an error that ${filter.name} doesn't rescue`);
    throw error;
  }
  return [event, ...made].filter(({ isCancelled }) => !isCancelled);
}

/** `filter_matched` of filters/base.rb. */
function decorate(event: PlainEvent, { addFields, removeFields, addTags, removeTags }: Decorations): void {
  for (const [name, formats] of addFields) {
    const field = sprintf(event, name);
    for (const format of typeof formats === "string" ? [formats] : formats) {
      const text = sprintf(event, format);
      event.set(field, event.has(field) ? [...arrayOf(event.get(field)), text] : text);
    }
  }
  for (const name of removeFields) event.remove(sprintf(event, name));
  if (addTags.length > 0) {
    const tags = addTags.map((tag) => sprintf(event, tag));
    event.set("tags", [...arrayOf(event.get("tags")), ...tags]);
  }
  const tags = removeTags.length > 0 ? event.get("tags") : undefined;
  if (tags === undefined || tags === null) return;
  const removed = removeTags.map((tag) => sprintf(event, tag));
  event.set(
    "tags",
    arrayOf(tags).filter((tag) => !removed.includes(tag as string)),
  );
}

/** `Array(value)` of Ruby. */
export function arrayOf(value: Value | undefined): Value[] {
  if (isHash(value)) throw new Unspecified("Array() of a hash");
  if (value === undefined || value === null) return [];
  return Array.isArray(value) ? value : [value];
}

/** Returns the text of a pipeline, with random layout and comments. */
export function configurationText(steps: readonly Step[], dice: Dice): string {
  const printer = new Printer(dice);
  return `${printer.gap()}filter${printer.gap()}{\n${printer.steps(steps, 1)}}${printer.gap()}\n`;
}

class Printer {
  readonly #dice: Dice;

  constructor(dice: Dice) {
    this.#dice = dice;
  }

  gap(): string {
    return this.#dice.pick([" ", " ", " ", "\n", "\t", ' # a comment { " } =>\n', ""]);
  }

  steps(steps: readonly Step[], depth: number): string {
    return steps.map((step) => `${"  ".repeat(depth)}${this.#step(step, depth)}\n`).join("");
  }

  #step(step: Step, depth: number): string {
    if (step.kind === "filter") return this.#plugin(step.filter, step.decorations);
    const block = (inner: readonly Step[]): string =>
      `${this.gap()}{${this.#comment()}\n${this.steps(inner, depth + 1)}${"  ".repeat(depth)}}`;
    const cases = step.cases.map(
      ({ condition, steps }, at) => `${at === 0 ? "if" : "else if"} ${condition.text}${block(steps)}`,
    );
    if (step.otherwise !== undefined) cases.push(`else${block(step.otherwise)}`);
    return cases.join(this.gap());
  }

  #comment(): string {
    return this.#dice.chance(0.1) ? " # \"quotes' here" : "";
  }

  #plugin({ name, options }: PlainFilter, decorations: Decorations): string {
    const all: [string, OptionValue | undefined][] = [
      ...Object.entries(options),
      ...decorationOptions(decorations),
    ];
    const texts = all
      .filter(([, value]) => value !== undefined)
      .map(([key, value]) => `${key}${this.gap()}=>${this.gap()}${this.#value(value!)}`);
    return `${name}${this.gap()}{ ${texts.join(this.#dice.pick([" ", "\n      "]))} }`;
  }

  #value(value: OptionValue): string {
    if (typeof value === "string") return this.#text(value);
    if (typeof value !== "object") return String(value);
    if (value instanceof Map) {
      const members = [...(value as ReadonlyMap<string, OptionValue>)].map(
        ([key, each]) => `${this.#text(key)} => ${this.#value(each)}`,
      );
      return `{ ${members.join(this.#dice.pick([" ", "\n        "]))} }`;
    }
    const items = value as readonly OptionValue[];
    return `[${this.gap()}${items.map((each) => this.#value(each)).join(`,${this.gap()}`)} ]`;
  }

  #text(value: string): string {
    if (/^[A-Za-z_][A-Za-z0-9_]+$/.test(value) && this.#dice.chance(0.2)) return value;
    return quoted(value, this.#dice);
  }
}

/** Texts stand as they are between quotes; random ones never have both kinds of quotes. */
export function quoted(value: string, dice: Dice): string {
  if (value.includes('"')) return `'${value}'`;
  return value.includes("'") || dice.chance(0.7) ? `"${value}"` : `'${value}'`;
}

function decorationOptions(decorations: Decorations): [string, OptionValue][] {
  const { addFields, removeFields, addTags, removeTags } = decorations;
  const options: [string, OptionValue][] = [];
  if (addFields.size > 0) options.push(["add_field", addFields]);
  if (removeFields.length > 0) options.push(["remove_field", removeFields]);
  if (addTags.length > 0) options.push(["add_tag", addTags]);
  if (removeTags.length > 0) options.push(["remove_tag", removeTags]);
  return options;
}
