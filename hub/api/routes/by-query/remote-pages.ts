/** Pages of documents of another search engine (5.x to 8.x, or another hub), read by its scroll interface. */

import { optionalText } from "#hub/api/parameters/values.ts";
import { objectOf, parseJson } from "#hub/search/options/json.ts";
import { writeJson } from "#hub/search/options/json-writer.ts";
import { compileWildcard } from "#hub/search/patterns/wildcard.ts";
import { valueText } from "#proto/event.ts";
import { addPart } from "#proto/kit/byte-parts.ts";
import { systemClock } from "#proto/kit/clock.ts";
import { AppError } from "#proto/kit/errors.ts";
import { isObject, type JsonObject } from "#proto/kit/json.ts";
import { parseDuration } from "#proto/kit/units.ts";
import type { DocumentPages, FoundDocument } from "./change-by-query.ts";

export interface RemoteSource {
  readonly origin: URL;
  readonly headers: Readonly<Record<string, string>>;
  /** Time that one answer may take. */
  readonly timeoutMs: number;
  readonly index: readonly string[];
  /** query, sort, _source. */
  readonly body: JsonObject;
  readonly pageSize: number;
  /** Pauses, ms, before a request is repeated if the other side is busy, or lost it. */
  readonly pausesMs?: readonly number[];
}

/** Time that the other side keeps a scroll between two pages. */
const KEEP_ALIVE = "5m";

/** Largest answer. */
const MAX_ANSWER_BYTES = 256 * 1024 * 1024;

/** Growing pauses, ms. */
const RETRY_PAUSES_MS = [500, 1000, 2000, 4000, 8000, 16_000];

const DEFAULT_TIMEOUT_MS = 30_000;

/** Keys of `remote`. */
const KEYS: readonly string[] = [
  "host",
  "username",
  "password",
  "headers",
  "socket_timeout",
  "connect_timeout",
];

/** Reads `source.remote`. `allowed`: host:port patterns that may be read from. Throws parsing, request_invalid. */
export function readRemote(
  json: unknown,
  allowed: readonly string[],
): Pick<RemoteSource, "origin" | "headers" | "timeoutMs"> {
  const remote = objectOf(json, "source] [remote");
  const host = remote["host"];
  if (typeof host !== "string" || !URL.canParse(host))
    throw new AppError(
      "request_invalid",
      `[host] must be of the form [scheme]://[host]:[port](/[pathPrefix])? but was [${String(host)}]`,
    );
  const origin = new URL(host);
  if (
    (origin.protocol !== "http:" && origin.protocol !== "https:") ||
    (origin.port === "" && !/:\d+/.test(host))
  )
    throw new AppError(
      "request_invalid",
      `[host] must be of the form [scheme]://[host]:[port](/[pathPrefix])? but was [${host}]`,
    );
  const unknown = Object.keys(remote).filter((key) => !KEYS.includes(key));
  if (unknown.length > 0)
    throw new AppError("request_invalid", `Unsupported fields in [remote]: [${unknown.join(",")}]`);
  const timeoutMs = durationOf(remote, "socket_timeout") ?? DEFAULT_TIMEOUT_MS;
  durationOf(remote, "connect_timeout");
  const place = `${origin.hostname}:${origin.port === "" ? (origin.protocol === "https:" ? 443 : 80) : origin.port}`;
  if (!allowed.some((pattern) => compileWildcard(pattern).matches(place))) {
    throw new AppError(
      "request_invalid",
      `[${place}] not whitelisted in reindex.remote.whitelist; add it to this setting of the hub to read from there`,
    );
  }
  const { username, password, headers } = remote;
  const sent: Record<string, string> = {};
  for (const [name, value] of Object.entries(isObject(headers) ? headers : {}))
    sent[name.toLowerCase()] = String(value);
  if (typeof username === "string") {
    const pair = `${username}:${typeof password === "string" ? password : ""}`;
    sent["authorization"] = `Basic ${Buffer.from(pair).toString("base64")}`;
  }
  return { origin, headers: sent, timeoutMs };
}

/** Returns a duration in ms. Throws request_invalid with the error type of 6.5. */
function durationOf(remote: JsonObject, name: string): number | undefined {
  const given = remote[name];
  if (given === undefined) return undefined;
  try {
    return parseDuration(valueText(given), 1);
  } catch (error) {
    throw new AppError(
      "request_invalid",
      `failed to parse setting [${name}] with value [${valueText(given)}] as a time value`,
      { cause: error, data: { type: "number_format_exception" } },
    );
  }
}

