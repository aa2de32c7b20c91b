/** `doc` of scripts: the values that a document has in the columns of its fields. */

import { type Field, isDate } from "#hub/engine/mapping/field.ts";
import type { KeywordColumn, NumericColumn, SegmentReader } from "#hub/engine/searcher/searcher.ts";
import { DocumentDate } from "#hub/scripts/library/dates.ts";
import { ScriptException } from "#hub/scripts/values/script-error.ts";
import { Decimal, type Method, type Methods, ScriptObject, whole } from "#hub/scripts/values/values.ts";
import { isNumeric, termsField } from "#hub/search/columns/column-values.ts";
import type { ShardContext } from "#hub/search/query/query.ts";
import {
  FieldValues,
  FRACTIONS,
  LARGE_SHIFT,
  NUMBER_SHIFT,
  Point,
  type ValuesReader,
} from "./field-values.ts";

const NO_VALUES: ValuesReader = { all: () => [], shift: NUMBER_SHIFT };

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

  /**
   * Throws IllegalArgumentException if the mapping has no such field, request_invalid if it has no columns, memory_limit if the
   * column of a text field is too large.
   */
  override lookup(name: unknown): FieldValues {
    const path = String(name);
    let values = this.#fields.get(path);
    if (values === undefined) {
      const field = termsField(this.#shard, path);
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

function readerOf(field: Field, segment: SegmentReader): ValuesReader {
  if (field.type === "geo_point") return { all: pointReader(field, segment), shift: LARGE_SHIFT };
  if (field.type === "text") return keywordReader(segment.uninverted(field.path));
  if (!isNumeric(field)) return keywordReader(segment.keywordColumn(field.path));
  const column = segment.numericColumn(field.path);
  if (column === null) return NO_VALUES;
  const asValue = asValueOf(field);
  return column.safe ? numberReader(column, asValue) : { all: exactReader(column), shift: LARGE_SHIFT };
}

function numberReader(column: NumericColumn, asValue: (value: number) => unknown): ValuesReader {
  const values: number[] = [];
  const first = (doc: number): unknown => {
    const value = column.first(doc);
    return Number.isNaN(value) ? undefined : asValue(value);
  };
  if (!column.multiValued) {
    const all = (doc: number): unknown[] => {
      const value = first(doc);
      return value === undefined ? [] : [value];
    };
    return { all, first, shift: NUMBER_SHIFT };
  }
  const all = (doc: number): unknown[] => {
    const count = column.read(doc, values);
    return values.slice(0, count).map(asValue);
  };
  return { all, first, count: (doc) => column.read(doc, values), shift: NUMBER_SHIFT };
}

function exactReader(column: NumericColumn): ValuesReader["all"] {
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

function keywordReader(column: KeywordColumn | null): ValuesReader {
  if (column === null) return NO_VALUES;
  const ordinals: number[] = [];
  const all = (doc: number): string[] => {
    const count = column.read(doc, ordinals);
    return ordinals.slice(0, count).map((ordinal) => column.text(ordinal));
  };
  const first = (doc: number): string | undefined => {
    const ordinal = column.first(doc);
    return ordinal < 0 ? undefined : column.text(ordinal);
  };
  return { all, first, count: (doc) => column.read(doc, ordinals), shift: LARGE_SHIFT };
}

function pointReader(field: Field, segment: SegmentReader): ValuesReader["all"] {
  const column = segment.geoColumn(field.path);
  const [latitudes, longitudes]: [number[], number[]] = [[], []];
  return (doc) => {
    const count = column?.read(doc, latitudes, longitudes) ?? 0;
    return Array.from({ length: count }, (_, at) => new Point(latitudes[at]!, longitudes[at]!));
  };
}
