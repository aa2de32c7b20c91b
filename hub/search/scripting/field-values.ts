/** The values that a document has in one column, as scripts see them: a list. */

import { type Field, isDate } from "#hub/engine/mapping/field.ts";
import { charge } from "#hub/scripts/library/costs.ts";
import { DateTime, DocumentDate } from "#hub/scripts/library/dates.ts";
import { ScriptIterator } from "#hub/scripts/library/iterator.ts";
import { call, has, positionIn, walk } from "#hub/scripts/library/members.ts";
import { LISTS } from "#hub/scripts/library/methods.ts";
import { equals, toDouble } from "#hub/scripts/values/operators.ts";
import { ScriptException } from "#hub/scripts/values/script-error.ts";
import {
  type CallContext,
  Decimal,
  type Method,
  type Methods,
  print,
  ScriptObject,
} from "#hub/scripts/values/values.ts";
import { isNumeric } from "#hub/search/columns/column-values.ts";
import { distanceMetres } from "#hub/search/geo/point.ts";
import { warnDeprecated } from "#hub/search/options/request-version.ts";

/** Types whose values have fractions. */
export const FRACTIONS: ReadonlySet<string> = new Set(["double", "float", "half_float", "scaled_float"]);

/** Reads the values that a document has in one column. Without `first` and `count` these need all values. */
export interface ValuesReader {
  readonly all: (doc: number) => readonly unknown[];
  /** Undefined if the document has none. Doesn't convert the others. */
  readonly first?: (doc: number) => unknown;
  /** Counts the values without converting them. */
  readonly count?: (doc: number) => number;
  /** Values that one step of a script converts, as a power of two. */
  readonly shift: number;
}

/** Of numbers, and of what is made of several or found by an ordinal. */
export const NUMBER_SHIFT = 4;
export const LARGE_SHIFT = 2;

/** A point on earth. */
export class Point extends ScriptObject {
  readonly type = "GeoPoint";
  readonly methods = POINT_METHODS;
  readonly lat: number;
  readonly lon: number;

  constructor(lat: number, lon: number) {
    super();
    this.lat = lat;
    this.lon = lon;
  }

  override toString(): string {
    return `${this.lat}, ${this.lon}`;
  }

  override asJson(): { readonly lat: number; readonly lon: number } {
    return { lat: this.lat, lon: this.lon };
  }
}

const POINT_METHODS: Methods = new Map<string, Method>([
  ["getLat", (self: Point) => new Decimal(self.lat)],
  ["getLon", (self: Point) => new Decimal(self.lon)],
]);

/** Values of one field of the current document; a list for scripts. */
export class FieldValues extends ScriptObject {
  readonly type = "ScriptDocValues";
  readonly methods = VALUES_METHODS;
  readonly #doc: { readonly doc: number };
  readonly #field: Field;
  readonly #read: ValuesReader;
  #of = -1;
  #values: readonly unknown[] = [];
  /** The documents of `#size` and `#firstValue`, which are kept separately because loops read them again and again. */
  #sizeOf = -1;
  #size = 0;
  #firstOf = -1;
  #firstValue: unknown;

  /** `doc`: determines the current document. */
  constructor(doc: { readonly doc: number }, field: Field, read: ValuesReader) {
    super();
    this.#doc = doc;
    this.#field = field;
    this.#read = read;
  }

