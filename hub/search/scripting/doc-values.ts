/** `doc` of scripts: the values that a document has in the columns of its fields. */

import type { Field } from "#hub/engine/mapping/field.ts";
import { isDate } from "#hub/engine/mapping/field.ts";
import type { KeywordColumn, NumericColumn, SegmentReader } from "#hub/engine/searcher/searcher.ts";
import { positionIn } from "#hub/scripts/library/collections.ts";
import { DateTime, DocumentDate } from "#hub/scripts/library/dates.ts";
import { toDouble } from "#hub/scripts/values/operators.ts";
import { ScriptException } from "#hub/scripts/values/script-error.ts";
import { Decimal, type Method, type Methods, ScriptObject, whole } from "#hub/scripts/values/values.ts";
import { columnField, isNumeric } from "#hub/search/columns/column-values.ts";
import { distanceMetres } from "#hub/search/geo/point.ts";
import { warnDeprecated } from "#hub/search/options/request-version.ts";
import type { ShardContext } from "#hub/search/query/query.ts";

/** Types whose values have fractions. */
const FRACTIONS: ReadonlySet<string> = new Set(["double", "float", "half_float", "scaled_float"]);

/** Reads all values of a document in one column. */
type ReadValues = (doc: number) => readonly unknown[];

/** `doc` while scripts run over a shard. */
export class DocValues extends ScriptObject {
  readonly type = "LeafDocLookup";
  readonly methods = DOC_METHODS;
  readonly #shard: ShardContext;
  readonly #fields = new Map<string, FieldValues>();
  #segment: SegmentReader | undefined;
  /** The document whose values are read. */
  doc = -1;

  constructor(shard: ShardContext) {
    super();
    this.#shard = shard;
  }

  /** Goes to a document. */
  move(segment: SegmentReader, doc: number): void {
    if (segment !== this.#segment) {
      this.#segment = segment;
      this.#fields.clear();
    }
    this.doc = doc;
  }

