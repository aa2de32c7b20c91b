/**
 * A request as routes get it. Query parameters are decoded and checked against those of the route; accessors check the
 * kind of a parameter and parse the body.
 */

import type { IncomingHttpHeaders } from "node:http";
import type { Action, Principal } from "#hub/auth/accounts/principal.ts";
import { parseJson } from "#hub/search/options/json.ts";
import { parseJsonSteps } from "#hub/search/options/json-steps.ts";
import { AppError } from "#proto/kit/errors.ts";
import { isObject, type JsonObject } from "#proto/kit/json.ts";
import { nearestName } from "#proto/kit/nearest.ts";
import { TimeSlices } from "#proto/kit/time-slices.ts";
import { parseDuration } from "#proto/kit/units.ts";
import { validationError } from "./error-body.ts";

/** Parameters that every route accepts. */
export const COMMON_PARAMS: readonly string[] = [
  "pretty",
  "human",
  "error_trace",
  "filter_path",
  "format",
  "source",
  "source_content_type",
];

export type Method = "GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE";

export interface ApiRequestParts {
  readonly method: Method;
  /** URI as received, with the query. */
  readonly uri: string;
  readonly path: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string>>;
  readonly headers: IncomingHttpHeaders;
  /** Address of the client. */
  readonly ip: string;
  /** Decompressed body; empty without one. */
  readonly body: Buffer;
  readonly principal: Principal;
  /**
   * Returns whether the principal has a further right besides those that the route needs, on each index that it may
   * access.
   */
  readonly may: (action: Action) => boolean;
  readonly signal: AbortSignal;
}

export class ApiRequest {
  readonly method: Method;
  readonly uri: string;
  /** Decoded segments of the path by name; an optional one that isn't in the matched path is absent. */
  readonly path: Readonly<Record<string, string>>;
  /** Decoded query parameters; one without a value is "". */
  readonly query: Readonly<Record<string, string>>;
  readonly headers: IncomingHttpHeaders;
  /** Address of the client; behind a trusted proxy: the address that it names. */
  readonly ip: string;
  readonly body: Buffer;
  readonly principal: Principal;
  readonly may: (action: Action) => boolean;
  /** Aborted when the client disconnects. */
  readonly signal: AbortSignal;

  constructor(parts: ApiRequestParts) {
    this.method = parts.method;
    this.uri = parts.uri;
    this.path = parts.path;
    this.query = parts.query;
    this.headers = parts.headers;
    this.ip = parts.ip;
    this.body = parts.body;
    this.principal = parts.principal;
    this.may = parts.may;
    this.signal = parts.signal;
  }

  /** Returns a segment that every path of the route has. */
  segment(name: string): string {
    const value = this.path[name];
    if (value === undefined) throw new Error(`the route has no segment ${name}`);
    return value;
  }

  /** Returns a parameter of the path or the query. */
  text(name: string): string | undefined {
    return this.path[name] ?? this.query[name];
  }

  /** Returns the comma-separated parts of a parameter; undefined if it isn't given. */
  list(name: string): string[] | undefined {
    return this.text(name)
      ?.split(",")
      .map((part) => part.trim())
      .filter((part) => part !== "");
  }

  /** Returns a boolean parameter; without a value it is true. Throws request_invalid. */
  flag(name: string): boolean | undefined {
    const value = this.query[name];
    if (value === undefined) return undefined;
    if (value === "true" || value === "") return true;
    if (value === "false") return false;
    throw new AppError(
      "request_invalid",
      `Failed to parse value [${value}] as only [true] or [false] are allowed.`,
    );
  }

  /** Throws request_invalid. */
  integer(name: string): number | undefined {
    const value = this.query[name];
    if (value === undefined) return undefined;
    if (/^[+-]?\d{1,15}$/.test(value)) return Number(value);
    throw new AppError("request_invalid", `Failed to parse int parameter [${name}] with value [${value}]`);
  }