  /** Returns all values. Spends the steps of their conversion once for each document. */
  values(context?: CallContext): readonly unknown[] {
    const { doc } = this.#doc;
    if (this.#of !== doc) {
      this.#values = this.#read.all(doc);
      this.#of = doc;
      context?.spend(this.#values.length >> this.#read.shift);
    }
    return this.#values;
  }

  /** Returns the first value. As in 6.5, a document without one has 0, false, 1970 or null. */
  value(context: CallContext): unknown {
    const first = this.#first(context);
    if (first !== undefined) return first;
    const { type } = this.#field;
    if (type === "geo_point" || !isNumeric(this.#field)) return null;
    if (type === "boolean") return false;
    if (isDate(this.#field)) return new DocumentDate(0);
    return FRACTIONS.has(type) ? new Decimal(0) : 0;
  }

  size(context: CallContext): number {
    const { doc } = this.#doc;
    const { count } = this.#read;
    if (this.#of === doc || count === undefined) return this.values(context).length;
    if (this.#sizeOf !== doc) {
      this.#size = count(doc);
      this.#sizeOf = doc;
    }
    return this.#size;
  }

  isEmpty(context: CallContext): boolean {
    return this.#first(context) === undefined;
  }

  #first(context: CallContext): unknown {
    const { doc } = this.#doc;
    const { first } = this.#read;
    if (this.#of === doc || first === undefined) return this.values(context)[0];
    if (this.#firstOf !== doc) {
      this.#firstValue = first(doc);
      this.#firstOf = doc;
    }
    return this.#firstValue;
  }

  /** Returns the first value as a date. */
  date(context: CallContext): unknown {
    if (isDate(this.#field))
      warnDeprecated("getDate is no longer necessary on date fields as the value is now a date.", {
        until: 700,
      });
    else
      warnDeprecated("getDate on numeric fields is deprecated. Use a date field to get dates.", {
        until: 700,
      });
    return asDate(this.value(context));
  }

  /** Returns all values as dates. */
  dates(context: CallContext): unknown[] {
    if (isDate(this.#field))
      warnDeprecated("getDates is no longer necessary on date fields as the values are now dates.", {
        until: 700,
      });
    else
      warnDeprecated("getDates on numeric fields is deprecated. Use a date field to get dates.", {
        until: 700,
      });
    const values = this.values(context);
    context.spend(values.length >> LARGE_SHIFT);
    return values.map(asDate);
  }

  [Symbol.iterator](): Iterator<unknown> {
    return this.values()[Symbol.iterator]();
  }

  override toString(): string {
    return print(this.values());
  }

  override parts(context: CallContext): readonly unknown[] {
    return this.values(context);
  }

  override isA(name: string): boolean {
    return name === "List" || name === "Collection";
  }
}

/** Returns the values, and spends what it costs to walk through them. */
function read(self: FieldValues, context: CallContext): readonly unknown[] {
  const values = self.values(context);
  context.spend(values.length >> NUMBER_SHIFT);
  return values;
}

/** Returns the distance of a field's first point to a position, metres. */
function distance(self: FieldValues, [lat, lon]: readonly unknown[], context: CallContext): Decimal {
  const point = self.value(context);
  if (!(point instanceof Point)) throw new ScriptException("NullPointerException", null);
  return new Decimal(distanceMetres(point.lat, point.lon, toDouble(lat), toDouble(lon)));
}

const coordinate =
  (read: (point: Point) => number): Method =>
  (self: FieldValues, _, context) => {
    const point = self.value(context);
    return point instanceof Point ? new Decimal(read(point)) : null;
  };

/** Methods of lists that read them. */
const READING =
  "forEach eachWithIndex findAll find findResult findResults split collect any every count sum join groupBy toArray containsAll indexOf lastIndexOf subList stream toString hashCode".split(
    " ",
  );
const CHANGING = "add addAll set remove removeIf removeAll retainAll replaceAll clear sort".split(" ");

/** Returns a method of lists as one of a field's values. */
function readingMethod(name: string): [string, Method] {
  const method = LISTS.get(name)!;
  return [
    name,
    (self: FieldValues, values, context) => {
      const list = self.values(context);
      charge(list, name, values, context);
      const result = method(list, values, context);
      // The next reader of the field gets the same list, which must not be changed.
      return result === list ? self : result;
    },
  ];
}

const unmodifiable: Method = () => {
  throw new ScriptException("UnsupportedOperationException", "doc values are unmodifiable");
};

const itself: Method = (self: FieldValues) => self;

const VALUES_METHODS: Methods = new Map<string, Method>([
  ...READING.map(readingMethod),
  ...CHANGING.map((name) => [name, unmodifiable] as const),
  ["asList", itself],
  ["asCollection", itself],
  ["getValue", (self: FieldValues, _, context) => self.value(context)],
  ["getValues", (self: FieldValues, _, context) => [...read(self, context)]],
  ["getDate", (self: FieldValues, _, context) => self.date(context)],
  ["getDates", (self: FieldValues, _, context) => self.dates(context)],
  ["size", (self: FieldValues, _, context) => self.size(context)],
  ["getLength", (self: FieldValues, _, context) => self.size(context)],
  ["isEmpty", (self: FieldValues, _, context) => self.isEmpty(context)],
  [
    "get",
    (self: FieldValues, [index], context) => {
      const values = self.values(context);
      return values[positionIn(values, index)];
    },
  ],
  ["contains", (self: FieldValues, [value], context) => has(self.values(context), value, context)],
  // Without the list, so that remove() fails.
  ["iterator", (self: FieldValues, _, context) => new ScriptIterator(read(self, context))],
  [
    "each",
    (self: FieldValues, [use], context) =>
      walk(self.values(context).slice(), context, (all) => {
        for (const one of all) call(use, one);
        return self;
      }),
  ],
  [
    "equals",
    (self: FieldValues, [other], context) =>
      equals(read(self, context), other instanceof FieldValues ? read(other, context) : other, context),
  ],
  ["getLat", coordinate(({ lat }) => lat)],
  ["getLon", coordinate(({ lon }) => lon)],
  ["arcDistance", distance],
  ["planeDistance", distance],
]);

function asDate(value: unknown): DateTime {
  return value instanceof DateTime ? value : new DocumentDate(toDouble(value));
}
