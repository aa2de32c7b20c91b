/** Methods of maps: `Map`s that scripts made, and the objects of documents, whose keys are texts. */

import { compare, equals } from "#hub/scripts/values/operators.ts";
import {
  Callable,
  type CallContext,
  fromJson,
  type Methods,
  print,
  ScriptObject,
  weigh,
} from "#hub/scripts/values/values.ts";
import { setMember } from "#proto/kit/json.ts";
import { ScriptIterator } from "./iterator.ts";
import { call, firstResult, grouped, grow } from "./members.ts";
import { viewOf } from "./removal.ts";
import { chargeInsertion, SortedMap } from "./sorted.ts";
import { equalsMethod } from "./strings.ts";

/** Any map of the language. */
export type AnyMap = Map<unknown, unknown> | Record<string, unknown>;

/** Returns a member of a map; undefined where there is none. */
export function read(map: AnyMap, key: unknown): unknown {
  if (map instanceof Map) return map.get(key);
  const name = keyText(key);
  return Object.hasOwn(map, name) ? fromJson(map[name]) : undefined;
}

/** Puts a member into a map, and returns what was there. */
export function write(map: AnyMap, key: unknown, value: unknown, context: CallContext): unknown {
  const before = read(map, key) ?? null;
  if (map instanceof Map) {
    grow(map.size, context);
    chargeInsertion(map, key, context);
    map.set(key, value);
    return before;
  }
  context.spend(1);
  setMember(map, keyText(key), value);
  return before;
}

function remove(map: AnyMap, key: unknown): unknown {
  const before = read(map, key) ?? null;
  if (map instanceof Map) map.delete(key);
  else delete map[keyText(key)];
  return before;
}

/** Keys of documents are texts; other keys are printed. */
function keyText(key: unknown): string {
  return typeof key === "string" ? key : print(key);
}

export function hasKey(map: AnyMap, key: unknown): boolean {
  return map instanceof Map ? map.has(key) : Object.hasOwn(map, keyText(key));
}

/** Returns the entries of a map as pairs. */
export function entriesOf(map: AnyMap): [unknown, unknown][] {
  if (map instanceof Map) return [...map];
  return Object.entries(map).map(([key, value]) => [key, fromJson(value)]);
}

function sizeOf(map: AnyMap): number {
  return map instanceof Map ? map.size : Object.keys(map).length;
}

/** One member of a map. */
export class Entry extends ScriptObject {
  readonly type = "Entry";
  readonly methods = ENTRY_METHODS;
  readonly map: AnyMap;
  readonly key: unknown;
  value: unknown;

  constructor(map: AnyMap, key: unknown, value: unknown) {
    super();
    this.map = map;
    this.key = key;
    this.value = value;
  }

  /** Takes the entry out of its map. */
  detach(): void {
    if (this.map instanceof Map) this.map.delete(this.key);
    else delete this.map[keyText(this.key)];
  }

  override parts(): readonly unknown[] {
    return [this.key, this.value];
  }

  override toString(): string {
    return `${print(this.key)}=${print(this.value)}`;
  }
}

const ENTRY_METHODS: Methods = new Map(
  Object.entries({
    getKey: (self: Entry) => self.key,
    getValue: (self: Entry) => self.value,
    setValue: (self: Entry, [value]: readonly unknown[], context: CallContext) => {
      const before = self.value;
      write(self.map, self.key, value, context);
      self.value = value;
      return before;
    },
  }),
);

function entries(map: AnyMap, context: CallContext): Entry[] {
  const pairs = entriesOf(map);
  context.spend(pairs.length);
  return pairs.map(([key, value]) => new Entry(map, key, value));
}

/** Names of documents are listed to be counted. */
function sizeMethod(map: AnyMap, _: readonly unknown[], context: CallContext): number {
  const size = sizeOf(map);
  if (!(map instanceof Map)) context.spend(size >> 3);
  return size;
}

function sortedKeys(map: AnyMap, context: CallContext): unknown[] {
  const keys = entries(map, context).map(({ key }) => key);
  if (map instanceof SortedMap) return keys;
  weigh(keys, context);
  return keys.sort(compare);
}

/** Returns the entry of a key; null without one. */
function entryOf(map: AnyMap, key: unknown): Entry | null {
  return key === undefined ? null : new Entry(map, key, read(map, key));
}

/** Calls a function with an entry: two parameters get key and value, one gets the entry. */
function withEntry(callable: unknown, entry: Entry): unknown {
  if (callable instanceof Callable && callable.call.length === 1) return call(callable, entry);
  return call(callable, entry.key, entry.value);
}

