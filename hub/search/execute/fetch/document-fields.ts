/** Fields of a hit that are read from its document: `fields` and `stored_fields` of a request. */

import { dateFormat } from "#hub/engine/mapping/date-format.ts";
import { columnKind, type Field, isDate } from "#hub/engine/mapping/field.ts";
import { isNumeric } from "#hub/search/columns/column-values.ts";
import { formatOf, printValue } from "#hub/search/columns/value-format.ts";
import { isRangeField } from "#hub/search/fields/field-range.ts";
import { wholeNumber } from "#hub/search/options/whole-numbers.ts";
import type { ShardContext } from "#hub/search/query/query.ts";
import { keepParts } from "#hub/search/source/source-filter.ts";
import { objectsAt, sourcePath, valuesAt } from "#hub/search/source/source-values.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import { fraction } from "#proto/kit/number-text.ts";
import type { FetchOptions, FieldRequest } from "./fetch-request.ts";

/** A field to show, and the location of its values in documents. */
interface ShownField {
  readonly name: string;
  readonly path: string;
  /** Undefined for values that are objects: ranges and flattened fields. */
  readonly field: Field | undefined;
  readonly format: string | undefined;
}

export class DocumentFields {
  readonly #shard: ShardContext;
  readonly #shown: readonly ShownField[];

  /** Throws request_invalid for fields that can't be shown as asked for. */
  constructor(
    { fields, stored, runtime }: Pick<FetchOptions, "fields" | "stored" | "runtime">,
    shard: ShardContext,
  ) {
    this.#shard = shard;
    const { mapping, index } = shard;
    if (fields.length > 0 && !mapping.settings.source.enabled) {
      throw new AppError(
        "request_invalid",
        `Unable to retrieve the requested [fields] since _source is disabled in the mappings for index [${index}]`,
      );
    }
    const kept = stored
      .flatMap((name) => expand(shard, { field: name, format: undefined }))
      .filter(({ field }) => field !== undefined && isStored(field));
    const read = fields.flatMap((request) => expand(shard, request));
    this.#shown = [...read, ...kept].filter(({ path, field }) => runtime?.has(field?.path ?? path) !== true);
  }

  get areWanted(): boolean {
    return this.#shown.length > 0;
  }

  /** `ignored`: fields of which the document has values that weren't indexed. */
  of(document: JsonObject, ignored: readonly string[]): JsonObject {
    const found: JsonObject = {};
    for (const { name, path, field, format } of this.#shown) {
      const values =
        field === undefined
          ? objectsAt(document, path)
          : valuesAt(document, path).flatMap((value) =>
              print(field, value, format, ignored.includes(field.path)),
            );
      if (values.length > 0) found[name] = values;
    }
    return found;
  }

  /** The document as highlighters may read it: with `_source` disabled only its stored fields. */
  readable(document: JsonObject): JsonObject {
    const { mapping } = this.#shard;
    if (mapping.settings.source.enabled) return document;
    const includes = [...mapping.fields()].filter(isStored).map((field) => sourcePath(field, this.#shard));
    return includes.length === 0 ? {} : keepParts(document, { includes, excludes: [] });
  }
}

function isStored({ given }: Field): boolean {
  return given["store"] === true;
}

function expand(shard: ShardContext, { field: name, format }: FieldRequest): ShownField[] {
  if (isRangeField(shard, name) || shard.mapping.field(name)?.type === "flattened")
    return [{ name, path: name, field: undefined, format }];
  const isPattern = name.includes("*");
  const resolved = isPattern ? undefined : shard.mapping.resolve(name);
  const fields = isPattern ? shard.mapping.match(name) : resolved === undefined ? [] : [resolved];
  const shown = fields.filter((field) => !isRangeField(shard, parentOf(field.path)));
  const ranges = isPattern ? new Set(fields.filter((field) => !shown.includes(field)).map(rangeOf)) : [];
  for (const field of shown) if (!isPattern) checkFormat(field, format);
  return [
    ...shown.map((field) => ({
      name: isPattern ? field.path : name,
      path: sourcePath(field, shard),
      field,
      format,
    })),
    ...[...ranges].map((path) => ({ name: path, path, field: undefined, format: undefined })),
  ];
}

function rangeOf({ path }: Field): string {
  return parentOf(path);
}

function parentOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf(".")));
}

function checkFormat(field: Field, format: string | undefined): void {
  if (format === undefined || isDate(field)) return;
  throw new AppError(
    "request_invalid",
    `Field [${field.path}] of type [${field.type}] doesn't support formats.`,
  );
}

/** Types that keep no fraction of what a document has. */
const WHOLE_TYPES: ReadonlySet<string> = new Set(["long", "integer", "short", "byte", "unsigned_long"]);

/** Returns the number of a text, undefined if it is none. */
function numberOf(text: string): number | bigint | undefined {
  const trimmed = text.trim();
  const number = wholeNumber(trimmed) ?? (trimmed === "" ? Number.NaN : Number(trimmed));
  return Number.isNaN(number) ? undefined : number;
}

/** The values that one of a document is shown as; `isIgnored`: those that weren't indexed are left out. */
function print(field: Field, value: unknown, format: string | undefined, isIgnored: boolean): unknown[] {
  if (isDate(field)) {
    const timeMs = dateFormat(field.format).parse(String(value));
    if (Number.isNaN(timeMs)) return isIgnored ? [] : [value];
    // Formats of the mapping print what they read; nanoseconds stay as they were written.
    if (format === undefined && field.type === "date_nanos") return [value];
    return [printValue(formatOf(field, format), timeMs) ?? value];
  }
  if (field.type === "boolean") return [value === "true" ? true : value === "false" ? false : value];
  if (!isNumeric(field)) return isIgnored && String(value).length > field.ignoreAbove ? [] : [value];
  const number = typeof value === "string" ? numberOf(value) : value;
  if (number === undefined) return isIgnored ? [] : [value];
  if (columnKind(field) === "double" && (typeof number === "number" || typeof number === "bigint"))
    return [fraction(Number(number))];
  if (typeof number !== "number") return [number];
  return [WHOLE_TYPES.has(field.type) ? Math.trunc(number) : number];
}
