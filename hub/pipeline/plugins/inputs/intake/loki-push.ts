/** Loki's push interface (grafana.com/docs/loki, "Ingest logs"): streams as JSON and as protobuf packed by snappy. */

import "#proto/no-long.ts"; // protobufjs is one for the whole process
import protobuf from "protobufjs";
import { checkProtobuf } from "#hub/pipeline/formats/protobuf-check.ts";
import { unquoteGo } from "#proto/codec/go-string.ts";
import { parseEventObject } from "#proto/codec/json.ts";
import { decodeText } from "#proto/codec/plain.ts";
import { unpackSnappy } from "#proto/codec/snappy.ts";
import { Event, isHash, valueText } from "#proto/event.ts";
import { AppError, toAppError } from "#proto/kit/errors.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import type { HttpAnswer } from "../stream/http-server.ts";
import { checkEvents, type IntakeProtocol, type IntakeRequest, isJson } from "./http-intake.ts";

/** The part of github.com/grafana/loki/pkg/push that is read. */
const SCHEMA = `
syntax = "proto3";
message PushRequest { repeated Stream streams = 1; }
message Stream { string labels = 1; repeated Entry entries = 2; }
message Entry { Timestamp timestamp = 1; string line = 2; repeated Label structuredMetadata = 3; }
message Timestamp { int64 seconds = 1; int32 nanos = 2; }
message Label { string name = 1; string value = 2; }
`;

const PUSH = protobuf.parse(SCHEMA, { keepCase: true }).root.lookupType("PushRequest");

/** Longest request in protobuf, unpacked. Bytes. */
const MAX_UNPACKED_BYTES = 64 * 1024 * 1024;

const PATHS = ["/loki/api/v1/push", "/api/prom/push"];

/** Labels whose values the Elastic Common Schema names too. */
const ECS: Readonly<Record<string, readonly [string, ...string[]]>> = {
  service_name: ["service", "name"],
  host: ["host", "name"],
  hostname: ["host", "name"],
  filename: ["log", "file", "path"],
  level: ["log", "level"],
  detected_level: ["log", "level"],
  container: ["container", "name"],
  container_name: ["container", "name"],
  namespace: ["kubernetes", "namespace"],
  pod: ["kubernetes", "pod", "name"],
};

/** A line with its labels. */
interface LokiEntry {
  readonly labels: Readonly<Record<string, string>>;
  readonly timeMs: number;
  readonly line: string;
  readonly metadata: Readonly<Record<string, string>>;
}

export const lokiPush: IntakeProtocol = {
  title: "Loki",
  example: PATHS[0]!,
  serves: (path) => PATHS.includes(path) || path === "/ready",
  async answer(request, take) {
    if (request.path === "/ready") return { status: 200, body: "ready\n" };
    if (request.method !== "POST") return { status: 405, body: "streams are posted\n" };
    try {
      const tenant = request.headers["x-scope-orgid"];
      await take(entriesOf(request).map((entry) => eventOf(entry, tenant?.toString())));
    } catch (error) {
      return failed(error);
    }
    return { status: 204 };
  },
};

/** Senders give up at 4xx and come back at 429 and 5xx. */
function failed(error: unknown): HttpAnswer {
  const { status, message } = toAppError(error);
  const isFinal = status === 400 || status === 413;
  return {
    status: isFinal ? status : 503,
    body: `${message}\n`,
    ...(!isFinal && { headers: { "Retry-After": "1" } }),
  };
}

/** Throws parsing, request_too_large. */
function entriesOf({ headers, body, nowMs }: IntakeRequest): LokiEntry[] {
  if (isJson(headers)) return jsonEntries(body, nowMs);
  // Protobuf is always packed; a sender that says so in a header has had it unpacked by the server.
  const isUnpacked = /snappy/i.test(headers["content-encoding"] ?? "");
  const bytes = isUnpacked ? body : unpackSnappy(body, MAX_UNPACKED_BYTES);
  let push: JsonObject;
  try {
    checkProtobuf(PUSH, bytes);
    push = PUSH.toObject(PUSH.decode(bytes), { longs: String }) as JsonObject;
  } catch (error) {
    if (error instanceof AppError && error.code === "request_too_large") throw error;
    throw new AppError("parsing", "the body isn't a PushRequest", { cause: error });
  }
  return objects(push["streams"]).flatMap(({ labels, entries }) => {
    const named = parseLabels(valueText(labels ?? ""));
    return objects(entries).map(({ timestamp, line, structuredMetadata }) => ({
      labels: named,
      timeMs: isHash(timestamp)
        ? Number(timestamp["seconds"] ?? 0) * 1000 + Number(timestamp["nanos"] ?? 0) / 1e6
        : nowMs,
      line: valueText(line ?? ""),
      metadata: Object.fromEntries(
        objects(structuredMetadata).map(({ name, value }) => [valueText(name ?? ""), valueText(value ?? "")]),
      ),
    }));
  });
}

