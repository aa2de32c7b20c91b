/**
 * Logs of OpenTelemetry (OTLP 1.x, opentelemetry.io/docs/specs/otlp): requests as protobuf and as JSON, the events
 * they contain, and the protocol over HTTP.
 */

import { OTLP_LOGS } from "#hub/pipeline/formats/otlp-logs-schema.ts";
import { checkProtobuf } from "#hub/pipeline/formats/protobuf-check.ts";
import type { HttpAnswer } from "#hub/pipeline/plugins/inputs/stream/http-server.ts";
import { decimal, parseEventObject } from "#proto/codec/json.ts";
import { decodeText } from "#proto/codec/plain.ts";
import { Event, isHash, valueText } from "#proto/event.ts";
import { AppError, toAppError } from "#proto/kit/errors.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import {
  checkEvents,
  type IntakeProtocol,
  type IntakeRequest,
  isJson as isJsonBody,
  type TakeEvents,
} from "./http-intake.ts";

const JSON_TYPE = "application/json";
const PROTOBUF_TYPE = "application/x-protobuf";

/** Codes of google.rpc.Code that answers name. */
const INVALID_ARGUMENT = 3;
const RESOURCE_EXHAUSTED = 8;
const UNIMPLEMENTED = 12;
const UNAVAILABLE = 14;

export const otlpHttp: IntakeProtocol = {
  title: "OpenTelemetry (OTLP over HTTP)",
  example: "/v1/logs",
  serves: (path) => /^\/v1\/(?:logs|traces|metrics)$/.test(path),
  async answer(request, take) {
    const isJson = isJsonBody(request.headers);
    const failed = (status: number, code: number, message: string): HttpAnswer => ({
      status,
      headers: { "Content-Type": isJson ? JSON_TYPE : PROTOBUF_TYPE, ...(status === 503 && RETRY) },
      body: isJson ? JSON.stringify({ code, message }) : statusMessage(code, message),
    });
    if (request.path !== "/v1/logs")
      return failed(404, UNIMPLEMENTED, "only logs are taken, at /v1/logs; traces and metrics aren't");
    if (request.method !== "POST") return failed(405, UNIMPLEMENTED, "logs are posted");
    try {
      const rejected = await takeLogs(request, isJson, take);
      if (rejected === undefined)
        return failed(
          400,
          INVALID_ARGUMENT,
          `the body isn't a ${isJson ? JSON_TYPE : PROTOBUF_TYPE} of logs`,
        );
      return {
        status: 200,
        headers: { "Content-Type": isJson ? JSON_TYPE : PROTOBUF_TYPE },
        body: isJson ? JSON.stringify(partialSuccess(rejected)) : "",
      };
    } catch (error) {
      const { code, message } = toAppError(error);
      if (code === "request_too_large") return failed(413, RESOURCE_EXHAUSTED, message);
      return code === "parsing" ? failed(400, INVALID_ARGUMENT, message) : failed(503, UNAVAILABLE, message);
    }
  },
};

const RETRY = { "Retry-After": "1" };

/** Values within values that are followed. */
const MAX_DEPTH = 32;

/** Names of the ranges of four severity numbers each. */
const LEVELS = ["trace", "debug", "info", "warn", "error", "fatal"];

/** Attributes of the resource whose names the Elastic Common Schema has otherwise. */
const ECS: Readonly<Record<string, readonly [string, string]>> = {
  "service.name": ["service", "name"],
  "service.version": ["service", "version"],
  "host.name": ["host", "name"],
};

/** Returns the request that a body in protobuf is; undefined: it is none. Throws request_too_large. */
export function decodeOtlpProtobuf(body: Uint8Array): JsonObject | undefined {
  try {
    checkProtobuf(OTLP_LOGS, body);
    return OTLP_LOGS.toObject(OTLP_LOGS.decode(body), {
      longs: String,
      bytes: (bytes: Uint8Array) => bytes,
    }) as JsonObject;
  } catch (error) {
    if (error instanceof AppError && error.code === "request_too_large") throw error;
    return undefined;
  }
}

/** Returns the request that a body in JSON is; undefined: it is none. */
export function decodeOtlpJson(body: Uint8Array): JsonObject | undefined {
  const logs = parseEventObject(decodeText(body));
  return logs?.["resource_logs"] === undefined ? logs : (inJsonNames(logs, 0) as JsonObject);
}

/** Levels of JSON that hold values within values as deep as they are followed. */
const MAX_JSON_DEPTH = 8 + 4 * MAX_DEPTH;

/** Names members as JSON does: some senders use the names of the schema, such as `log_records`, as JSON of protobuf may. */
function inJsonNames(value: unknown, depth: number): unknown {
  if (depth > MAX_JSON_DEPTH) return value;
  if (Array.isArray(value)) return value.map((each) => inJsonNames(each, depth + 1));
  if (!isHash(value)) return value;
  const jsonName = (name: string): string =>
    name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [jsonName(name), inJsonNames(each, depth + 1)]),
  );
}

/** The events of a request. */
export interface OtlpEvents {
  readonly events: Event[];
  /** Records of a request in JSON that are none, and so no events. */
  readonly rejected: number;
}

/**
 * Returns the events of a request, in either form; `nowMs` is the time of those that have none. Throws
 * request_too_large.
 */
export function otlpEvents(logs: JsonObject, nowMs: number): OtlpEvents {
  const events: Event[] = [];
  let rejected = 0;
  for (const ofResource of objects(logs["resourceLogs"])) {
    const resource = attributesOf(
      isHash(ofResource["resource"]) ? ofResource["resource"]["attributes"] : undefined,
      0,
    );
    for (const ofScope of objects(ofResource["scopeLogs"])) {
      const records = objects(ofScope["logRecords"]);
      checkEvents(events.length + records.length);
      rejected += lengthOf(ofScope["logRecords"]) - records.length;
      for (const record of records) events.push(eventOf(record, resource, ofScope["scope"], nowMs));
    }
  }
  return { events, rejected };
}

