/**
 * Streams of scripts, and the optional values that some of their methods give. A stream holds its members: each method
 * is carried out where it is called, not when the stream is collected.
 */

import { equals, toDouble, toInteger } from "#hub/scripts/values/operators.ts";
import { ScriptException } from "#hub/scripts/values/script-error.ts";
import {
  type CallContext,
  Decimal,
  type Method,
  type Methods,
  print,
  ScriptObject,
} from "#hub/scripts/values/values.ts";
import { ScriptIterator } from "./iterator.ts";
import { call, grouped, joined, membersOf, sum, walk } from "./members.ts";
import { bounded, orderOf } from "./strings.ts";

/** A value that may be missing. */
export class Optional extends ScriptObject {
  readonly type = "Optional";
  readonly methods = OPTIONAL_METHODS;
  /** null where it is missing. */
  readonly value: unknown;

  constructor(value: unknown) {
    super();
    this.value = value ?? null;
  }

  get isPresent(): boolean {
    return this.value !== null;
  }

  override toString(): string {
    return this.isPresent ? `Optional[${print(this.value)}]` : "Optional.empty";
  }

  override parts(): readonly unknown[] {
    return [this.value];
  }
}

/** Throws NoSuchElementException where the value is missing. */
const present: Method = (self: Optional) => {
  if (self.isPresent) return self.value;
  throw new ScriptException("NoSuchElementException", "No value present");
};

const OPTIONAL_METHODS: Methods = new Map<string, Method>(
  Object.entries({
    get: present,
    getAsInt: present,
    getAsLong: present,
    getAsDouble: present,
    orElseThrow: present,
    isPresent: (self: Optional) => self.isPresent,
    isEmpty: (self: Optional) => !self.isPresent,
    orElse: (self: Optional, [other]: readonly unknown[]) => (self.isPresent ? self.value : other),
    orElseGet: (self: Optional, [make]: readonly unknown[]) => (self.isPresent ? self.value : call(make)),
    ifPresent: (self: Optional, [use]: readonly unknown[]) => {
      if (self.isPresent) call(use, self.value);
      return null;
    },
    map: (self: Optional, [change]: readonly unknown[]) =>
      self.isPresent ? new Optional(call(change, self.value)) : self,
    flatMap: (self: Optional, [change]: readonly unknown[]) =>
      self.isPresent ? call(change, self.value) : self,
    filter: (self: Optional, [test]: readonly unknown[]) =>
      self.isPresent && call(test, self.value) !== true ? new Optional(null) : self,
    toString: (self: Optional) => self.toString(),
    equals: (self: Optional, [other]: readonly unknown[], context: CallContext) =>
      other instanceof Optional && equals(self.value, other.value, context),
  }),
);

/** Members that pass through functions. */
export class Stream extends ScriptObject {
  readonly type = "Stream";
  readonly methods = STREAM_METHODS;
  readonly members: readonly unknown[];

  constructor(members: readonly unknown[]) {
    super();
    this.members = members;
  }

  [Symbol.iterator](): Iterator<unknown> {
    return this.members[Symbol.iterator]();
  }

  override parts(): readonly unknown[] {
    return this.members;
  }

  override streamed(): readonly unknown[] {
    return this.members;
  }
}

/** What `stream.collect(…)` takes. */
class Collector extends ScriptObject {
  readonly type = "Collector";
  readonly methods: Methods = new Map();
  readonly finish: (members: readonly unknown[]) => unknown;

  constructor(finish: (members: readonly unknown[]) => unknown) {
    super();
    this.finish = finish;
  }
}

/** What a collector within another makes; the members themselves without one. Throws ClassCastException. */
function finished(inner: unknown, members: readonly unknown[]): unknown {
  if (inner === undefined) return [...members];
  if (inner instanceof Collector) return inner.finish(members);
  throw new ScriptException("ClassCastException", "a Collector was expected");
}

function averaging([read]: readonly unknown[]): Collector {
  return new Collector((members) => {
    const total = toDouble(sum(members.map((one) => call(read, one))));
    return new Decimal(members.length === 0 ? 0 : total / members.length);
  });
}

/** Static methods of the class Collectors. */
export const COLLECTORS: Readonly<
  Record<string, (values: readonly unknown[], context: CallContext) => unknown>
