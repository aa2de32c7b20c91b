/** What function values can do besides being called: comparators, predicates and functions that are put together. */

import { compare } from "#hub/scripts/values/operators.ts";
import { ScriptException } from "#hub/scripts/values/script-error.ts";
import { Callable, type Method } from "#hub/scripts/values/values.ts";
import { Entry } from "./maps.ts";
import { call } from "./members.ts";
import { orderOf } from "./strings.ts";

type Order = (a: unknown, b: unknown) => number;
type Static = (values: readonly unknown[]) => unknown;

/** Every functional interface's method calls the function. */
const CALLING = "get apply test accept compare run call applyAsInt applyAsLong applyAsDouble".split(" ");

const invoke: Method = (self: Callable, values) => self.call(...values);

/** By a key, or by a comparator alone. */
function byKey(keyOf: unknown, order: unknown): Order {
  const ordered = orderOf(order);
  return (a, b) => ordered(call(keyOf, a), call(keyOf, b));
}

const thenBy: Method = (self: Callable, [second, order]) => {
  const first = orderOf(self);
  // A function of one value gives the key; one of two compares.
  const next =
    second instanceof Callable && second.call.length === 1 ? byKey(second, order) : orderOf(second);
  return new Callable((a, b) => first(a, b) || next(a, b));
};

/** Methods of function values by name. */
export const FUNCTION_METHODS: ReadonlyMap<string, Method> = new Map<string, Method>([
  ...CALLING.map((name): [string, Method] => [name, invoke]),
  ["reversed", (self: Callable) => new Callable((a, b) => orderOf(self)(b, a))],
  ["thenComparing", thenBy],
  ["thenComparingInt", thenBy],
  ["thenComparingLong", thenBy],
  ["thenComparingDouble", thenBy],
  ["negate", (self: Callable) => new Callable((...values) => self.call(...values) !== true)],
  [
    "and",
    (self: Callable, [other]) =>
      new Callable((...values) => self.call(...values) === true && call(other, ...values) === true),
  ],
  [
    "or",
    (self: Callable, [other]) =>
      new Callable((...values) => self.call(...values) === true || call(other, ...values) === true),
  ],
  ["andThen", (self: Callable, [next]) => new Callable((...values) => call(next, self.call(...values)))],
  ["compose", (self: Callable, [first]) => new Callable((value) => self.call(call(first, value)))],
]);

const comparing: Static = ([keyOf, order]) => new Callable(byKey(keyOf, order));

/** null sorts before (-1) or after (1) all other values. */
function withNulls(order: unknown, sign: number): Callable {
  const compared = orderOf(order);
  return new Callable((a, b) => {
    const [x, y] = [a ?? null, b ?? null];
    if (x === null || y === null) return x === y ? 0 : x === null ? sign : -sign;
    return compared(x, y);
  });
}

/** Static methods of Comparator. */
export const COMPARATORS: Readonly<Record<string, Static>> = {
  naturalOrder: () => new Callable(compare),
  reverseOrder: () => new Callable((a, b) => compare(b, a)),
  comparing,
  comparingInt: comparing,
  comparingLong: comparing,
  comparingDouble: comparing,
  nullsFirst: ([order]) => withNulls(order, -1),
  nullsLast: ([order]) => withNulls(order, 1),
};

function entry(value: unknown): Entry {
  if (value instanceof Entry) return value;
  throw new ScriptException("ClassCastException", "an entry of a map was expected");
}

/** Static methods of Map.Entry. */
export const ENTRIES: Readonly<Record<string, Static>> = {
  comparingByKey: ([order]) => new Callable((a, b) => orderOf(order)(entry(a).key, entry(b).key)),
  comparingByValue: ([order]) => new Callable((a, b) => orderOf(order)(entry(a).value, entry(b).value)),
};

/** Static methods of Function and UnaryOperator. */
export const IDENTITY: Readonly<Record<string, Static>> = { identity: () => new Callable((value) => value) };
