/** Walking through the members of anything that has some, and the limits of collections. */

import { equals, toDouble, toInteger } from "#hub/scripts/values/operators.ts";
import { ScriptException } from "#hub/scripts/values/script-error.ts";
import {
  Callable,
  type CallContext,
  Decimal,
  isMap,
  print,
  ScriptObject,
  weigh,
} from "#hub/scripts/values/values.ts";
import { bounded } from "./strings.ts";

/** Lists and maps that scripts make may have so many members. */
export const MAX_MEMBERS = 100_000;

/** Refuses one member more where a collection is full, and counts it. */
export function grow(size: number, context: CallContext): void {
  context.spend(1);
  if (size < MAX_MEMBERS) return;
  throw new ScriptException(
    "IllegalArgumentException",
    `a collection may have at most ${MAX_MEMBERS} members`,
  );
}

/** Calls a function of a script. Throws ClassCastException for what is none. */
export function call(callable: unknown, ...values: unknown[]): unknown {
  if (callable instanceof Callable) return callable.call(...values);
  throw new ScriptException("ClassCastException", "a function was expected");
}

/** Members that one step copies, as a power of two. */
const COPIED_SHIFT = 4;
/** Members that one step moves within a list, as a power of two. */
export const MOVED_SHIFT = 7;

/**
 * Returns the members of anything that can be walked through: a list itself, a copy of others, for which it spends steps.
 * Throws where it can't.
 */
export function membersOf(value: unknown, context: CallContext): unknown[] {
  if (Array.isArray(value)) return value;
  if (value instanceof Set || (value instanceof ScriptObject && Symbol.iterator in value)) {
    const members = [...(value as Iterable<unknown>)];
    context.spend(members.length >> COPIED_SHIFT);
    return members;
  }
  if ((value ?? null) === null) throw new ScriptException("NullPointerException", null);
  throw new ScriptException("IllegalArgumentException", `Cannot iterate over [${typeName(value)}]`);
}

function typeName(value: unknown): string {
  return isMap(value) ? "HashMap" : typeof value;
}

/** The position of a list that `index` means; a negative one counts from the end. Throws IndexOutOfBoundsException. */
export function positionIn(list: readonly unknown[], index: unknown): number {
  const given = toInteger(index);
  const at = given < 0 ? given + list.length : given;
  if (at >= 0 && at < list.length) return at;
  throw new ScriptException("IndexOutOfBoundsException", `Index: ${given}, Size: ${list.length}`);
}

/** Returns whether a list has a member that is equal to the value. Spends what it costs to walk through the list. */
export function has(list: readonly unknown[], value: unknown, context: CallContext): boolean {
  context.spend(1 + (list.length >> 3));
  return list.some((each) => equals(each, value, context));
}

/** Spends a step for each member and returns what `use` makes of them. */
export function walk<T>(self: unknown, context: CallContext, use: (members: unknown[]) => T): T {
  const members = membersOf(self, context);
  context.spend(members.length);
  return use(members);
}

/** Returns false for null. */
export function isPresent(value: unknown): boolean {
  return (value ?? null) !== null;
}

/** Returns the first result that isn't null of `[otherwise,] change`; `otherwise` or null if there is none. */
export function firstResult<T>(
  members: readonly T[],
  values: readonly unknown[],
  apply: (change: unknown, one: T) => unknown,
): unknown {
  const otherwise = values.length > 1 ? values[0] : null;
  for (const one of members) {
    const result = apply(values.at(-1), one);
    if (isPresent(result)) return result;
  }
  return otherwise;
}

/** Joins what members print. Spends for the separators before there are any. */
export function joined(members: readonly unknown[], separator: string, context: CallContext): string {
  weigh(members, context);
  context.spend((members.length * separator.length) >> 6);
  return bounded(members.map((one) => print(one)).join(separator), context);
}

/** Returns the sum of numbers; with a fraction where one has. */
export function sum(members: readonly unknown[]): unknown {
  const total = members.reduce<number>((all, one) => all + toDouble(one), 0);
  return members.some((one) => one instanceof Decimal) ? new Decimal(total) : total;
}

/** Groups members in a map of lists. */
export function grouped(
  members: readonly unknown[],
  keyOf: (one: unknown) => unknown,
): Map<unknown, unknown[]> {
  const groups = new Map<unknown, unknown[]>();
  for (const one of members) {
    const key = keyOf(one);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [one]);
    else group.push(one);
  }
  return groups;
}