> = {
  toList: () => new Collector((members) => [...members]),
  toSet: () => new Collector((members) => new Set(members)),
  joining: ([separator = "", before = "", after = ""], context) =>
    new Collector((members) =>
      bounded(`${print(before)}${joined(members, print(separator), context)}${print(after)}`, context),
    ),
  counting: () => new Collector((members) => members.length),
  groupingBy: ([keyOf, ...more]) =>
    new Collector((members) => {
      const groups = grouped(members, (one) => call(keyOf, one));
      const inner = more.at(-1);
      return new Map([...groups].map(([key, group]) => [key, finished(inner, group)]));
    }),
  averagingInt: averaging,
  averagingLong: averaging,
  averagingDouble: averaging,
  summingInt: ([read]) => new Collector((members) => sum(members.map((one) => call(read, one)))),
  summingLong: ([read]) => new Collector((members) => sum(members.map((one) => call(read, one)))),
  summingDouble: ([read]) =>
    new Collector((members) => new Decimal(toDouble(sum(members.map((one) => call(read, one)))))),
  mapping: ([change, inner]) =>
    new Collector((members) =>
      finished(
        inner,
        members.map((one) => call(change, one)),
      ),
    ),
  filtering: ([test, inner]) =>
    new Collector((members) =>
      finished(
        inner,
        members.filter((one) => call(test, one) === true),
      ),
    ),
  collectingAndThen: ([inner, next]) => new Collector((members) => call(next, finished(inner, members))),
  maxBy: ([order]) => new Collector((members) => new Optional([...members].sort(orderOf(order)).at(-1))),
  minBy: ([order]) => new Collector((members) => new Optional([...members].sort(orderOf(order))[0])),
  partitioningBy: ([test, inner]) =>
    new Collector((members) => {
      const parts = [false, true].map((wanted) =>
        members.filter((one) => (call(test, one) === true) === wanted),
      );
      return new Map([false, true].map((key, at) => [key, finished(inner, parts[at]!)]));
    }),
  toMap: ([keyOf, readValue]) =>
    new Collector((members) => new Map(members.map((one) => [call(keyOf, one), call(readValue, one)]))),
};

/** A method that makes a stream of the members of another. */
function step(
  change: (members: unknown[], values: readonly unknown[], context: CallContext) => readonly unknown[],
): Method {
  return (self: Stream, values, context) =>
    walk(self.members, context, (members) => new Stream(change(members, values, context)));
}

/** A method that ends a stream. */
function end(
  read: (members: unknown[], values: readonly unknown[], context: CallContext) => unknown,
): Method {
  return (self: Stream, values, context) =>
    walk(self.members, context, (members) => read(members, values, context));
}

const mapped = step((members, [change]) => members.map((one) => call(change, one)));
const decimals = step((members, [change]) =>
  members.map((one) => new Decimal(toDouble(change === undefined ? one : call(change, one)))),
);
const unchanged: Method = (self: Stream) => self;
const first = end((members) => new Optional(members[0]));
const each = end((members, [use]) => {
  for (const one of members) call(use, one);
  return null;
});

const STREAM_METHODS: Methods = new Map<string, Method>(
  Object.entries({
    map: mapped,
    mapToInt: mapped,
    mapToLong: mapped,
    mapToObj: mapped,
    mapToDouble: decimals,
    asDoubleStream: decimals,
    asLongStream: unchanged,
    boxed: unchanged,
    sequential: unchanged,
    flatMap: step((members, [change], context) =>
      members.flatMap((one) => {
        const inner = membersOf(call(change, one), context);
        context.spend(inner.length);
        return inner;
      }),
    ),
    filter: step((members, [test]) => members.filter((one) => call(test, one) === true)),
    peek: step((members, [use]) => {
      for (const one of members) call(use, one);
      return members;
    }),
    distinct: step((members, _, context) => distinct(members, context)),
    sorted: step((members, [order]) => [...members].sort(orderOf(order))),
    limit: step((members, [count]) => members.slice(0, natural(count))),
    skip: step((members, [count]) => members.slice(natural(count))),
    forEach: each,
    forEachOrdered: each,
    anyMatch: end((members, [test]) => members.some((one) => call(test, one) === true)),
    allMatch: end((members, [test]) => members.every((one) => call(test, one) === true)),
    noneMatch: end((members, [test]) => !members.some((one) => call(test, one) === true)),
    count: end((members) => members.length),
    sum: end((members) => sum(members)),
    average: end((members) =>
      members.length === 0
        ? new Optional(null)
        : new Optional(new Decimal(toDouble(sum(members)) / members.length)),
    ),
    max: end((members, [order]) => new Optional([...members].sort(orderOf(order)).at(-1))),
    min: end((members, [order]) => new Optional([...members].sort(orderOf(order))[0])),
    findFirst: first,
    findAny: first,
    reduce: end(reduced),
    collect: end(collected),
    toArray: end((members) => [...members]),
    toList: end((members) => [...members]),
    iterator: end((members) => new ScriptIterator([...members])),
  }),
);

/** With a start the result is a value, without one it may be missing. */
function reduced(members: unknown[], values: readonly unknown[]): unknown {
  if (values.length > 1) return members.reduce((all, one) => call(values[1], all, one), values[0]);
  return new Optional(members.length === 0 ? null : members.reduce((all, one) => call(values[0], all, one)));
}

function collected(members: unknown[], values: readonly unknown[]): unknown {
  const [collector, add] = values;
  if (collector instanceof Collector) return collector.finish(members);
  const result = call(collector);
  for (const one of members) call(add, result, one);
  return result;
}

/** Throws IllegalArgumentException for a negative number. */
function natural(count: unknown): number {
  const given = toInteger(count);
  if (given < 0) throw new ScriptException("IllegalArgumentException", String(given));
  return given;
}

/** Texts and numbers of documents are equal to themselves alone; others are compared with all before them. */
function distinct(members: readonly unknown[], context: CallContext): unknown[] {
  if (members.every((one) => typeof one === "string" || Number.isSafeInteger(one)))
    return [...new Set(members)];
  return members.filter((one, at) => {
    const before = members.findIndex((other) => equals(other, one, context));
    context.spend(before >> 3);
    return before === at;
  });
}
