/** Reads the parameters of a field of a mapping, each by its kind. */

import { AppError } from "#proto/kit/errors.ts";
import { isObject } from "#proto/kit/json.ts";
import type { Analysis } from "../analysis/analysis.ts";
import { DEFAULT_DATE_FORMAT } from "./date-format.ts";
import type { FieldType } from "./field.ts";

/** Defaults that are left out when a mapping is printed. */
const DEFAULTS: Readonly<Record<string, unknown>> = {
  index: true,
  store: false,
  norms: true,
  coerce: undefined,
  fielddata: false,
  eager_global_ordinals: false,
  boost: 1,
};

/** Parameters of one field, as they were given. */
export class ParameterReader {
  readonly field: string;
  readonly #type: FieldType;
  readonly #json: Readonly<Record<string, unknown>>;

  constructor(field: string, type: FieldType, json: Readonly<Record<string, unknown>>) {
    this.field = field;
    this.#type = type;
    this.#json = json;
  }

  /** Parameters as given, without defaults, in the order given. */
  given(): Record<string, unknown> {
    const { type } = this.#json;
    // A type of later versions is shown as it was given.
    const result: Record<string, unknown> = type === this.#type ? {} : { type };
    for (const [key, raw] of Object.entries(this.#json)) {
      if (key === "type" || key === "fields" || key === "include_in_all") continue;
      const value = raw === "true" ? true : raw === "false" ? false : raw;
      if (DEFAULTS[key] === value && key in DEFAULTS) continue;
      if (key === "doc_values" && (this.#type === "text" || value === (this.#type !== "binary"))) continue;
      if (key === "format" && this.#type === "date" && value === DEFAULT_DATE_FORMAT) continue;
      result[key] = key === "copy_to" && typeof value === "string" ? [value] : value;
    }
    return result;
  }

  string(key: string, fallback: string): string {
    const value = this.#json[key];
    if (value === undefined) return fallback;
    if (typeof value === "string") return value;
    throw this.#invalid(key, value);
  }

  optional(key: string): string | undefined {
    return this.#json[key] === undefined ? undefined : this.string(key, "");
  }

  required(key: string): string {
    if (this.#json[key] === undefined)
      throw parseError(`The [${key}] property must be specified for field [${this.field}].`);
    return this.string(key, "");
  }

  boolean(key: string, fallback: boolean): boolean {
    const value = this.#json[key];
    if (value === undefined) return fallback;
    if (value === true || value === "true") return true;
    if (value === false || value === "false") return false;
    throw parseError(
      `Could not convert [${this.field}.${key}] to boolean: Failed to parse value [${printValue(value)}] as only [true] or [false] are allowed.`,
    );
  }

  integer(key: string, fallback: number): number {
    const value = this.#json[key];
    if (value === undefined) return fallback;
    const number = typeof value === "string" ? Number(value) : value;
    if (typeof number === "number" && Number.isInteger(number) && number >= 0) return number;
    throw this.#invalid(key, value);
  }

  positive(key: string): number {
    const value = Number(this.#json[key] ?? Number.NaN);
    if (this.#json[key] === undefined)
      throw parseError(`Field [${this.field}] misses required parameter [${key}]`);
    if (value > 0 && Number.isFinite(value)) return value;
    throw parseError(`[${key}] must be a positive number, got [${printValue(this.#json[key])}]`);
  }

  list(key: string): readonly string[] {
    const value = this.#json[key];
    if (value === undefined) return [];
    return Array.isArray(value) ? value.map(String) : [printValue(value)];
  }

  scalar(key: string): string | number | boolean | undefined {
    const value = this.#json[key];
    return typeof value === "string" || typeof value === "number" || typeof value === "boolean"
      ? value
      : undefined;
  }

  analyzer(key: string, fallback: string, analysis: Analysis): string {
    const name = this.string(key, fallback);
    if (analysis.has(name)) return name;
    throw parseError(`analyzer [${name}] not found for field [${this.field}]`);
  }

  #invalid(key: string, value: unknown): AppError {
    return parseError(
      `Failed to parse mapping: field [${this.field}]: [${key}] cannot be [${printValue(value)}]`,
    );
  }
}

/** Makes a mapping_parse error. */
export function parseError(message: string): AppError {
  return new AppError("mapping_parse", message);
}

/** Returns `value` where it is an object, else undefined. */
export function asRecord(value: unknown): Readonly<Record<string, unknown>> | undefined {
  return isObject(value) ? value : undefined;
}

/** A setting as messages show it: text as it is, anything else as JSON. */
export function printValue(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
