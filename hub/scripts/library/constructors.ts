/** What makes objects of the classes that scripts may construct. */

import { compare, toInteger } from "#hub/scripts/values/operators.ts";
import { Callable, type CallContext, isNumber, isWhole, print } from "#hub/scripts/values/values.ts";
import { DateTime } from "./dates.ts";
import { Formatter } from "./formatters.ts";
import type { AnyMap } from "./maps.ts";
import { entriesOf } from "./maps.ts";
import { membersOf } from "./members.ts";
import { Cidr } from "./networks.ts";
import type { Static, Statics } from "./number-statics.ts";
import { SortedMap, SortedSet } from "./sorted.ts";
import { counted } from "./statics.ts";
import { orderOf, StringBuilder, StringTokenizer } from "./strings.ts";

/** A network is kept outside of the script's values, which count by themselves. */
const CIDR_STEPS = 64;

/** What these cost, a step for 8 members, is spent before the call: see counted(). */
const list: Static = ([from], context) => (isNumber(from) ? [] : [...membersIn(from, context)]);
const map: Static = ([from]) => new Map(isNumber(from) ? [] : entriesIn(from));
const set: Static = ([from], context) => new Set(isNumber(from) ? [] : membersIn(from, context));

/** Members are compared when they are inserted, so that each costs a step. */
const sortedMap: Static = ([from], context) => {
  if (isOrder(from)) return new SortedMap(orderOf(from));
  const entries = entriesIn(from);
  context.spend(entries.length);
  return SortedMap.from(entries, compare, context);
};
const sortedSet: Static = ([from], context) => {
  if (isOrder(from)) return new SortedSet(orderOf(from));
  const members = membersIn(from, context);
  context.spend(members.length);
  return SortedSet.from(members, compare, context);
};

/** Returns the entries of a map, of nothing none. */
function entriesIn(from: unknown): [unknown, unknown][] {
  return from === undefined ? [] : entriesOf(from as AnyMap);
}

/** Returns the members of a collection, of nothing none. */
function membersIn(from: unknown, context: CallContext): unknown[] {
  return from === undefined ? [] : membersOf(from, context);
}

/** True for a Comparator, or nothing: a sorted collection without members. */
function isOrder(given: unknown): boolean {
  return (given ?? null) === null || given instanceof Callable;
}

const CONSTRUCTORS: Readonly<Statics> = {
  ArrayList: list,
  LinkedList: list,
  HashMap: map,
  LinkedHashMap: map,
  TreeMap: sortedMap,
  HashSet: set,
  LinkedHashSet: set,
  TreeSet: sortedSet,
  StringBuilder: ([start]) => new StringBuilder(start === undefined || isWhole(start) ? "" : print(start)),
  StringTokenizer: ([text, delimiters]) =>
    new StringTokenizer(print(text), delimiters === undefined ? undefined : print(delimiters)),
  Date: ([ms]) => new DateTime(ms === undefined ? Date.now() : toInteger(ms)),
  SimpleDateFormat: ([pattern]) => new Formatter(print(pattern)),
  String: ([value]) =>
    value === undefined ? "" : Array.isArray(value) ? value.map((one) => print(one)).join("") : print(value),
  CIDR: ([network], context) => {
    context.spend(CIDR_STEPS);
    return new Cidr(network);
  },
  Object: () => new Map(),
};

/** Returns what makes an object of a class; undefined where scripts can't make one. Exceptions are made elsewhere. */
export function constructorOf(type: string): Static | undefined {
  return Object.hasOwn(CONSTRUCTORS, type) ? counted(CONSTRUCTORS[type]!) : undefined;
}
