/**
 * The single mapping type of an index, which clients of 6.x write in paths and read in answers. It is stored as a
 * setting that is never shown. `_doc` in a path means any type.
 */

import type { IndexInfo, Indices } from "#hub/api/ports/indices.ts";
import { ROOT_KEYS } from "#hub/engine/mapping/mapping.ts";
import { answersAs } from "#hub/search/options/request-version.ts";
import { AppError } from "#proto/kit/errors.ts";
import { isObject, type JsonObject } from "#proto/kit/json.ts";

/** Name of the setting, without the leading "index.". */
export const TYPE_SETTING = "mapping.type_name";
export const DEFAULT_TYPE = "_doc";
/** Name prefix of the indices that the default pipeline writes to. */
const AGENTS_PREFIX = "logs-";

/** Name of the mapping that 6.x applies to every type. */
const DEFAULT_MAPPING = "_default_";

/** A mapping of a request, with its type separated. */
export interface TypedMapping {
  readonly type: string | undefined;
  readonly mapping: JsonObject;
}

/** Settings of an index or a template, which contain its type. */
interface Typed {
  readonly [key: string]: unknown;
}

/** Returns the name of an index's type; undefined while it has none. */
export function givenType(settings: Typed): string | undefined {
  const type = settings[TYPE_SETTING];
  return typeof type === "string" ? type : undefined;
}

/** Returns the name that is printed as `_type`. */
export function typeOf(index: IndexInfo): string {
  return givenType(index.settings.raw) ?? DEFAULT_TYPE;
}

/** Returns the `_type` printed with a document: the index's type; from 7 on the type that the request names. */
export function documentType(index: IndexInfo | undefined, given: string | undefined): string {
  if (answersAs(700) && given !== "_all") return given ?? DEFAULT_TYPE;
  return indexType(index, given);
}

/** Returns the `_type` that lists of documents (`_mget`) print in every version: that of the index. */
export function indexType(index: IndexInfo | undefined, given: string | undefined): string {
  if (given === DEFAULT_TYPE && answersAs(607)) return DEFAULT_TYPE;
  return index === undefined ? DEFAULT_TYPE : typeOf(index);
}

/** Returns true if `type` in a path includes the documents of `index`. */
export function fitsType(index: IndexInfo, type: string | undefined): boolean {
  return type === undefined || type === DEFAULT_TYPE || type === "_all" || typeOf(index) === type;
}

/** Removes the type level from `mappings`. Throws request_invalid for several types, mapping_parse if they aren't an object. */
export function splitType(mappings: unknown, index: string): TypedMapping {
  if (mappings === undefined || mappings === null) return { type: undefined, mapping: {} };
  if (!isObject(mappings))
    throw new AppError("mapping_parse", "Failed to parse mapping: an object is expected");
  const { [DEFAULT_MAPPING]: fallback, ...types } = mappings;
  const names = Object.keys(types);
  if (names.length === 0) return { type: undefined, mapping: isObject(fallback) ? fallback : {} };
  if (names.some((name) => ROOT_KEYS.includes(name))) return { type: undefined, mapping: mappings };
  if (names.length > 1) throw tooManyTypes(index, names);
  const type = names[0]!;
  checkTypeName(type);
  const mapping = types[type] ?? {};
  if (!isObject(mapping)) {
    throw new AppError("mapping_parse", `Failed to parse mapping [${type}]: an object is expected`);
  }
  return { type, mapping: isObject(fallback) ? { ...fallback, ...mapping } : mapping };
}

/** Throws request_invalid for names that no type may have. */
export function checkTypeName(type: string): void {
  const refuse = (why: string): never => {
    throw new AppError("request_invalid", why, { data: { type: "invalid_type_name_exception" } });
  };
  if (type === "") throw new AppError("request_invalid", "mapping type name is empty");
  if (type.length > 255)
    refuse(`mapping type name [${type}] is too long; limit is length 255 but was [${type.length}]`);
  if (type.startsWith("_") && type !== DEFAULT_TYPE)
    refuse(`Document mapping type name can't start with '_', found: [${type}]`);
  if (type.includes("#")) refuse(`mapping type name [${type}] should not include '#' in it`);
  if (type.includes(",")) refuse(`mapping type name [${type}] should not include ',' in it`);
  if (type.startsWith(".")) refuse(`mapping type name [${type}] must not start with a '.'`);
}

/**
 * Gives the index `name` (created if it is missing) the type `type`. Throws request_invalid if it has another type, and
 * the errors of creating an index.
 */
export async function adoptType(
  indices: Pick<Indices, "ensure" | "putSettings">,
  name: string,
  type: string | undefined,
): Promise<void> {
  if (type === undefined || type === DEFAULT_TYPE) return;
  checkTypeName(type);
  const index = await indices.ensure(name);
  const known = givenType(index.settings.raw);
  if (known === type) return;
  // Agents' lines have no type, so the first client that names one sets the type of the index.
  const isTaken = answersAs(607) && Object.keys(index.mapping.toJSON()).length > 0;
  if (
    known !== undefined ||
    ((index.mapping.version > 1 || isTaken) && !index.name.startsWith(AGENTS_PREFIX))
  )
    throw tooManyTypes(index.name, [known ?? DEFAULT_TYPE, type]);
  await indices.putSettings(index.name, { [TYPE_SETTING]: type });
}

/** Returns true if an index has neither a type nor a mapping: it gets the type of its first document. */
export function isUntyped({ settings, mapping }: IndexInfo): boolean {
  const isMapped = mapping.version > 1 || Object.keys(mapping.toJSON()).length > 0;
  return !isMapped && givenType(settings.raw) === undefined;
}

/** Throws request_invalid if mappings are nested under a type, although the request or its version has no types. */
export function checkTypeless(mappings: unknown, index: string, includesType: boolean | undefined): void {
  const { type } = splitType(mappings, index);
  if (type === undefined || !refusesTypes(includesType)) return;
  throw new AppError(
    "request_invalid",
    `The mapping definition cannot be nested under a type [${type}] unless include_type_name is set to true.`,
  );
}

/** Returns true if a request with this `include_type_name` must not name types, as 7 requires. */
export function refusesTypes(includesType: boolean | undefined): boolean {
  return !(includesType ?? !answersAs(700));
}

/** Returns the type that a new index gets from its own definition; {} if a template may still name one. */
export function ownType({ type, mapping }: TypedMapping): Record<string, string> {
  const isTypeless = answersAs(607) && Object.keys(mapping).length > 0;
  const own = type ?? (isTypeless ? DEFAULT_TYPE : undefined);
  return own === undefined ? {} : { [TYPE_SETTING]: own };
}

/** Throws request_invalid if an index has a type other than `type`. */
export function requireType({ name, settings }: IndexInfo, type: string): void {
  const known = givenType(settings.raw) ?? type;
  if (known !== type) throw tooManyTypes(name, [known, type]);
}

/** Returns the mapping of an index below its type, {} if there is nothing to show; without the type if `includeType` is false. */
export function printMapping(index: IndexInfo, includeType: boolean): JsonObject {
  const mapping = index.mapping.toJSON();
  if (!includeType) return mapping;
  const type = givenType(index.settings.raw);
  if (type === undefined && Object.keys(mapping).length === 0) return {};
  return { [type ?? DEFAULT_TYPE]: mapping };
}

function tooManyTypes(index: string, types: readonly string[]): AppError {
  return new AppError(
    "request_invalid",
    `Rejecting mapping update to [${index}] as the final mapping would have more than 1 type: [${[...types].sort().join(", ")}]`,
  );
}
