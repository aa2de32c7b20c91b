/** Random steps of a pipeline. */

import type { Dice } from "../oracle/dice.ts";
import { randomCondition } from "./conditions.ts";
import type { Decorations, PlainFilter, Step } from "./configuration.ts";
import { csv } from "./filters/csv.ts";
import { date } from "./filters/date.ts";
import { dissect } from "./filters/dissect.ts";
import { clone, deDot, drop, prune, split } from "./filters/events.ts";
import { grok } from "./filters/grok.ts";
import { json } from "./filters/json.ts";
import { kv } from "./filters/kv.ts";
import { mutate, plainMutate } from "./filters/mutate.ts";
import { aggregate, throttle } from "./filters/stateful.ts";
import { bytes, fingerprint, truncate, urldecode } from "./filters/texts.ts";
import { translate } from "./filters/translate.ts";
import { format, reference, target } from "./vocabulary.ts";

/** By how often they are chosen. */
const FILTERS: readonly ((dice: Dice) => PlainFilter)[] = [
  ...Array.from({ length: 6 }, () => mutate),
  ...Array.from({ length: 2 }, () => [plainMutate, kv, csv, json, dissect, grok, date, translate]).flat(),
  grok,
  truncate,
  urldecode,
  bytes,
  fingerprint,
  split,
  clone,
  prune,
  deDot,
];
const STATEFUL = [throttle, aggregate];
const STATEFUL_NAMES: ReadonlySet<string> = new Set(["throttle", "aggregate"]);

/** The first filter gives events the texts that it is made for. */
export function randomSteps(dice: Dice): Step[] {
  const all = dice.chance(0.1)
    ? [...FILTERS, ...Array.from({ length: 20 }, () => dice.pick(STATEFUL))]
    : FILTERS;
  return dice.times(dice.between(1, 4), () => randomStep(dice, all, 0));
}

function randomStep(dice: Dice, filters: typeof FILTERS, depth: number): Step {
  if (depth > 1 || dice.chance(0.65)) {
    const filter = depth > 0 && dice.chance(0.1) ? drop() : dice.pick(filters)(dice);
    return { kind: "filter", filter, decorations: randomDecorations(dice) };
  }
  const steps = (): Step[] => dice.times(dice.below(3), () => randomStep(dice, filters, depth + 1));
  const cases = dice.times(dice.between(1, 3), () => ({ condition: randomCondition(dice), steps: steps() }));
  return { kind: "if", cases, otherwise: dice.chance(0.5) ? steps() : undefined };
}

function randomDecorations(dice: Dice): Decorations {
  const some = <T>(probability: number, make: () => T): T[] =>
    dice.chance(probability) ? dice.times(dice.between(1, 2), make) : [];
  return {
    addFields: new Map(
      some(0.3, () => [
        dice.chance(0.2) ? `${target(dice).replace(/^\[.*/, "f")}_%{b}` : target(dice),
        dice.chance(0.2) ? [format(dice), format(dice)] : format(dice),
      ]),
    ),
    removeFields: some(0.15, () => reference(dice)),
    addTags: some(0.2, () => (dice.chance(0.3) ? format(dice) : dice.pick(["t1", "new tag", "Ä"]))),
    removeTags: some(0.15, () => dice.pick(["t1", "t2", "Ä", "%{b}"])),
  };
}

/** Returns all filters of the steps, those under conditions too. */
export function filtersOf(steps: readonly Step[]): PlainFilter[] {
  return steps.flatMap((step) =>
    step.kind === "filter"
      ? [step.filter]
      : [...step.cases.flatMap((each) => filtersOf(each.steps)), ...filtersOf(step.otherwise ?? [])],
  );
}

export function isStateful(steps: readonly Step[]): boolean {
  return filtersOf(steps).some(({ name }) => STATEFUL_NAMES.has(name));
}
