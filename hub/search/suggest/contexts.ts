/** Contexts of completions: which inputs a request selects, and with which weight. */

import { geohashOf } from "#hub/engine/documents/values.ts";
import {
  type CompletionContext,
  geohashLength,
  readContexts,
} from "#hub/engine/mapping/completion-contexts.ts";
import type { Field } from "#hub/engine/mapping/field.ts";
import { hashCell, parsePoints } from "#hub/search/geo/point.ts";
import { objectOf, scalarText } from "#hub/search/options/json.ts";
import { anything, flag, number, readOptions } from "#hub/search/options/options.ts";
import { answersAs, warnDeprecated } from "#hub/search/options/request-version.ts";
import { AppError } from "#proto/kit/errors.ts";
import { isObject, type JsonObject } from "#proto/kit/json.ts";

const MAX_VALUES = 100;

const OPTIONS = {
  context: anything("category, or place"),
  boost: number("factor of the weight", 1),
  prefix: flag("whether categories that begin so are meant too", false),
  precision: anything("characters of the geohash, or a distance"),
  neighbours: anything("lengths of geohashes whose adjacent cells count too"),
  lat: anything("latitude"),
  lon: anything("longitude"),
} as const;

/** One requested value of a context. */
interface Asked {
  readonly value: unknown;
  readonly boost: number;
  readonly isPrefix: boolean;
  readonly precision: unknown;
  readonly neighbours: readonly unknown[] | undefined;
}

/** The requested contexts by name. */
export type AskedContexts = ReadonlyMap<string, readonly Asked[]>;

/** How an input matches the requested contexts: the factor of its weight, and the contexts by which it was found. */
export interface ContextMatch {
  readonly boost: number;
  readonly contexts: Readonly<Record<string, readonly string[]>>;
}

/** Returns how an input of a document matches the requested contexts; undefined: it doesn't. */
export type ContextTest = (document: unknown, own: unknown) => ContextMatch | undefined;

const EVERYTHING: ContextMatch = { boost: 1, contexts: {} };

/** Reads `contexts` of a completion. Throws parsing, request_invalid. */
export function readAsked(given: JsonObject | undefined): AskedContexts {
  return new Map(
    Object.entries(given ?? {}).map(([name, value]): [string, readonly Asked[]] => {
      const values = Array.isArray(value) && !isPair(value) ? value : [value];
      if (values.length > MAX_VALUES)
        throw new AppError("request_invalid", `the context [${name}] has more than ${MAX_VALUES} values`);
      return [name, values.map((each) => readOne(each, name))];
    }),
  );
}

/** Returns the test of a field's inputs. Throws request_invalid for contexts that the field doesn't have. */
export function contextTest(field: Field, asked: AskedContexts): ContextTest {
  const known = readContexts(field.path, field.given["contexts"]);
  const unknown = [...asked.keys()].find((name) => !known.some((context) => context.name === name));
  if (unknown !== undefined) {
    throw new AppError(
      "request_invalid",
      known.length === 0
        ? `suggester [completion] doesn't expect any context: [${field.path}] has none`
        : `Unknown context name [${unknown}], must be one of [${known.map(({ name }) => name).join(", ")}]`,
    );
  }
  const tests = known.flatMap((context) =>
    (asked.get(context.name) ?? []).map((each) => ({
      context,
      boost: each.boost,
      fits: valueTest(context, each),
    })),
  );
  if (tests.length > 0) return (document, own) => matchOf(tests, document, own);
  if (known.length > 0) warnOfNone();
  return () => EVERYTHING;
}

/** From 7.0 on throws request_invalid; 6.x only warns. */
function warnOfNone(): void {
  if (answersAs(700)) throw new AppError("request_invalid", "Missing mandatory contexts in context query");
  warnDeprecated(
    "The ability to query with no context on a context enabled completion field is deprecated and will be removed in the next major release.",
  );
}

interface OneTest {
  readonly context: CompletionContext;
  readonly boost: number;
  readonly fits: (value: string) => boolean;
}

/** One matching context is enough; the greatest factor counts. */
function matchOf(tests: readonly OneTest[], document: unknown, own: unknown): ContextMatch | undefined {
  let boost = Number.NEGATIVE_INFINITY;
  const contexts: Record<string, string[]> = {};
  const values = new Map<CompletionContext, string[]>();
  for (const { context, boost: factor, fits } of tests) {
    const has = values.get(context) ?? contextValues(context, document, own);
    values.set(context, has);
    const fitting = has.filter(fits);
    if (fitting.length === 0) continue;
    boost = Math.max(boost, factor);
    contexts[context.name] = [...new Set([...(contexts[context.name] ?? []), ...fitting])];
  }
  return boost === Number.NEGATIVE_INFINITY ? undefined : { boost, contexts };
}

