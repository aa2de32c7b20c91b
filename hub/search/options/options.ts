/**
 * Schemas of the options of queries, aggregations and the like: one declaration is documentation, check and default.
 */

import { AppError } from "#proto/kit/errors.ts";
import { isObject, type JsonObject } from "#proto/kit/json.ts";
import { didYouMean, nearestName } from "#proto/kit/nearest.ts";
import { describe } from "./json.ts";
import { answersAs, warnDeprecated } from "./request-version.ts";

/** One option: `read` checks and converts what was given. */
export interface Option<T> {
  /** What it does, for the reference page. */
  readonly summary: string;
  readonly fallback: T;
  readonly required: boolean;
  /** Why it changes nothing; undefined for options that do. */
  readonly noEffect?: string;
  /** Why it isn't used, see `hint`. */
  readonly hint?: string;
  /** Why every value is refused; undefined for options that may be given. */
  readonly refused?: string;
  /** Throws parsing; `where` is "[query] [option]". */
  read(value: unknown, where: string): T;
}

export type Options = Readonly<Record<string, Option<unknown>>>;

/** The values that a declaration gives. */
export type Values<O extends Options> = { readonly [K in keyof O]: O[K] extends Option<infer T> ? T : never };

/** Reads the options of `owner` (e.g. "match"); `kind` says in messages what it is. Unknown ones, missing ones and wrong kinds throw parsing. */
export function readOptions<O extends Options>(
  owner: string,
  given: JsonObject,
  options: O,
  kind: "query" | "aggregation" | "option" = "query",
): Values<O> {
  const values: Record<string, unknown> = {};
  for (const key of Object.keys(given)) {
    if (Object.hasOwn(options, key)) continue;
    throw unknownOption(owner, key, Object.keys(options), kind);
  }
  for (const [key, option] of Object.entries(options)) {
    const value = given[key];
    if (value === undefined || (value === null && option.fallback === undefined)) {
      if (option.required)
        throw new AppError("parsing", `Required [${key}] is missing in [${owner}]: ${option.summary}`);
      values[key] = option.fallback;
    } else {
      const read = readValue(option, value, `[${owner}] [${key}]`, kind);
      values[key] = read;
      if (option.noEffect !== undefined && read !== option.fallback)
        warnDeprecated(`[${owner}] [${key}] has no effect here: ${option.noEffect}`);
    }
  }
  return values as Values<O>;
}

/** From 7.8 on values of the wrong kind in aggregations are faults of the object's content. */
function readValue<T>(option: Option<T>, value: unknown, where: string, kind: string): T {
  if (kind !== "aggregation" || !answersAs(708)) return option.read(value, where);
  try {
    return option.read(value, where);
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== "parsing") throw error;
    throw new AppError("parsing", error.message, {
      cause: error,
      data: { type: "x_content_parse_exception", ...error.data },
    });
  }
}

/** From 7.8 on unknown options of aggregations are reported as unknown fields of an object. */
function unknownOption(owner: string, key: string, known: readonly string[], kind: string): AppError {
  if (kind === "aggregation" && answersAs(708)) {
    const nearest = nearestName(key, known);
    const hint = nearest === undefined ? "" : ` did you mean [${nearest}]?`;
    return new AppError("parsing", `[${owner}] unknown field [${key}]${hint}`, {
      data: { type: "x_content_parse_exception" },
    });
  }
  const text = `[${owner}] ${kind} does not support [${key}]`;
  return new AppError("parsing", text + didYouMean(key, known), { data: { text } });
}

/** Returns `option` as one that must be given. */
export function required<T>(option: Option<T | undefined>): Option<T> {
  return {
    ...option,
    required: true,
    fallback: undefined as T,
    read: (value, where) => option.read(value, where) as T,
  };
}

/**
 * An option that is checked and changes nothing; its summary is the reason. A request that sets it to something else than the
 * default is answered with a warning.
 */
export function withoutEffect<T>(option: Option<T>): Option<T> {
  return { ...option, noEffect: option.summary };
}