/** Opens the documents of a remote index. Throws request_invalid with the remote error, unavailable. */
export async function openRemotePages(source: RemoteSource, signal: AbortSignal): Promise<DocumentPages> {
  const { index, body, pageSize } = source;
  const path = `${index.map(encodeURIComponent).join(",")}/_search?scroll=${KEEP_ALIVE}&size=${pageSize}`;
  const retries = { count: 0 };
  const pauses = source.pausesMs ?? RETRY_PAUSES_MS;
  const opening = { pauses, retries };
  const opened = await ask(source, "POST", path, { sort: ["_doc"], ...body }, signal, opening);
  let scrollId = String(opened["_scroll_id"]);
  let first: FoundDocument[] | undefined = hitsOf(opened);
  return {
    total: totalOf(opened),
    retries: () => retries.count,
    async next(stop) {
      if (first !== undefined) {
        const page = first;
        first = undefined;
        return page;
      }
      const answer = await ask(
        source,
        "POST",
        "_search/scroll",
        { scroll: KEEP_ALIVE, scroll_id: scrollId },
        stop,
        { pauses, retries, needsAnswer: true },
      );
      scrollId = valueText(answer["_scroll_id"] ?? scrollId);
      return hitsOf(answer);
    },
    async close() {
      const stop = AbortSignal.timeout(source.timeoutMs);
      // The remote scroll ends with its keep-alive.
      await ask(source, "DELETE", "_search/scroll", { scroll_id: [scrollId] }, stop).catch(() => undefined);
    },
  };
}

/** How a request is repeated. */
interface Repeats {
  /** Pauses before repetitions, ms. */
  readonly pauses: readonly number[];
  readonly retries: { count: number };
  /** True: it is repeated only if the other side answered. A request without an answer may have advanced its scroll. */
  readonly needsAnswer?: boolean;
}

/** Sends a request; with `repeats`, a request that may succeed later is repeated. */
async function ask(
  source: RemoteSource,
  method: string,
  path: string,
  body: JsonObject,
  signal: AbortSignal,
  repeats?: Repeats,
): Promise<JsonObject> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await send(source, method, path, body, signal);
    } catch (error) {
      signal.throwIfAborted();
      const pauseMs = repeats?.pauses[attempt];
      const fault = error instanceof AppError ? undefined : connectFault(error as Error);
      const mayHelp =
        error instanceof AppError ? error.retryable : fault === undefined && repeats?.needsAnswer !== true;
      if (pauseMs === undefined || !mayHelp) {
        if (error instanceof AppError) throw error;
        throw new AppError(
          "unavailable",
          `${source.origin.host} can't be read from: ${String((error as Error).message)}`,
          { cause: error, ...(fault !== undefined && { data: { type: fault } }) },
        );
      }
      repeats!.retries.count++;
      await systemClock.sleep(pauseMs, signal);
      signal.throwIfAborted();
    }
  }
}

/** Error types of other servers by the codes of connections that can't be made: the host may be mistyped. */
const CONNECT_FAULTS: Readonly<Record<string, string>> = {
  ECONNREFUSED: "connect_exception",
  EADDRNOTAVAIL: "connect_exception",
  EHOSTUNREACH: "connect_exception",
  ENETUNREACH: "connect_exception",
  ENOTFOUND: "unknown_host_exception",
};

/** Returns the type of an error if no connection could be made; undefined if a request may have been sent. */
function connectFault({ cause }: Error): string | undefined {
  const { code, message } = Object(cause) as { code?: string; message?: string };
  return message === "bad port" ? "connect_exception" : CONNECT_FAULTS[code ?? ""];
}

async function send(
  { origin, headers, timeoutMs }: RemoteSource,
  method: string,
  path: string,
  body: JsonObject,
  signal: AbortSignal,
): Promise<JsonObject> {
  const url = new URL(path, origin.href.endsWith("/") ? origin : `${origin.href}/`);
  const response = await fetch(url, {
    method,
    headers: { "content-type": "application/json", accept: "application/json", ...headers },
    body: writeJson(body),
    // Credentials must not be sent to another address.
    redirect: "error",
    signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
  });
  const text = await boundedText(response, origin.host);
  if (response.ok) return objectOf(parseJson(text), origin.host);
  const busy = response.status === 429 || response.status >= 500;
  throw new AppError(
    busy ? "unavailable" : "request_invalid",
    `${origin.host} answered ${response.status}: ${text.slice(0, 500)}`,
  );
}

async function boundedText(response: Response, host: string): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += (chunk as Uint8Array).length;
    if (size > MAX_ANSWER_BYTES)
      throw new AppError(
        "request_too_large",
        `${host} sent more than ${MAX_ANSWER_BYTES} bytes; give a smaller [size] in [source]`,
      );
    addPart(chunks, chunk as Uint8Array);
  }
  return Buffer.concat(chunks).toString("utf8");
}

function hitsOf(answer: JsonObject): FoundDocument[] {
  const { hits } = objectOf(answer["hits"], "hits");
  return (Array.isArray(hits) ? (hits as unknown[]) : []).map((each) => {
    const hit = objectOf(each, "hit");
    const routing = hit["_routing"] ?? hit["routing"];
    return {
      index: String(hit["_index"]),
      type: optionalText(hit["_type"], "_type"),
      id: String(hit["_id"]),
      version: undefined,
      seqNo: undefined,
      primaryTerm: undefined,
      routing: typeof routing === "string" ? routing : undefined,
      source: Buffer.from(hit["_source"] === undefined ? "" : writeJson(hit["_source"])),
    };
  });
}

/** A number up to 6.x, an object from 7 on. */
function totalOf(answer: JsonObject): number {
  const { total } = objectOf(answer["hits"], "hits");
  return Number(isObject(total) ? total["value"] : total);
}