  /** Throws IllegalArgumentException if the mapping has no such field, or one without columns. */
  override lookup(name: unknown): FieldValues {
    const path = String(name);
    let values = this.#fields.get(path);
    if (values === undefined) {
      const field = columnField(this.#shard, path);
      if (field === undefined) {
        const message = `No field found for [${path}] in mapping with types [${this.#shard.typeName}]`;
        throw new ScriptException("IllegalArgumentException", message);
      }
      values = new FieldValues(this, field, readerOf(field, this.#segment!));
      this.#fields.set(path, values);
    }
    return values;
  }

  has(name: unknown): boolean {
    return this.#shard.mapping.resolve(String(name)) !== undefined;
  }

  override isA(name: string): boolean {
    return name === "Map";
  }
}

const DOC_METHODS: Methods = new Map<string, Method>([
  ["get", (self: DocValues, [name]) => self.lookup(name)],
  ["containsKey", (self: DocValues, [name]) => self.has(name)],
]);

function readerOf(field: Field, segment: SegmentReader): ReadValues {
  if (field.type === "geo_point") return pointReader(field, segment);
  if (!isNumeric(field)) return keywordReader(segment.keywordColumn(field.path));
  const column = segment.numericColumn(field.path);
  if (column === null) return () => [];
  const asValue = asValueOf(field);
  return column.safe ? numberReader(column, asValue) : exactReader(column);
}

function numberReader(column: NumericColumn, asValue: (value: number) => unknown): ReadValues {
  const values: number[] = [];
  if (!column.multiValued) {
    return (doc) => {
      const value = column.first(doc);
      return Number.isNaN(value) ? [] : [asValue(value)];
    };
  }
  return (doc) => {
    const count = column.read(doc, values);
    return values.slice(0, count).map(asValue);
  };
}

function exactReader(column: NumericColumn): ReadValues {
  const values: bigint[] = [];
  return (doc) => {
    const count = column.readExact(doc, values);
    return values.slice(0, count).map(whole);
  };
}

/** Returns the function that converts a column's number to a script's value. */
export function asValueOf(field: Field): (value: number) => unknown {
  if (field.type === "boolean") return (value) => value === 1;
  if (isDate(field)) return (value) => new DocumentDate(value);
  return FRACTIONS.has(field.type) ? (value) => new Decimal(value) : (value) => value;
}

function keywordReader(column: KeywordColumn | null): ReadValues {
  if (column === null) return () => [];
  const ordinals: number[] = [];
  return (doc) => {
    const count = column.read(doc, ordinals);
    return ordinals.slice(0, count).map((ordinal) => column.text(ordinal));
  };
}

function pointReader(field: Field, segment: SegmentReader): ReadValues {
  const column = segment.geoColumn(field.path);
  const [latitudes, longitudes]: [number[], number[]] = [[], []];
  return (doc) => {
    const count = column?.read(doc, latitudes, longitudes) ?? 0;
    return Array.from({ length: count }, (_, at) => new Point(latitudes[at]!, longitudes[at]!));
  };
}

/** A point on earth. */
class Point extends ScriptObject {
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
  readonly #read: ReadValues;
  #of = -1;
  #values: readonly unknown[] = [];

  /** `doc`: determines the current document. */
  constructor(doc: { readonly doc: number }, field: Field, read: ReadValues) {
    super();
    this.#doc = doc;
    this.#field = field;
    this.#read = read;
  }

  get values(): readonly unknown[] {
    if (this.#of !== this.#doc.doc) {
      this.#of = this.#doc.doc;
      this.#values = this.#read(this.#of);
    }
    return this.#values;
  }

  /** Returns the first value. As in 6.5, a document without one has 0, false, 1970 or null. */
  get value(): unknown {
    const { values } = this;
    if (values.length > 0) return values[0];
    const { type } = this.#field;
    if (type === "geo_point" || !isNumeric(this.#field)) return null;
    if (type === "boolean") return false;
    if (isDate(this.#field)) return new DocumentDate(0);
    return FRACTIONS.has(type) ? new Decimal(0) : 0;
  }

  /** Returns the first value as a date. */
  date(): unknown {
    if (isDate(this.#field))
      warnDeprecated("getDate is no longer necessary on date fields as the value is now a date.", {
        until: 700,
      });
    else
      warnDeprecated("getDate on numeric fields is deprecated. Use a date field to get dates.", {
        until: 700,
      });
    return asDate(this.value);
  }

  /** Returns all values as dates. */
  dates(): unknown[] {
    if (isDate(this.#field))
      warnDeprecated("getDates is no longer necessary on date fields as the values are now dates.", {
        until: 700,
      });
    else
      warnDeprecated("getDates on numeric fields is deprecated. Use a date field to get dates.", {
        until: 700,
      });
    return this.values.map(asDate);
  }

  [Symbol.iterator](): Iterator<unknown> {
    return this.values[Symbol.iterator]();
  }

  override isA(name: string): boolean {
    return name === "List" || name === "Collection";
  }
}

/** Returns the distance of a field's first point to a position, metres. */
function distance(self: FieldValues, [lat, lon]: readonly unknown[]): Decimal {
  const point = self.value;
  if (!(point instanceof Point)) throw new ScriptException("NullPointerException", null);
  return new Decimal(distanceMetres(point.lat, point.lon, toDouble(lat), toDouble(lon)));
}

const coordinate =
  (read: (point: Point) => number): Method =>
  (self: FieldValues) =>
    self.value instanceof Point ? new Decimal(read(self.value)) : null;

const VALUES_METHODS: Methods = new Map<string, Method>([
  ["getValue", (self: FieldValues) => self.value],
  ["getValues", (self: FieldValues) => [...self.values]],
  ["getDate", (self: FieldValues) => self.date()],
  ["getDates", (self: FieldValues) => self.dates()],
  ["size", (self: FieldValues) => self.values.length],
  ["getLength", (self: FieldValues) => self.values.length],
  ["isEmpty", (self: FieldValues) => self.values.length === 0],
  ["get", (self: FieldValues, [index]) => self.values[positionIn(self.values, index)]],
  ["contains", (self: FieldValues, [value]) => self.values.includes(value)],
  ["getLat", coordinate(({ lat }) => lat)],
  ["getLon", coordinate(({ lon }) => lon)],
  ["arcDistance", distance],
  ["planeDistance", distance],
]);

function asDate(value: unknown): DateTime {
  return value instanceof DateTime ? value : new DocumentDate(toDouble(value));
}
