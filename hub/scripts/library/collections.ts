/** Methods of lists and sets. */

import { equals, toInteger } from "#hub/scripts/values/operators.ts";
import { ScriptException } from "#hub/scripts/values/script-error.ts";
import { type CallContext, type Method, type Methods, print } from "#hub/scripts/values/values.ts";
import { ScriptIterator } from "./iterator.ts";
import {
  call,
  firstResult,
  grouped,
  grow,
  has,
  isPresent,
  joined,
  MOVED_SHIFT,
  membersOf,
  positionIn,
  sum,
  walk,
} from "./members.ts";
import { keepOnly, removeThose } from "./removal.ts";
import { chargeInsertion } from "./sorted.ts";
import { equalsMethod, orderOf } from "./strings.ts";

function hasInSet(self: Set<unknown>, value: unknown, context: CallContext): boolean {
  if (self.has(value)) return true;
  // Only numbers, chars and objects are equal to others than themselves; a char only to a text of one character.
  const isItself = typeof value === "boolean" || (typeof value === "string" && value.length !== 1);
  return !isItself && has([...self], value, context);
}

const sizeOf: Method = (self, _, context) =>
  self instanceof Set ? self.size : membersOf(self, context).length;

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