function eventOf(record: JsonObject, resource: JsonObject, scope: unknown, nowMs: number): Event {
  const timeMs = timeOf(record["timeUnixNano"]) ?? timeOf(record["observedTimeUnixNano"]) ?? nowMs;
  const body = anyValue(record["body"], 0);
  const fields: JsonObject = isHash(body) ? { body } : { message: valueText(body) };
  if (isHash(body) && typeof body["message"] === "string") fields["message"] = body["message"];
  const level = record["severityText"] || levelOf(record["severityNumber"]);
  if (level !== undefined && level !== "") fields["log"] = { level: valueText(level).toLowerCase() };
  for (const [name, [outer, inner]] of Object.entries(ECS)) {
    if (resource[name] !== undefined)
      fields[outer] = { ...(fields[outer] as JsonObject | undefined), [inner]: resource[name] };
  }
  const attributes = attributesOf(record["attributes"], 0);
  if (Object.keys(attributes).length > 0) fields["attributes"] = attributes;
  if (Object.keys(resource).length > 0) fields["resource"] = { attributes: resource };
  const from = isHash(scope) ? scopeOf(scope) : {};
  if (Object.keys(from).length > 0) fields["scope"] = from;
  const [trace, span] = [hex(record["traceId"]), hex(record["spanId"])];
  if (trace !== "") fields["trace"] = { id: trace };
  if (span !== "") fields["span"] = { id: span };
  if (typeof record["eventName"] === "string" && record["eventName"] !== "")
    fields["event"] = { action: record["eventName"] };
  return new Event(fields, timeMs);
}

/** Returns the level of a severity's number; some senders write its name in the schema, such as SEVERITY_NUMBER_INFO2. */
function levelOf(severity: unknown): string | undefined {
  const name = /^SEVERITY_NUMBER_([A-Z]+)\d?$/.exec(valueText(severity))?.[1]?.toLowerCase();
  return (
    LEVELS.find((level) => level === name) ?? LEVELS[Math.ceil(Number(valueText(severity ?? 0)) / 4) - 1]
  );
}

function scopeOf({ name, version, attributes }: JsonObject): JsonObject {
  const given = attributesOf(attributes, 0);
  return {
    ...(name !== undefined && name !== "" && { name }),
    ...(version !== undefined && version !== "" && { version }),
    ...(Object.keys(given).length > 0 && { attributes: given }),
  };
}

function lengthOf(value: unknown): number {
  return Array.isArray(value) ? value.length : 0;
}

function objects(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.filter(isHash) : [];
}

function attributesOf(list: unknown, depth: number): JsonObject {
  return Object.fromEntries(
    objects(list).map((each) => [valueText(each["key"]), anyValue(each["value"], depth + 1)]),
  );
}

/** Both forms name the kind of a value by its one member; one without a member is empty, as SDKs write null. */
function anyValue(value: unknown, depth: number): unknown {
  if (!isHash(value)) return null;
  if (depth > MAX_DEPTH) return "";
  if (isHash(value["kvlistValue"])) return attributesOf(value["kvlistValue"]["values"], depth + 1);
  if (isHash(value["arrayValue"])) {
    const { values } = value["arrayValue"];
    return (Array.isArray(values) ? values : []).map((each) => anyValue(each, depth + 1));
  }
  if (value["intValue"] !== undefined) {
    const number = Number(valueText(value["intValue"]));
    return Number.isSafeInteger(number) ? number : valueText(value["intValue"]);
  }
  if (value["bytesValue"] instanceof Uint8Array) return Buffer.from(value["bytesValue"]).toString("base64");
  if (typeof value["doubleValue"] === "number") return decimal(value["doubleValue"]);
  return value["stringValue"] ?? value["boolValue"] ?? value["doubleValue"] ?? value["bytesValue"] ?? null;
}

/** ns since 1970, as text or number, which may be a decimal; 0 means that it isn't known. */
function timeOf(nanos: unknown): number | undefined {
  const [, digits] = /^([1-9]\d*)(?:\.0)?$/.exec(valueText(nanos)) ?? [];
  return digits === undefined ? undefined : Number(BigInt(digits) / 1_000_000n);
}

function hex(value: unknown): string {
  return value instanceof Uint8Array ? Buffer.from(value).toString("hex") : valueText(value);
}

/** An answer names what was left out, so that the sender drops it knowingly and doesn't repeat the rest. */
function partialSuccess(rejected: number): object {
  if (rejected === 0) return {};
  const errorMessage = `${rejected} members of logRecords aren't records`;
  return { partialSuccess: { rejectedLogRecords: String(rejected), errorMessage } };
}

/** Resolves with the number of records left out, or undefined if the body isn't a request of logs. */
async function takeLogs(
  { body, nowMs }: IntakeRequest,
  isJson: boolean,
  take: TakeEvents,
): Promise<number | undefined> {
  const logs = isJson ? decodeOtlpJson(body) : decodeOtlpProtobuf(body);
  if (logs === undefined) return undefined;
  const { events, rejected } = otlpEvents(logs, nowMs);
  await take(events);
  return rejected;
}

/** Returns a message google.rpc.Status: `int32 code = 1; string message = 2;`, of at most 127 bytes of text. */
function statusMessage(code: number, message: string): Buffer {
  const text = Buffer.from(message).subarray(0, 127);
  return Buffer.concat([Buffer.from([0x08, code, 0x12, text.length]), text]);
}