/** An option that tells other engines how to compute an answer. It is checked and not used; its summary says why, or what differs. */
export function hint<T>(option: Option<T>): Option<T> {
  return {
    ...option,
    summary: `hint that isn't used: ${option.summary}`,
    hint: option.summary,
  };
}

/** An option that is refused wherever it is given, with the reason. */
export function refused(reason: string): Option<undefined> {
  const read = (_value: unknown, where: string): never => {
    throw new AppError("request_invalid", `${where} can't be used: ${reason}`);
  };
  return { summary: reason, fallback: undefined, required: false, refused: reason, read };
}

/** Text; numbers and booleans are taken as their text. */
export function text<F extends string | undefined>(summary: string, fallback: F): Option<string | F> {
  return make<string | F>(summary, fallback, (value, where) => {
    if (typeof value === "string") return value;
    if (typeof value === "number" || typeof value === "boolean" || typeof value === "bigint")
      return String(value);
    throw wrong(where, "text", value);
  });
}

/** A finite number, also written as text. */
export function number<F extends number | undefined>(summary: string, fallback: F): Option<number | F> {
  return make<number | F>(summary, fallback, readNumber);
}

/** A whole number of at least `minimum`, also written as text. */
export function integer<F extends number | undefined>(
  summary: string,
  fallback: F,
  minimum = 0,
): Option<number | F> {
  return make<number | F>(summary, fallback, (value, where) => {
    const read = Math.trunc(readNumber(value, where));
    if (read < minimum)
      throw new AppError("request_invalid", `${where} must be at least ${minimum}, but is ${read}`);
    return read;
  });
}

/** true or false, also written as text. */
export function flag<F extends boolean | undefined>(summary: string, fallback: F): Option<boolean | F> {
  return make<boolean | F>(summary, fallback, (value, where) => {
    if (value === true || value === "true") return true;
    if (value === false || value === "false" || value === "") return false;
    throw wrong(where, "true or false", value);
  });
}

/** One of `names`, in any case. */
export function oneOf<N extends string, F extends N | undefined>(
  summary: string,
  names: readonly N[],
  fallback: F,
): Option<N | F> {
  return make<N | F>(summary, fallback, (value, where) => {
    const wanted = String(value).toLowerCase();
    const found = names.find((name) => name.toLowerCase() === wanted);
    if (found !== undefined) return found;
    throw wrong(where, `one of ${names.join(", ")}`, value);
  });
}

/** Anything; the owner reads it. */
export function anything(summary: string): Option<unknown> {
  return make<unknown>(summary, undefined, (value) => value);
}

/** A list; a single value is accepted as a list of one. */
export function list(summary: string): Option<readonly unknown[] | undefined> {
  return make<readonly unknown[] | undefined>(summary, undefined, (value) =>
    Array.isArray(value) ? value : [value],
  );
}

/** A list of texts; a single text is accepted as a list of one. */
export function texts(summary: string): Option<readonly string[] | undefined> {
  return make<readonly string[] | undefined>(summary, undefined, (value, where) =>
    (Array.isArray(value) ? value : [value]).map((each: unknown) => {
      if (typeof each === "string" || typeof each === "number") return String(each);
      throw wrong(where, "a list of texts", each);
    }),
  );
}

/** An object. */
export function object(summary: string): Option<JsonObject | undefined> {
  return make<JsonObject | undefined>(summary, undefined, (value, where) => {
    if (isObject(value)) return value;
    throw wrong(where, "an object", value);
  });
}

function make<T>(summary: string, fallback: T, read: (value: unknown, where: string) => T): Option<T> {
  return { summary, fallback, required: false, read };
}

function readNumber(value: unknown, where: string): number {
  const read = typeof value === "string" && value.trim() !== "" ? Number(value) : value;
  if (typeof read === "bigint") return Number(read);
  if (typeof read === "number" && Number.isFinite(read)) return read;
  throw wrong(where, "a number", value);
}

function wrong(where: string, wanted: string, value: unknown): AppError {
  return new AppError("parsing", `${where} must be ${wanted}, but is ${describe(value)}`);
}
