/** Methods of lists, sets, maps, their entries and iterators. Documents' objects are maps with texts as keys. */

import { equals, toDouble, toInteger } from "#hub/scripts/values/operators.ts";
import { ScriptException } from "#hub/scripts/values/script-error.ts";
import {
  Callable,
  type CallContext,
  Decimal,
  isMap,
  type Method,
  type Methods,
  print,
  ScriptObject,
  weigh,
} from "#hub/scripts/values/values.ts";
import { chargeInsertion } from "./sorted.ts";
import { bounded, equalsMethod, orderOf } from "./strings.ts";

/** Lists and maps that scripts make may have so many members. */
export const MAX_MEMBERS = 100_000;

/** Any map of the language. */
export type AnyMap = Map<unknown, unknown> | Record<string, unknown>;

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

/** Members that one step copies, and moves within a list; as powers of two. */
const COPIED_SHIFT = 4;
const MOVED_SHIFT = 7;

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

function hasInSet(self: Set<unknown>, value: unknown, context: CallContext): boolean {
  if (self.has(value)) return true;
  // Only numbers, chars and objects are equal to others than themselves; a char only to a text of one character.
  const isItself = typeof value === "boolean" || (typeof value === "string" && value.length !== 1);
  return !isItself && has([...self], value, context);
}

const sizeOf: Method = (self, _, context) =>
  self instanceof Set ? self.size : membersOf(self, context).length;

/** Spends a step for each member and returns what `use` makes of them. */
export function walk<T>(self: unknown, context: CallContext, use: (members: unknown[]) => T): T {
  const members = membersOf(self, context);
  context.spend(members.length);
  return use(members);
}

function callEach(self: unknown, callable: unknown, context: CallContext, result: unknown): unknown {
  return walk(self, context, (members) => {
    for (const one of members) call(callable, one);
    return result;
  });
}

/** What lists and sets share. */
const COLLECTION: { [name: string]: Method; toString: Method } = {
  size: sizeOf,
  isEmpty: (self, values, context) => sizeOf(self, values, context) === 0,
  iterator: (self, _, context) => new ScriptIterator([...membersOf(self, context)], self),
  asCollection: (self) => self,
  asList: (self, _, context) => (Array.isArray(self) ? self : membersOf(self, context)),
  toArray: (self, _, context) => [...membersOf(self, context)],
  contains: (self, [value], context) => walk(self, context, (members) => has(members, value, context)),
  containsAll: (self, [other], context) =>
    walk(self, context, (members) => membersOf(other, context).every((each) => has(members, each, context))),
  forEach: (self, [each], context) => callEach(self, each, context, null),
  each: (self, [each], context) => callEach(self, each, context, self),
  eachWithIndex: (self, [each], context) =>
    walk(self, context, (members) => {
      for (const [at, one] of members.entries()) call(each, one, at);
      return self;
    }),
  findResult: (self, values, context) =>
    walk(self, context, (members) => firstResult(members, values, (change, one) => call(change, one))),
  findResults: (self, [change], context) =>
    walk(self, context, (members) => members.map((one) => call(change, one)).filter(isPresent)),
  split: (self, [test], context) =>
    walk(self, context, (members) => {
      const groups: [unknown[], unknown[]] = [[], []];
      for (const one of members) groups[call(test, one) === true ? 0 : 1].push(one);
      return groups;
    }),
  findAll: (self, [test], context) =>
    walk(self, context, (members) => members.filter((one) => call(test, one) === true)),
  find: (self, [test], context) =>
    walk(self, context, (members) => members.find((one) => call(test, one) === true) ?? null),
  collect: (self, [change], context) =>
    walk(self, context, (members) => members.map((one) => call(change, one))),
  any: (self, [test], context) =>
    walk(self, context, (members) => members.some((one) => call(test, one) === true)),
  every: (self, [test], context) =>
    walk(self, context, (members) => members.every((one) => call(test, one) === true)),
  count: (self, [test], context) =>
    walk(self, context, (members) =>
      test === undefined ? members.length : members.filter((one) => call(test, one) === true).length,
    ),
  sum: (self, [change], context) =>
    walk(self, context, (members) =>
      sum(change === undefined ? members : members.map((one) => call(change, one))),
    ),
  join: (self, [separator], context) =>
    walk(self, context, (members) => joined(members, print(separator), context)),
  groupBy: (self, [change], context) =>
    walk(self, context, (members) => grouped(members, (one) => call(change, one))),
  toString: (self) => print(self),
  hashCode: sizeOf,
  equals: equalsMethod,
};

