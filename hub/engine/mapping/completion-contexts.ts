/** Contexts of completion fields: categories or locations to which suggestions are limited. */

import { asRecord, parseError, printValue } from "./parameters.ts";

/** A context as a mapping has it. */
export interface CompletionContext {
  readonly name: string;
  readonly type: "category" | "geo";
  /** Field of the document that has it, besides the completion's own contexts. */
  readonly path: string | undefined;
  /** Characters of the geohashes that locations are compared by, 1..12. */
  readonly precision: number;
}

const KEYS = ["name", "type", "path", "precision"];
const MAX_CONTEXTS = 10;
/** About 600 m. */
const DEFAULT_PRECISION = 6;
const MAX_PRECISION = 12;

const EQUATOR_METRES = 2 * Math.PI * 6_378_137;
const POLE_METRES = Math.PI * 6_356_752.314_245;
const DISTANCE = /^(\d+(?:\.\d+)?)\s*(m|km|mi|yd|ft)$/;
const METRES: Readonly<Record<string, number>> = { m: 1, km: 1000, mi: 1609.344, yd: 0.9144, ft: 0.3048 };

/** Reads the parameter `contexts` of `field`; none if it isn't given. Throws mapping_parse. */
export function readContexts(field: string, given: unknown): CompletionContext[] {
  if (given === undefined || given === null) return [];
  const all: unknown[] = Array.isArray(given) ? given : [given];
  if (all.length > MAX_CONTEXTS)
    throw parseError(`Limit of completion field contexts [${MAX_CONTEXTS}] has been exceeded by [${field}]`);
  const contexts = all.map((each) => readContext(field, each));
  const names = contexts.map(({ name }) => name);
  const twice = names.find((name, at) => names.indexOf(name) !== at);
  if (twice !== undefined)
    throw parseError(`context [${twice}] of the completion field [${field}] is there twice`);
  return contexts;
}

function readContext(field: string, given: unknown): CompletionContext {
  const json = asRecord(given);
  if (json === undefined) throw parseError(`a context of the completion field [${field}] must be an object`);
  const { name, type, path, precision } = json;
  const unknown = Object.keys(json).find((key) => !KEYS.includes(key));
  if (unknown !== undefined) throw parseError(`unknown parameter [${unknown}] of a context of [${field}]`);
  if (typeof name !== "string" || name === "")
    throw parseError(`[name] of a context of the completion field [${field}] must be given`);
  if (type !== "category" && type !== "geo")
    throw parseError(
      `[type] of the context [${name}] must be category or geo, but is [${printValue(type ?? "missing")}]`,
    );
  if (path !== undefined && typeof path !== "string")
    throw parseError(`[path] of the context [${name}] must be the name of a field`);
  return { name, type, path, precision: geohashLength(precision ?? DEFAULT_PRECISION, name) };
}

/** Returns the characters of geohashes for a number of them, or a distance such as "5km". Throws mapping_parse. */
export function geohashLength(precision: unknown, context: string): number {
  const [, amount, unit = ""] = DISTANCE.exec(String(precision)) ?? [];
  const length = amount === undefined ? Number(precision) : lengthFor(Number(amount) * (METRES[unit] ?? 1));
  if (Number.isInteger(length) && length >= 1 && length <= MAX_PRECISION) return length;
  throw parseError(
    `[precision] of the context [${context}] must be 1 to ${MAX_PRECISION} or a distance such as 5km, but is [${printValue(precision)}]`,
  );
}

/** The cells of geohashes of this length are about as large as the distance, as 6.5 reckons. */
function lengthFor(metres: number): number {
  if (metres === 0) return MAX_PRECISION;
  const width = metres / (1 + POLE_METRES / EQUATOR_METRES);
  const bits = Math.floor(Math.log2(Math.ceil(EQUATOR_METRES / width)));
  const [full, left] = [Math.floor(bits / 5), bits % 5];
  const length = 2 * full + (left > 0 ? 1 : 0) + (left > 3 ? 1 : 0);
  return Math.min(MAX_PRECISION, Math.max(1, length));
}
