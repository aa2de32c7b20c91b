/** Random conditions, evaluated as EventCondition.java of Logstash does. */

import type { Dice } from "../oracle/dice.ts";
import { type PlainEvent, pathOf, referenceTo } from "./plain-event.ts";
import { comparable, isHash, Refused, Time, textOf, Unspecified, type Value } from "./values.ts";
import { reference, word } from "./vocabulary.ts";

export interface Condition {
  readonly text: string;
  /** Throws Refused where two values have no order. */
  readonly holds: (event: PlainEvent) => boolean;
}

/** A constant or a field of a condition. */
interface Operand {
  readonly text: string;
  readonly of: (event: PlainEvent) => Value;
  readonly isField: boolean;
}

export function randomCondition(dice: Dice, depth = 0): Condition {
  const kind = depth > 2 ? 0 : dice.below(10);
  if (kind < 5) return simple(dice);
  if (kind < 6) {
    const inner = randomCondition(dice, depth + 1);
    return { text: `!(${inner.text})`, holds: (event) => !inner.holds(event) };
  }
  if (kind < 8) return joined(dice, depth);
  return exclusive(dice, depth);
}

/** `and` is before `or`, so that neither needs parentheses. */
function joined(dice: Dice, depth: number): Condition {
  const groups = dice.times(dice.between(1, 3), () =>
    dice.times(dice.between(1, 2), () => {
      const inner = randomCondition(dice, depth + 1);
      return {
        ...inner,
        text: dice.chance(0.3) || / (?:and|or|xor|nand) /.test(inner.text) ? `(${inner.text})` : inner.text,
      };
    }),
  );
  return {
    text: groups.map((group) => group.map(({ text }) => text).join(" and ")).join(" or "),
    holds: (event) => groups.some((group) => group.every(({ holds }) => holds(event))),
  };
}

function exclusive(dice: Dice, depth: number): Condition {
  const [one, other] = [randomCondition(dice, depth + 1), randomCondition(dice, depth + 1)];
  const isXor = dice.chance(0.5);
  return {
    text: `(${one.text}) ${isXor ? "xor" : "nand"} (${other.text})`,
    holds: isXor
      ? (event) => one.holds(event) !== other.holds(event)
      : (event) => !(one.holds(event) && other.holds(event)),
  };
}

function simple(dice: Dice): Condition {
  return dice.pick([truthy, equality, equality, order, order, membership, membership, matching, matching])(
    dice,
  );
}

function field(dice: Dice): Operand {
  const name = reference(dice);
  const text = name.startsWith("[") ? name : `[${name}]`;
  return { text, of: (event) => event.get(referenceTo(pathOf(text))) ?? null, isField: true };
}

function constant(dice: Dice): Operand {
  const made: Value = dice.pick([
    word(dice),
    word(dice),
    BigInt(dice.between(-3, 12)),
    dice.pick([0.5, -2.25, 5.25]),
  ]);
  return {
    text: typeof made === "string" ? dice.pick([`"${made}"`, `'${made}'`]) : String(made),
    of: () => made,
    isField: false,
  };
}

function truthy(dice: Dice): Condition {
  const { text, of } = field(dice);
  const holds = (event: PlainEvent): boolean => {
    const value = of(event);
    return value !== null && value !== "" && value !== false && value !== "false";
  };
  return dice.chance(0.3) ? { text: `!${text}`, holds: (event) => !holds(event) } : { text, holds };
}

function pair(dice: Dice): [Operand, Operand] {
  const operands: [Operand, Operand] = [field(dice), dice.chance(0.3) ? field(dice) : constant(dice)];
  return dice.chance(0.2) ? [operands[1], operands[0]] : operands;
}

function isNumber(value: Value): value is bigint | number {
  return typeof value === "bigint" || typeof value === "number";
}

function areEqual(one: Value, other: Value): boolean {
  if (isNumber(one) && isNumber(other)) {
    if (typeof one !== typeof other && Number(one) === Number(other))
      throw new Unspecified("1 and 1.0 are equal to constants, not to fields");
    return one === other;
  }
  if (isHash(one) || Array.isArray(one)) {
    if (/[0-9]/.test(comparable(one))) throw new Unspecified("numbers within lists and hashes");
    return comparable(one) === comparable(other);
  }
  if (one instanceof Time || other instanceof Time) throw new Unspecified("times");
  return one === other;
}