  /** ms. Throws request_invalid. */
  duration(name: string): number | undefined {
    const value = this.query[name];
    if (value === undefined) return undefined;
    try {
      return parseDuration(value, 1);
    } catch (error) {
      throw new AppError(
        "request_invalid",
        `failed to parse setting [${name}] with value [${value}] as a time value: unit is missing or unrecognized`,
        { cause: error },
      );
    }
  }

  /** Returns the body as JSON; undefined if there is none. Throws parsing. */
  value(): unknown {
    return this.body.length === 0 ? undefined : parseJson(this.body.toString("utf8"));
  }

  /** Returns the body as a JSON object; {} if there is none. Throws parsing. */
  object(): JsonObject {
    return objectIn(this.value());
  }

  /** Like `object`, for bodies that may be large: other requests are served while the body is parsed. Throws parsing. */
  async objectInSlices(): Promise<JsonObject> {
    if (this.body.length === 0) return {};
    const slices = new TimeSlices();
    const steps = parseJsonSteps(this.body.toString("utf8"));
    for (;;) {
      const { done, value } = steps.next();
      if (done === true) return objectIn(value);
      if (slices.isDue) await slices.pause();
    }
  }

  /**
   * Returns the body as a JSON object with plain numbers only, as needed for metadata; {} if there is none. Throws
   * parsing.
   */
  metadata(): JsonObject {
    const value = this.object();
    return JSON.parse(
      JSON.stringify(value, (_key, each: unknown) => (typeof each === "bigint" ? Number(each) : each)),
    ) as JsonObject;
  }

  /** Returns the body as a JSON object. Throws request_invalid if there is no body. */
  requiredObject(): JsonObject {
    this.requireBody();
    return this.object();
  }

  requireBody(): void {
    if (this.body.length > 0) return;
    throw new AppError("request_invalid", "request body is required", { data: { type: "parse_exception" } });
  }
}

function objectIn(value: unknown): JsonObject {
  if (value === undefined) return {};
  if (isObject(value)) return value;
  throw new AppError("parsing", "the body must be a JSON object", { data: { type: "parse_exception" } });
}

/** Throws request_invalid with the numbered problems if there are any. */
export function checkValid(...problems: (string | false | undefined)[]): void {
  const found = problems.filter((problem) => typeof problem === "string");
  if (found.length > 0) throw validationError(found);
}

/**
 * Returns the parameters of a query ("a=1&b"); if a name is repeated, the last counts. Throws request_invalid for
 * invalid encoding.
 */
export function parseQuery(query: string): Record<string, string> {
  const result: Record<string, string> = {};
  for (const part of query.split(/[&;]/)) {
    if (part === "") continue;
    const equals = part.indexOf("=");
    const name = decode(equals < 0 ? part : part.slice(0, equals));
    if (name !== "__proto__") result[name] = equals < 0 ? "" : decode(part.slice(equals + 1));
  }
  return result;
}

/** Throws request_invalid with the most similar name if the route at `path` doesn't have a parameter. */
export function checkParameters(
  path: string,
  query: Readonly<Record<string, string>>,
  known: readonly string[],
): void {
  const unknown = Object.keys(query)
    .filter((name) => !known.includes(name) && !COMMON_PARAMS.includes(name))
    .sort();
  if (unknown.length === 0) return;
  const described = unknown.map((name) => {
    const nearest = nearestName(name, [...known, ...COMMON_PARAMS]);
    return `[${name}]${nearest === undefined ? "" : ` -> did you mean [${nearest}]?`}`;
  });
  const plural = unknown.length > 1 ? "s" : "";
  throw new AppError(
    "request_invalid",
    `request [${path}] contains unrecognized parameter${plural}: ${described.join(", ")}`,
  );
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch (error) {
    throw new AppError("request_invalid", `the query parameter [${text}] is not percent-encoded UTF-8`, {
      cause: error,
    });
  }
}

/** Longest X-Opaque-Id that is kept, characters. */
const MAX_OPAQUE_ID = 1000;

/** Returns what the client calls its request, by which it knows the answer and the task; undefined if it gives no name. */
export function opaqueId({ "x-opaque-id": id }: IncomingHttpHeaders): string | undefined {
  return typeof id === "string" ? id.slice(0, MAX_OPAQUE_ID) : undefined;
}
