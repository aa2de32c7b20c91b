/** What makes objects of the classes that scripts may construct. */

import { compare, toInteger } from "#hub/scripts/values/operators.ts";
import { Callable, type CallContext, isNumber, isWhole, print } from "#hub/scripts/values/values.ts";
import { type AnyMap, membersOf } from "./collections.ts";
import { DateTime } from "./dates.ts";
import { Formatter } from "./formatters.ts";
import { entriesOf } from "./maps.ts";
import type { Static, Statics } from "./number-statics.ts";
import { SortedMap, SortedSet } from "./sorted.ts";
import { counted } from "./statics.ts";
import { orderOf, StringBuilder, StringTokenizer } from "./strings.ts";

const list: Static = ([from], context) => (isNumber(from) ? [] : [...membersIn(from, context)]);
const map: Static = ([from], context) => new Map(isNumber(from) ? [] : entriesIn(from, context));
const set: Static = ([from], context) => new Set(isNumber(from) ? [] : membersIn(from, context));

/** Returns the entries of a map, of nothing none. Spends a step for each. */
function entriesIn(from: unknown, context: CallContext): [unknown, unknown][] {
  if (from === undefined) return [];
  const entries = entriesOf(from as AnyMap);
  context.spend(entries.length);
  return entries;
}

/** Returns the members of a collection, of nothing none. Spends a step for each. */
function membersIn(from: unknown, context: CallContext): unknown[] {
  if (from === undefined) return [];
  const members = membersOf(from, context);
  context.spend(members.length);
  return members;
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
  TreeMap: ([from], context) =>
    isOrder(from) ? new SortedMap(orderOf(from)) : SortedMap.from(entriesIn(from, context), compare, context),
  HashSet: set,
  LinkedHashSet: set,
  TreeSet: ([from], context) =>
    isOrder(from) ? new SortedSet(orderOf(from)) : SortedSet.from(membersIn(from, context), compare, context),
  StringBuilder: ([start]) => new StringBuilder(start === undefined || isWhole(start) ? "" : print(start)),
  StringTokenizer: ([text, delimiters]) =>
    new StringTokenizer(print(text), delimiters === undefined ? undefined : print(delimiters)),
  Date: ([ms]) => new DateTime(ms === undefined ? Date.now() : toInteger(ms)),
  SimpleDateFormat: ([pattern]) => new Formatter(print(pattern)),
  String: ([value]) =>
    value === undefined ? "" : Array.isArray(value) ? value.map((one) => print(one)).join("") : print(value),
  Object: () => new Map(),
};

/** Returns what makes an object of a class; undefined where scripts can't make one. Exceptions are made elsewhere. */
export function constructorOf(type: string): Static | undefined {
  return Object.hasOwn(CONSTRUCTORS, type) ? counted(CONSTRUCTORS[type]!) : undefined;
}