/**
 * The values of an input for a context: those given with the input, and those of the document's field; locations as
 * geohashes.
 */
function contextValues(
  { name, type, path, precision }: CompletionContext,
  document: unknown,
  own: unknown,
): string[] {
  const given = isObject(own) ? own[name] : undefined;
  const all = [given, ...(path === undefined ? [] : wholeValuesAt(document, path))];
  const present = all.filter((value) => value !== undefined && value !== null);
  if (type === "category") return present.flatMap(flatTexts);
  return present.flatMap((value) => {
    try {
      return parsePoints(value, name).map(({ lat, lon }) => geohashOf(lat, lon, precision));
    } catch {
      // A position that can't be parsed is in no cell.
      return [];
    }
  });
}

function flatTexts(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(flatTexts);
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean"
    ? [`${value}`]
    : [];
}

/** Returns the values at a dotted path unchanged, lists and objects as a whole. */
function wholeValuesAt(value: unknown, path: string): unknown[] {
  if (path === "") return [value];
  if (Array.isArray(value)) return value.flatMap((item) => wholeValuesAt(item, path));
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([key, item]) => {
    if (key === path) return [item];
    return path.startsWith(`${key}.`) ? wholeValuesAt(item, path.slice(key.length + 1)) : [];
  });
}

function readOne(given: unknown, name: string): Asked {
  const isPlain = !isObject(given) || (given["lat"] !== undefined && given["context"] === undefined);
  const options = isPlain ? { context: given } : objectOf(given, name);
  const read = readOptions(name, options as JsonObject, OPTIONS, "option");
  if (read.context === undefined || read.context === null)
    throw new AppError("parsing", `[context] of the context [${name}] must be given`);
  if (!(read.boost > 0))
    throw new AppError("request_invalid", `[boost] of the context [${name}] must be above 0`);
  return {
    value: read.context,
    boost: read.boost,
    isPrefix: read.prefix,
    precision: read.precision,
    neighbours: Array.isArray(read.neighbours) ? read.neighbours : undefined,
  };
}

function valueTest(context: CompletionContext, asked: Asked): (value: string) => boolean {
  if (context.type === "category") {
    const wanted = scalarText(asked.value, context.name);
    return asked.isPrefix ? (value) => value.startsWith(wanted) : (value) => value === wanted;
  }
  const cells = cellsOf(context, asked);
  return (value) => cells.some((cell) => value.startsWith(cell));
}

/** The cell of a location and the cells around it; `neighbours` names their sizes, by default its own. */
function cellsOf({ name, precision }: CompletionContext, asked: Asked): string[] {
  const length = Math.min(
    precision,
    asked.precision === undefined ? precision : geohashLength(asked.precision, name),
  );
  const lengths =
    asked.neighbours?.map((each) => geohashLength(each, name)) ?? (length === precision ? [length] : []);
  return parsePoints(asked.value, name).flatMap(({ lat, lon }) => {
    const hash = geohashOf(lat, lon, length);
    const around = lengths
      .filter((each) => each <= length)
      .flatMap((each) => neighboursOf(hash.slice(0, each)));
    return [hash, ...around];
  });
}

/** The eight cells around one of a geohash, itself among them. */
function neighboursOf(hash: string): string[] {
  const { south, north, west, east } = hashCell(hash, "context");
  const [height, width] = [north - south, east - west];
  const [lat, lon] = [(south + north) / 2, (west + east) / 2];
  const cells = new Set<string>();
  for (const up of [-1, 0, 1]) {
    const at = lat + up * height;
    if (Math.abs(at) > 90) continue;
    for (const right of [-1, 0, 1]) cells.add(geohashOf(at, wrapped(lon + right * width), hash.length));
  }
  return [...cells];
}

function wrapped(lon: number): number {
  return lon > 180 ? lon - 360 : lon < -180 ? lon + 360 : lon;
}

/** [lon, lat] is one position, not two values. */
function isPair(value: readonly unknown[]): boolean {
  return value.length === 2 && value.every((each) => typeof each === "number");
}