function equality(dice: Dice): Condition {
  const [left, right] = pair(dice);
  const isEqual = dice.chance(0.5);
  return {
    text: `${left.text}${dice.pick([" ", ""])}${isEqual ? "==" : "!="} ${right.text}`,
    holds: (event) => areEqual(left.of(event), right.of(event)) === isEqual,
  };
}

/** Texts are in the order of their bytes. */
function compared(one: Value, other: Value): number {
  if (typeof one === "string" && typeof other === "string")
    return Buffer.compare(Buffer.from(one), Buffer.from(other));
  if (isNumber(one) && isNumber(other)) return one < other ? -1 : one > other ? 1 : 0;
  throw new Refused("no order");
}

const ORDERS: Readonly<Record<string, (order: number) => boolean>> = {
  "<": (order) => order < 0,
  "<=": (order) => order <= 0,
  ">": (order) => order > 0,
  ">=": (order) => order >= 0,
};

function order(dice: Dice): Condition {
  const [left, right] = pair(dice);
  const operator = dice.pick(Object.keys(ORDERS));
  return {
    text: `${left.text} ${operator} ${right.text}`,
    holds: (event) => ORDERS[operator]!(compared(left.of(event), right.of(event))),
  };
}

function membership(dice: Dice): Condition {
  const made = dice.pick([inList, inText, constantInField, fieldInField])(dice);
  if (dice.chance(0.5)) return made;
  return { text: made.text.replace(" in ", " not in "), holds: (event) => !made.holds(event) };
}

/** The texts of value and items are compared. */
function inList(dice: Dice): Condition {
  const left = field(dice);
  const items = dice.times(dice.between(1, 3), () => constant(dice));
  return {
    text: `${left.text} in [${items.map(({ text }) => text).join(dice.pick([", ", ","]))}]`,
    holds(event) {
      const value = left.of(event);
      if (value === null) return false;
      return items.some(({ of }) => textOf(of(event)) === textOf(value));
    },
  };
}

function inText(dice: Dice): Condition {
  const left = field(dice);
  const text = `${word(dice)}${word(dice)}`;
  return {
    text: `${left.text} in "${text}"`,
    holds(event) {
      const value = left.of(event);
      return typeof value === "string" && text.includes(value);
    },
  };
}

function constantInField(dice: Dice): Condition {
  const [left, right] = [constant(dice), field(dice)];
  return {
    text: `${left.text} in ${right.text}`,
    holds(event) {
      const [value, found] = [left.of(event), right.of(event)];
      if (Array.isArray(found)) return found.some((each) => areEqual(value, each));
      if (typeof found === "string") return typeof value === "string" && found.includes(value);
      if (isNumber(found) && isNumber(value) && Number(found) === Number(value))
        throw new Unspecified("a number in an equal number");
      return false;
    },
  };
}

function fieldInField(dice: Dice): Condition {
  const [left, right] = [field(dice), field(dice)];
  return {
    text: `${left.text} in ${right.text}`,
    holds(event) {
      const [value, found] = [left.of(event), right.of(event)];
      if (Array.isArray(value) || isHash(value)) return false;
      if (typeof value === "string" && typeof found === "string") return found.includes(value);
      if (Array.isArray(found)) {
        if (value === null) throw new Unspecified("a missing field in a list");
        return found.some((each) => areEqual(value, each));
      }
      return value !== null && areEqual(value, found);
    },
  };
}

/** Expressions with the same meaning here. */
const EXPRESSIONS: readonly [ruby: string, here: RegExp][] = [
  ["^one$", /(?<![^\n])one(?![^\n])/],
  ["[0-9]+", /[0-9]+/],
  ["^\\s", /(?<![^\n])[ \t\r\n\f\v]/],
  ["\\w+\\.\\w", /\w+\.\w/],
  ["(?i)tWO", /two/i],
  ["o.e|x$", /o[^\n]e|x(?![^\n])/],
  ["ü", /ü/],
  ["^.$", /(?<![^\n])[^\n](?![^\n])/u],
  ["\\Ax", /^x/],
  ["x\\z", /x$/],
  ["[[:upper:]]", /\p{Lu}/u],
];

function matching(dice: Dice): Condition {
  const left = field(dice);
  const [ruby, here] = dice.pick(EXPRESSIONS);
  const matches = dice.chance(0.5);
  return {
    text: `${left.text} ${matches ? "=~" : "!~"} ${dice.chance(0.7) ? `/${ruby}/` : `"${ruby}"`}`,
    holds(event) {
      const value = left.of(event);
      return (typeof value === "string" && here.test(value)) === matches;
    },
  };
}