function jsonEntries(body: Buffer, nowMs: number): LokiEntry[] {
  const push = parseEventObject(decodeText(body));
  if (push === undefined || !Array.isArray(push["streams"]))
    throw new AppError("parsing", 'the body is not an object with "streams"');
  let count = 0;
  return objects(push["streams"]).flatMap(({ stream, values, labels, entries }) => {
    if (Array.isArray(entries)) {
      checkEvents((count += entries.length));
      return firstEntries(parseLabels(valueText(labels ?? "{}")), entries, nowMs);
    }
    if (!Array.isArray(values)) throw new AppError("parsing", "a stream has no list of values");
    checkEvents((count += values.length));
    return values.map((value: unknown) => {
      if (!Array.isArray(value) || value.length < 2)
        throw new AppError("parsing", "a value must be a time in ns and a line");
      const [nanos, line, metadata] = value as unknown[];
      return {
        labels: texts(stream),
        timeMs: /^\d{1,19}(?:\.0)?$/.test(valueText(nanos)) ? Number(valueText(nanos)) / 1e6 : nowMs,
        line: valueText(line),
        metadata: texts(metadata),
      };
    });
  });
}

/** Reads entries as the first interface, /api/prom/push, has them. */
function firstEntries(labels: Record<string, string>, entries: unknown[], nowMs: number): LokiEntry[] {
  return objects(entries).map(({ ts, line }) => {
    const timeMs = Date.parse(valueText(ts));
    return {
      labels,
      timeMs: Number.isNaN(timeMs) ? nowMs : timeMs,
      line: valueText(line ?? ""),
      metadata: {},
    };
  });
}

function eventOf({ labels, timeMs, line, metadata }: LokiEntry, tenant: string | undefined): Event {
  const members: JsonObject = { message: line };
  if (Object.keys(labels).length > 0) members["labels"] = { ...labels };
  if (Object.keys(metadata).length > 0) members["attributes"] = { ...metadata };
  if (tenant !== undefined) members["loki"] = { tenant };
  for (const [label, path] of Object.entries(ECS)) {
    const value = labels[label] ?? metadata[label];
    if (value !== undefined) put(members, path, value);
  }
  return new Event(members, timeMs);
}

/** Sets a value unless there is one. */
function put(members: JsonObject, [name, ...rest]: readonly [string, ...string[]], value: string): void {
  const [next, ...further] = rest;
  if (next === undefined) members[name] ??= value;
  else put((members[name] ??= {}) as JsonObject, [next, ...further], value);
}

/** Reads `{job="shop", level="info"}`. Throws parsing. */
export function parseLabels(text: string): Record<string, string> {
  const labels: Record<string, string> = {};
  const pattern = /\s*([a-zA-Z_][a-zA-Z0-9_.]*)\s*=\s*("(?:[^"\\]|\\.)*")\s*(,|$)/y;
  const inner = /^\s*\{(.*)\}\s*$/s.exec(text)?.[1]?.trim();
  if (inner === undefined) throw new AppError("parsing", `"${text.slice(0, 200)}" aren't labels`);
  while (pattern.lastIndex < inner.length) {
    const found = pattern.exec(inner);
    if (found === null) throw new AppError("parsing", `"${text.slice(0, 200)}" aren't labels`);
    labels[found[1]!] = unquoted(found[2]!);
  }
  return labels;
}

/** Texts with escapes that are none stay as they are. */
function unquoted(quoted: string): string {
  const inner = quoted.slice(1, -1);
  return unquoteGo(inner) ?? inner;
}

function objects(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.filter(isHash) : [];
}

function texts(value: unknown): Record<string, string> {
  if (!isHash(value)) return {};
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, valueText(each)]));
}
