/** Parameters of Loki's query interface: times, steps and limits. */

import type { ApiRequest } from "#hub/api/http/request.ts";
import { durationMs } from "#hub/api/logql/lexer.ts";
import { AppError } from "#proto/kit/errors.ts";
import { HOUR_MS } from "#proto/kit/units.ts";
import type { Span } from "./log-source.ts";

/** Maximum number of points of one series, the same as in Loki. */
const MAX_POINTS = 11_000;
/** Number of steps of a query that gives none. */
const USUAL_STEPS = 250;
const USUAL_LIMIT = 100;
/** Maximum number of lines of an answer. */
const MAX_LIMIT = 5_000;

/** Returns a parameter of the query, or of a form in the body. */
export function parameter(request: ApiRequest, name: string): string | undefined {
  const given = request.query[name];
  if (given !== undefined || request.method !== "POST") return given;
  return new URLSearchParams(request.body.toString("utf8")).get(name) ?? undefined;
}

/** Returns a parameter. Throws request_invalid if it is missing. */
export function required(request: ApiRequest, name: string): string {
  const value = parameter(request, name);
  if (value === undefined || value === "")
    throw new AppError("request_invalid", `the parameter ${name} is missing`);
  return value;
}

/** Returns the span given by `start` and `end`, or by `since`; default: the last hour. Throws request_invalid. */
export function spanOf(request: ApiRequest, nowMs: number): Span {
  const endMs = timeOf(request, "end") ?? nowMs;
  const since = parameter(request, "since");
  const sinceMs = since === undefined ? HOUR_MS : durationMs(since);
  if (Number.isNaN(sinceMs))
    throw new AppError("request_invalid", `could not parse 'since' parameter: ${since}`);
  const startMs = timeOf(request, "start") ?? endMs - sinceMs;
  if (startMs > endMs)
    throw new AppError("request_invalid", "end timestamp must not be before or equal to start time");
  return { startMs, endMs };
}

/** Returns a time in ms: given in ns or seconds since 1970-01-01 UTC, or as RFC 3339. Throws request_invalid. */
export function timeOf(request: ApiRequest, name: string): number | undefined {
  const text = parameter(request, name);
  if (text === undefined || text === "") return undefined;
  // Whole numbers of more than ten digits are nanoseconds.
  const ms = /^\d{11,19}$/.test(text)
    ? Math.floor(Number(text) / 1e6)
    : /^\d+(?:\.\d+)?$/.test(text)
      ? Math.floor(Number(text) * 1000)
      : Date.parse(text);
  if (Number.isNaN(ms)) throw new AppError("request_invalid", `could not parse '${name}' parameter: ${text}`);
  return ms;
}

/** Returns the steps of a query, ms. Throws request_invalid if there are too many. */
export function stepsOf(request: ApiRequest, { startMs, endMs }: Span): number[] {
  const text = parameter(request, "step");
  const given =
    text === undefined ? undefined : /^\d+(?:\.\d+)?$/.test(text) ? Number(text) * 1000 : durationMs(text);
  const stepMs = given ?? Math.max(1000, Math.ceil((endMs - startMs) / USUAL_STEPS / 1000) * 1000);
  if (!(stepMs >= 1))
    throw new AppError(
      "request_invalid",
      "zero or negative query resolution step widths are not accepted. Try a positive integer",
    );
  if ((endMs - startMs) / stepMs > MAX_POINTS)
    throw new AppError(
      "request_invalid",
      "exceeded maximum resolution of 11,000 points per time series. Try increasing the value of the step parameter",
    );
  const steps: number[] = [];
  for (let at = startMs; at <= endMs; at += Math.floor(stepMs)) steps.push(at);
  return steps;
}

/** Returns the requested number of lines. Throws request_invalid. */
export function limitOf(request: ApiRequest): number {
  const text = parameter(request, "limit") ?? String(USUAL_LIMIT);
  const limit = Number(text);
  if (!Number.isInteger(limit) || limit < 0)
    throw new AppError("request_invalid", `could not parse 'limit' parameter: ${text}`);
  if (limit > MAX_LIMIT)
    throw new AppError(
      "request_invalid",
      `max entries limit per query exceeded, limit > max_entries_limit (${limit} > ${MAX_LIMIT})`,
    );
  return limit === 0 ? USUAL_LIMIT : limit;
}
