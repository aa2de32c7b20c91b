/** A round: a random pipeline and random events, evaluated and run. */

import { Dice } from "../oracle/dice.ts";
import { configurationText, evaluate, type Step } from "./configuration.ts";
import { PlainEvent } from "./plain-event.ts";
import { inMessages, type Outcome, simulated } from "./product.ts";
import { filtersOf, isStateful, randomSteps } from "./random-steps.ts";
import { comparable, copyOf, type Hash, Refused, Unspecified } from "./values.ts";
import { fields, text } from "./vocabulary.ts";

export interface RoundResult {
  /** Events that were compared. */
  readonly events: number;
  readonly fault: string | undefined;
}

const MOST_EVENTS = 24;

export async function playRound(seed: number): Promise<RoundResult> {
  const dice = new Dice(seed);
  const steps = randomSteps(dice);
  const events = dice.times(dice.between(1, MOST_EVENTS), () => randomEvent(dice, steps));
  const { compared, fault, at } = await compare(seed, steps, events);
  if (fault === undefined || isStateful(steps)) return { events: compared, fault };
  return { events: compared, fault: await shortened(seed, steps, events[at]!, fault) };
}

/** Leaves out what the fault doesn't need. */
async function shortened(seed: number, steps: readonly Step[], event: Hash, fault: string): Promise<string> {
  let [left, shown] = [steps, fault];
  for (let at = left.length - 1; at >= 0; at--) {
    const step = left[at]!;
    const inner =
      step.kind === "if" ? [...step.cases.flatMap((each) => each.steps), ...(step.otherwise ?? [])] : [];
    const bare: Step[] = step.kind === "filter" ? [{ ...step, decorations: NO_DECORATIONS }] : inner;
    for (const instead of [[], bare]) {
      const fewer = left.toSpliced(at, 1, ...instead);
      const { fault: other } = await compare(seed, fewer, [event]);
      if (other === undefined) continue;
      [left, shown] = [fewer, other];
      break;
    }
  }
  return shown;
}

const NO_DECORATIONS = {
  addFields: new Map<string, string>(),
  removeFields: [],
  addTags: [],
  removeTags: [],
};

interface Comparison {
  readonly compared: number;
  readonly fault: string | undefined;
  /** Place of the event with the fault. */
  readonly at: number;
}

async function compare(seed: number, steps: readonly Step[], events: readonly Hash[]): Promise<Comparison> {
  const dice = new Dice(seed);
  const configuration = configurationText(steps, dice);
  const expected = events.map((event) => expectation(steps, event));
  if (isStateful(steps) && expected.includes(UNSPECIFIED)) return { compared: 0, fault: undefined, at: 0 };
  const ways: readonly [string, () => Promise<Outcome[]>][] = [
    ["event by event", () => simulated(configuration, events, dice.chance(0.3))],
    ["in messages", () => inMessages(configuration, events, dice)],
  ];
  for (const [way, run] of ways) {
    const found = await run().catch((error: unknown) => {
      throw new Error(configuration, { cause: error });
    });
    for (const [at, event] of events.entries()) {
      const fault = difference(expected[at]!, found[at], way === "in messages");
      if (fault !== undefined)
        return {
          compared: at,
          fault: `${way}:\n${configuration}\nevent    ${comparable(event)}\n${fault}`,
          at,
        };
    }
  }
  return { compared: expected.filter((each) => each !== UNSPECIFIED).length, fault: undefined, at: 0 };
}

const UNSPECIFIED = Symbol("unspecified");

function expectation(steps: readonly Step[], event: Hash): Outcome | typeof UNSPECIFIED {
  const data = copyOf(event) as Hash;
  const metadata = (data.get("@metadata") as Hash | undefined) ?? new Map();
  data.delete("@metadata");
  try {
    return evaluate(steps, [new PlainEvent(data, metadata)]).map(
      (each) => new Map([...each.data, ["@metadata", each.metadata]]),
    );
  } catch (error) {
    if (error instanceof Refused) return undefined;
    if (error instanceof Unspecified) return UNSPECIFIED;
    throw error;
  }
}

function randomEvent(dice: Dice, steps: readonly Step[]): Hash {
  const makers = filtersOf(steps).flatMap(({ message }) => message ?? []);
  const message = makers.length > 0 && dice.chance(0.85) ? dice.pick(makers)(dice) : text(dice);
  return fields(dice, dice.chance(0.05) ? undefined : message);
}

function difference(
  expected: Outcome | typeof UNSPECIFIED,
  found: Outcome,
  isWithoutMetadata: boolean,
): string | undefined {
  if (expected === UNSPECIFIED) return undefined;
  const [wanted, was] = [expected, found].map((outcome) =>
    outcome === undefined
      ? "refused"
      : outcome
          .map((each) => comparable(isWithoutMetadata ? without(each, "@metadata") : each))
          .toSorted()
          .join("\n         "),
  );
  return wanted === was ? undefined : `expected ${wanted}\nfound    ${was}`;
}

function without(event: Hash, name: string): Hash {
  const made = new Map(event);
  made.delete(name);
  return made;
}