function isPresent(value: unknown): boolean {
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

export const LIST_METHODS: Methods = new Map(
  Object.entries({
    ...COLLECTION,
    get: (self: unknown[], [index]: readonly unknown[]) => self[strictPosition(self, index)],
    getLength: (self: unknown[]) => self.length,
    set: (self: unknown[], [index, value]: readonly unknown[]) => {
      const at = strictPosition(self, index);
      const before = self[at];
      self[at] = value;
      return before;
    },
    add: (self: unknown[], values: readonly unknown[], context: CallContext) => {
      grow(self.length, context);
      if (values.length === 1) return self.push(values[0]) > 0;
      context.spend(self.length >> MOVED_SHIFT);
      self.splice(toInteger(values[0]), 0, values[1]);
      return null;
    },
    addAll: (self: unknown[], [other]: readonly unknown[], context: CallContext) => {
      // A copy: a list may be added to itself.
      const added = membersOf(other, context).slice();
      context.spend(added.length >> 3);
      for (const each of added) {
        grow(self.length, context);
        self.push(each);
      }
      return true;
    },
    remove: (self: unknown[], [what]: readonly unknown[], context: CallContext) => {
      context.spend(self.length >> 4);
      if (typeof what === "number") return self.splice(strictPosition(self, what), 1)[0];
      const at = self.findIndex((each) => equals(each, what, context));
      if (at >= 0) self.splice(at, 1);
      return at >= 0;
    },
    removeIf: (self: unknown[], [test]: readonly unknown[], context: CallContext) =>
      keepOnly(self, (each) => call(test, each) !== true, context),
    removeAll: (self: unknown[], [other]: readonly unknown[], context: CallContext) =>
      removeThose(self, other, false, context),
    retainAll: (self: unknown[], [other]: readonly unknown[], context: CallContext) =>
      removeThose(self, other, true, context),
    replaceAll: (self: unknown[], [change]: readonly unknown[], context: CallContext) => {
      context.spend(self.length);
      for (let at = 0; at < self.length; at++) self[at] = call(change, self[at]);
      return null;
    },
    clear: (self: unknown[]) => {
      self.length = 0;
      return null;
    },
    indexOf: (self: unknown[], [value]: readonly unknown[], context: CallContext) =>
      self.findIndex((each) => equals(each, value, context)),
    lastIndexOf: (self: unknown[], [value]: readonly unknown[], context: CallContext) =>
      self.findLastIndex((each) => equals(each, value, context)),
    subList: (self: unknown[], [from, to]: readonly unknown[]) => self.slice(toInteger(from), toInteger(to)),
    sort: (self: unknown[], [comparator]: readonly unknown[], context: CallContext) => {
      context.spend(self.length);
      self.sort(orderOf(comparator));
      return null;
    },
    clone: (self: unknown[], _: readonly unknown[], context: CallContext) => {
      context.spend(self.length >> 3);
      return [...self];
    },
    getFirst: (self: unknown[]) => self[strictPosition(self, 0)],
    getLast: (self: unknown[]) => self[strictPosition(self, self.length - 1)],
  }),
);

/** get() and set() take no negative index. */
function strictPosition(list: readonly unknown[], index: unknown): number {
  const at = toInteger(index);
  if (at < 0) throw new ScriptException("IndexOutOfBoundsException", `Index: ${at}, Size: ${list.length}`);
  return positionIn(list, at);
}

/** Entries of the members of what a map shows as a collection: keySet(), values(), entrySet(). */
const VIEWS = new WeakMap<object, readonly Detachable[]>();

/** Records that `collection` shows `entries`, in their order: what is removed there leaves the map. */
export function viewOf<T extends object>(collection: T, entries: readonly Detachable[]): T {
  VIEWS.set(collection, entries);
  return collection;
}

function keepOnly(
  collection: unknown[] | Set<unknown>,
  test: (value: unknown) => boolean,
  context: CallContext,
): boolean {
  const members = [...collection];
  context.spend(members.length);
  const keeps = members.map(test);
  const kept = members.filter((_, at) => keeps[at]);
  if (kept.length === members.length) return false;
  const gone = members.filter((_, at) => !keeps[at]);
  if (collection instanceof Set) for (const each of gone) collection.delete(each);
  else collection.splice(0, collection.length, ...kept);
  const entries = VIEWS.get(collection);
  if (entries === undefined) return true;
  for (const entry of entries.filter((_, at) => !keeps[at])) entry.detach();
  VIEWS.set(
    collection,
    entries.filter((_, at) => keeps[at]),
  );
  return true;
}

/** Removes the members that `other` has, or those that it hasn't: `keeps`. */
function removeThose(
  self: unknown[] | Set<unknown>,
  other: unknown,
  keeps: boolean,
  context: CallContext,
): boolean {
  const members = membersOf(other, context);
  return keepOnly(self, (each) => has(members, each, context) === keeps, context);
}

/** Throws NoSuchElementException. */
function firstOf(members: Iterable<unknown>): unknown {
  for (const member of members) return member;
  throw new ScriptException("NoSuchElementException", null);
}

export const SET_METHODS: Methods = new Map(
  Object.entries({
    ...COLLECTION,
    contains: (self: Set<unknown>, [value]: readonly unknown[], context: CallContext) =>
      hasInSet(self, value, context),
    first: (self: Set<unknown>) => firstOf(self),
    last: (self: Set<unknown>, _: readonly unknown[], context: CallContext) => {
      context.spend(self.size >> 3);
      return firstOf([...self].reverse());
    },
    add: (self: Set<unknown>, [value]: readonly unknown[], context: CallContext) => {
      grow(self.size, context);
      chargeInsertion(self, value, context);
      const isNew = !self.has(value);
      self.add(value);
      return isNew;
    },
    addAll: (self: Set<unknown>, [other]: readonly unknown[], context: CallContext) => {
      const before = self.size;
      const added = membersOf(other, context);
      context.spend(added.length >> 3);
      for (const each of added) {
        grow(self.size, context);
        chargeInsertion(self, each, context);
        self.add(each);
      }
      return self.size > before;
    },
    remove: (self: Set<unknown>, [value]: readonly unknown[], context: CallContext) =>
      self.has(value) && keepOnly(self, (each) => each !== value, context),
    removeIf: (self: Set<unknown>, [test]: readonly unknown[], context: CallContext) =>
      keepOnly(self, (each) => call(test, each) !== true, context),
    removeAll: (self: Set<unknown>, [other]: readonly unknown[], context: CallContext) =>
      removeThose(self, other, false, context),
    retainAll: (self: Set<unknown>, [other]: readonly unknown[], context: CallContext) =>
      removeThose(self, other, true, context),
    clone: (self: Set<unknown>, _: readonly unknown[], context: CallContext) => {
      context.spend(self.size >> 3);
      return new Set(self);
    },
    clear: (self: Set<unknown>) => {
      self.clear();
      return null;
    },
  }),
);

/** A member that can be taken out of what it was made of, as an entry of its map. */
export interface Detachable {
  detach(): void;
}

/** Walks through members as they were when it was made. */
export class ScriptIterator extends ScriptObject {
  readonly type = "Iterator";
  readonly methods = ITERATOR_METHODS;
  readonly members: readonly unknown[];
  at = 0;
  readonly #source: unknown;
  #removed = 0;
  #removedAt = 0;

  /** `source`: the list or set that remove() changes. */
  constructor(members: readonly unknown[], source?: unknown) {
    super();
    this.members = members;
    this.#source = source;
  }

  /** Takes the member that next() gave last out of what is walked through. */
  remove(context: CallContext): void {
    if (this.at === 0 || this.#removedAt === this.at)
      throw new ScriptException("IllegalStateException", null);
    this.#removedAt = this.at;
    const member = this.members[this.at - 1];
    if (member instanceof ScriptObject && "detach" in member) (member as unknown as Detachable).detach();
    else if (Array.isArray(this.#source)) {
      context.spend(this.#source.length >> MOVED_SHIFT);
      this.#source.splice(this.at - 1 - this.#removed++, 1);
    } else if (this.#source instanceof Set) this.#source.delete(member);
    else throw new ScriptException("UnsupportedOperationException", "remove");
  }
}

const ITERATOR_METHODS: Methods = new Map(
  Object.entries({
    hasNext: (self: ScriptIterator) => self.at < self.members.length,
    next: (self: ScriptIterator) => {
      if (self.at >= self.members.length) throw new ScriptException("NoSuchElementException", null);
      return self.members[self.at++];
    },
    remove: (self: ScriptIterator, _: readonly unknown[], context: CallContext) => {
      self.remove(context);
      return null;
    },
  }),
);
