/** `doc` of a document that isn't in an index: its values as the columns of a mapping would hold them. */

import { type Field, isDate } from "#hub/engine/mapping/field.ts";
import { ScriptException } from "#hub/scripts/values/script-error.ts";
import { type Method, type Methods, ScriptObject } from "#hub/scripts/values/values.ts";
import { isNumeric } from "#hub/search/columns/column-values.ts";
import { parseDateMath } from "#hub/search/dates/date-math.ts";
import { valuesAt } from "#hub/search/source/source-values.ts";
import { valueText } from "#proto/event.ts";
import { UTC } from "#proto/kit/dates/time-zone.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import { asValueOf } from "./doc-values.ts";
import { FieldValues } from "./field-values.ts";

/** What the fields are. */
interface Mapping {
  resolve(name: string): Field | undefined;
}

export class SampleDoc extends ScriptObject {
  readonly type = "LeafDocLookup";
  readonly methods = METHODS;
  /** The only document. */
  readonly doc = 0;
  readonly #source: JsonObject;
  readonly #mapping: Mapping;

  constructor(source: JsonObject, mapping: Mapping) {
    super();
    this.#source = source;
    this.#mapping = mapping;
  }

  /** Throws IllegalArgumentException if the mapping has no such field, or one whose values scripts can't read. */
  override lookup(name: unknown): FieldValues {
    const path = String(name);
    const field = this.#mapping.resolve(path);
    if (field === undefined)
      throw new ScriptException("IllegalArgumentException", `No field found for [${path}] in mapping`);
    if (!field.docValues || field.type === "text" || field.type === "geo_point")
      throw new ScriptException(
        "IllegalArgumentException",
        `values of [${path}] of type [${field.type}] can't be read from a sample document`,
      );
    const values = valuesAt(this.#source, field.path).map((value) => scriptValue(field, value));
    return new FieldValues(this, field, { all: () => values, shift: 0 });
  }

  has(name: unknown): boolean {
    return this.#mapping.resolve(String(name)) !== undefined;
  }

  override isA(name: string): boolean {
    return name === "Map";
  }
}

const METHODS: Methods = new Map<string, Method>([
  ["get", (self: SampleDoc, [name]) => self.lookup(name)],
  ["containsKey", (self: SampleDoc, [name]) => self.has(name)],
]);

function scriptValue(field: Field, value: unknown): unknown {
  if (!isNumeric(field)) return valueText(value);
  const asValue = asValueOf(field);
  if (field.type === "boolean") return asValue(value === true || value === "true" ? 1 : 0);
  if (!isDate(field)) return asValue(Number(value));
  return asValue(
    parseDateMath(valueText(value), { format: field.format, nowMs: 0, zone: UTC, roundUp: false }),
  );
}