export const MAP_METHODS: Methods = new Map(
  Object.entries({
    get: (self: AnyMap, [key]: readonly unknown[]) => read(self, key) ?? null,
    getOrDefault: (self: AnyMap, [key, fallback]: readonly unknown[]) =>
      hasKey(self, key) ? read(self, key) : fallback,
    put: (self: AnyMap, [key, value]: readonly unknown[], context: CallContext) =>
      write(self, key, value, context),
    putIfAbsent: (self: AnyMap, [key, value]: readonly unknown[], context: CallContext) => {
      const before = read(self, key) ?? null;
      if (before === null) write(self, key, value, context);
      return before;
    },
    putAll: (self: AnyMap, [other]: readonly unknown[], context: CallContext) => {
      const pairs = entriesOf(other as AnyMap);
      context.spend(pairs.length >> 3);
      for (const [key, value] of pairs) write(self, key, value, context);
      return null;
    },
    computeIfAbsent: (self: AnyMap, [key, make]: readonly unknown[], context: CallContext) => {
      const before = read(self, key) ?? null;
      if (before !== null) return before;
      const made = call(make, key);
      if (made !== null) write(self, key, made, context);
      return made;
    },
    computeIfPresent: (self: AnyMap, [key, change]: readonly unknown[], context: CallContext) => {
      const before = read(self, key) ?? null;
      return before === null ? null : store(self, key, call(change, key, before), context);
    },
    compute: (self: AnyMap, [key, change]: readonly unknown[], context: CallContext) =>
      store(self, key, call(change, key, read(self, key) ?? null), context),
    merge: (self: AnyMap, [key, value, join]: readonly unknown[], context: CallContext) => {
      const before = read(self, key) ?? null;
      return store(self, key, before === null ? value : call(join, before, value), context);
    },
    replace: (self: AnyMap, [key, value]: readonly unknown[], context: CallContext) =>
      hasKey(self, key) ? write(self, key, value, context) : null,
    remove: (self: AnyMap, [key]: readonly unknown[]) => remove(self, key),
    containsKey: (self: AnyMap, [key]: readonly unknown[]) => hasKey(self, key),
    containsValue: (self: AnyMap, [value]: readonly unknown[], context: CallContext) =>
      entries(self, context).some((entry) => equals(entry.value, value, context)),
    size: sizeMethod,
    isEmpty: (self: AnyMap, values: readonly unknown[], context: CallContext) =>
      sizeMethod(self, values, context) === 0,
    keySet: (self: AnyMap, _: readonly unknown[], context: CallContext) => {
      const all = entries(self, context);
      return viewOf(new Set(all.map(({ key }) => key)), all);
    },
    values: (self: AnyMap, _: readonly unknown[], context: CallContext) => {
      const all = entries(self, context);
      return viewOf(
        all.map(({ value }) => value),
        all,
      );
    },
    entrySet: (self: AnyMap, _: readonly unknown[], context: CallContext) => {
      const all = entries(self, context);
      return viewOf([...all], all);
    },
    iterator: (self: AnyMap, _: readonly unknown[], context: CallContext) =>
      new ScriptIterator(entries(self, context)),
    forEach: (self: AnyMap, [each]: readonly unknown[], context: CallContext) => {
      for (const entry of entries(self, context)) call(each, entry.key, entry.value);
      return null;
    },
    each: (self: AnyMap, [each]: readonly unknown[], context: CallContext) => {
      for (const entry of entries(self, context)) withEntry(each, entry);
      return self;
    },
    find: (self: AnyMap, [test]: readonly unknown[], context: CallContext) =>
      entries(self, context).find((entry) => withEntry(test, entry) === true) ?? null,
    findAll: (self: AnyMap, [test]: readonly unknown[], context: CallContext) =>
      new Map(
        entries(self, context)
          .filter((entry) => withEntry(test, entry) === true)
          .map(({ key, value }) => [key, value]),
      ),
    findResult: (self: AnyMap, values: readonly unknown[], context: CallContext) =>
      firstResult(entries(self, context), values, withEntry),
    findResults: (self: AnyMap, [change]: readonly unknown[], context: CallContext) =>
      entries(self, context)
        .map((entry) => withEntry(change, entry))
        .filter((result) => (result ?? null) !== null),
    every: (self: AnyMap, [test]: readonly unknown[], context: CallContext) =>
      entries(self, context).every((entry) => withEntry(test, entry) === true),
    any: (self: AnyMap, [test]: readonly unknown[], context: CallContext) =>
      entries(self, context).some((entry) => withEntry(test, entry) === true),
    collect: (self: AnyMap, [change]: readonly unknown[], context: CallContext) =>
      entries(self, context).map((entry) => withEntry(change, entry)),
    count: (self: AnyMap, [test]: readonly unknown[], context: CallContext) =>
      entries(self, context).filter((entry) => withEntry(test, entry) === true).length,
    groupBy: (self: AnyMap, [change]: readonly unknown[], context: CallContext) =>
      grouped(entries(self, context), (entry) => withEntry(change, entry as Entry)),
    replaceAll: (self: AnyMap, [change]: readonly unknown[], context: CallContext) => {
      for (const entry of entries(self, context))
        write(self, entry.key, call(change, entry.key, entry.value), context);
      return null;
    },
    removeIf: (self: AnyMap, [test]: readonly unknown[], context: CallContext) => {
      const gone = entries(self, context).filter((entry) => withEntry(test, entry) === true);
      for (const { key } of gone) remove(self, key);
      return gone.length > 0;
    },
    clear: (self: AnyMap, _: readonly unknown[], context: CallContext) => {
      for (const { key } of entries(self, context)) remove(self, key);
      return null;
    },
    firstKey: (self: AnyMap, _: readonly unknown[], context: CallContext) =>
      sortedKeys(self, context)[0] ?? null,
    lastKey: (self: AnyMap, _: readonly unknown[], context: CallContext) =>
      sortedKeys(self, context).at(-1) ?? null,
    firstEntry: (self: AnyMap, _: readonly unknown[], context: CallContext) =>
      entryOf(self, sortedKeys(self, context)[0]),
    lastEntry: (self: AnyMap, _: readonly unknown[], context: CallContext) =>
      entryOf(self, sortedKeys(self, context).at(-1)),
    toString: (self: AnyMap, _: readonly unknown[], context: CallContext) => {
      weigh(self, context);
      return print(self);
    },
    hashCode: sizeMethod,
    equals: equalsMethod,
  }),
);

function store(map: AnyMap, key: unknown, value: unknown, context: CallContext): unknown {
  if ((value ?? null) === null) remove(map, key);
  else write(map, key, value, context);
  return value;
}
