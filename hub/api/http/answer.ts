/**
 * Content types of bodies and answers, and the bytes of an answer in the requested format. `filter_path` selects its
 * parts: `*` matches one key, `**` any number of levels.
 */

import { stringify } from "yaml";
import { plainValue, RawJson, writeJson } from "#hub/search/options/json-writer.ts";
import { AppError } from "#proto/kit/errors.ts";
import { NumberText } from "#proto/kit/number-text.ts";
import { matchesWildcard } from "#proto/kit/wildcard.ts";
import type { ApiResponse, BodyKind, ResponseHeaders } from "./route.ts";

type Pattern = readonly string[];

/** An answer ready to be sent. */
export interface RenderedAnswer {
  readonly status: number;
  readonly headers: ResponseHeaders;
  readonly body: string | Uint8Array;
  /** See ApiResponse. */
  readonly release?: (() => void) | undefined;
}

export interface AnswerOptions {
  readonly pretty: boolean;
  readonly filterPath: string | undefined;
  readonly format: AnswerFormat | undefined;
}

/** Options of an answer before its request is parsed. */
export const PLAIN_ANSWER: AnswerOptions = { pretty: false, filterPath: undefined, format: undefined };

const JSON_TYPE = "application/json; charset=UTF-8";
const YAML_TYPE = "application/yaml";
const TEXT_TYPE = "text/plain; charset=UTF-8";

export function renderAnswer(response: ApiResponse, options: AnswerOptions): RenderedAnswer {
  const { status, headers = {}, text, bytes } = response;
  if (bytes !== undefined) return { status, headers: { "content-type": JSON_TYPE, ...headers }, body: bytes };
  if (text !== undefined) return { status, headers: { "content-type": TEXT_TYPE, ...headers }, body: text };
  if (response.json === undefined)
    return { status, headers: { "content-type": TEXT_TYPE, ...headers }, body: "" };
  const { filterPath: patterns } = options;
  if (response.json instanceof RawJson && !patterns && !options.pretty && options.format !== "yaml") {
    const { release } = response;
    return { status, headers: { "content-type": JSON_TYPE, ...headers }, body: response.json.bytes, release };
  }
  const value = patterns ? filterPath(plainValue(response.json), patterns) : response.json;
  if (options.format === "yaml") {
    const body = stringify(plainValue(value), plainNumbers, { directives: true });
    return { status, headers: { "content-type": YAML_TYPE, ...headers }, body };
  }
  return {
    status,
    headers: { "content-type": JSON_TYPE, ...headers },
    body: writeJson(value, options.pretty),
  };
}

const JSON_TYPES = ["application/json", "application/vnd.elasticsearch+json"];
const LINE_TYPES = ["application/x-ndjson", "application/vnd.elasticsearch+x-ndjson"];
const YAML_TYPES = ["application/yaml", "text/yaml"];

/** How an answer is written. */
export type AnswerFormat = "json" | "yaml" | "text";

/** Throws media_type unless a body of `header` fits the route. */
export function checkBodyType(header: string | undefined, kind: BodyKind): void {
  // readForm checks the type of a form.
  if (kind === "any" || kind === "form") return;
  const type = mediaType(header);
  if (JSON_TYPES.includes(type)) return;
  if (kind === "ndjson" && LINE_TYPES.includes(type)) return;
  throw new AppError("media_type", `Content-Type header [${header ?? ""}] is not supported`);
}

/** Returns the format asked for by `format=` or the Accept header; undefined: the route's own. Throws request_invalid. */
export function answerFormat(
  format: string | undefined,
  accept: string | undefined,
): AnswerFormat | undefined {
  if (format === "json" || format === "yaml" || format === "text") return format;
  if (format !== undefined && format !== "") {
    throw new AppError("request_invalid", `format [${format}] is not offered; use json, yaml or text`);
  }
  const types = (accept ?? "").split(",").map(mediaType);
  if (types.some((type) => YAML_TYPES.includes(type))) return "yaml";
  if (types.some((type) => JSON_TYPES.includes(type))) return "json";
  return types.includes("text/plain") ? "text" : undefined;
}

function mediaType(header: string | undefined): string {
  return (header ?? "").split(";", 1)[0]!.trim().toLowerCase();
}

/** YAML's numbers have no texts of their own; those of whole numbers say more than a double can. */
function plainNumbers(_key: unknown, value: unknown): unknown {
  if (!(value instanceof NumberText)) return value;
  const number = value.toJSON();
  return /^-?\d+$/.test(value.text) && !Number.isSafeInteger(number) ? BigInt(value.text) : number;
}

/** Returns the parts of a plain JSON value that the comma-separated patterns name; those that begin with "-" are removed. */
export function filterPath(value: unknown, patterns: string): unknown {
  const all = patterns
    .split(",")
    .map((pattern) => pattern.trim())
    .filter((pattern) => pattern !== "");
  const wanted = all.filter((pattern) => !pattern.startsWith("-")).map(split);
  const unwanted = all.filter((pattern) => pattern.startsWith("-")).map((pattern) => split(pattern.slice(1)));
  let result: unknown = value;
  if (wanted.length > 0) result = keep(result, wanted);
  if (unwanted.length > 0) result = remove(result, unwanted);
  return result ?? {};
}

/** Splits at dots that aren't escaped by a backslash. */
function split(pattern: string): Pattern {
  return pattern.split(/(?<!\\)\./).map((part) => part.replaceAll("\\.", "."));
}

function keep(value: unknown, patterns: readonly Pattern[]): unknown {
  if (patterns.some(isDone)) return value;
  if (Array.isArray(value)) {
    const kept = value.map((each) => keep(each, patterns)).filter((each) => each !== undefined);
    return kept.length === 0 ? undefined : kept;
  }
  if (!isContainer(value)) return undefined;
  const result: Record<string, unknown> = {};
  for (const [key, each] of Object.entries(value)) {
    const rest = step(patterns, key);
    const kept = rest.length === 0 ? undefined : keep(each, rest);
    if (kept !== undefined) result[key] = kept;
  }
  return Object.keys(result).length === 0 ? undefined : result;
}

function remove(value: unknown, patterns: readonly Pattern[]): unknown {
  if (Array.isArray(value)) return value.map((each) => remove(each, patterns));
  if (!isContainer(value)) return value;
  const result: Record<string, unknown> = {};
  for (const [key, each] of Object.entries(value)) {
    const rest = step(patterns, key);
    if (!rest.some(isDone)) result[key] = rest.length === 0 ? each : remove(each, rest);
  }
  return result;
}

/** Returns true if the pattern is used up, or what remains of it matches any number of levels. */
function isDone(pattern: Pattern): boolean {
  return pattern.every((part) => part === "**");
}

/** Returns what remains of the patterns below `key`. */
function step(patterns: readonly Pattern[], key: string): Pattern[] {
  const rest: Pattern[] = [];
  for (const pattern of patterns) {
    const [first, ...others] = pattern;
    if (first === undefined) continue;
    if (first === "**") {
      rest.push(pattern, ...step([others], key));
    } else if (matchesWildcard(first, key)) rest.push(others);
  }
  return rest;
}

function isContainer(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !(value instanceof NumberText);
}
