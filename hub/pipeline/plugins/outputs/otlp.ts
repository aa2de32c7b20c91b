/** Output otlp: log records of OpenTelemetry over HTTP, in protobuf (OTLP 1.x, opentelemetry.io/docs/specs/otlp). */

import { OTLP_LOGS, OTLP_LOGS_ANSWER } from "#hub/pipeline/formats/otlp-logs-schema.ts";
import { defineOutput, type OutputRecord } from "#hub/pipeline/plugins/output.ts";
import {
  checkPushOptions,
  PUSH_OPTIONS,
  type PushProtocol,
  PushWriter,
} from "#hub/pipeline/plugins/outputs/push/push-writer.ts";
import { isRawJson } from "#proto/codec/json.ts";
import { type Event, isHash, Timestamp, valueText } from "#proto/event.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import { options } from "#proto/kit/options.ts";

const OPTIONS = options(PUSH_OPTIONS);

/** Severity numbers by the names of levels (specification of the data model, "Field: SeverityNumber"). */
const SEVERITIES: Readonly<Record<string, number>> = {
  trace: 1,
  debug: 5,
  info: 9,
  information: 9,
  informational: 9,
  notice: 10,
  warn: 13,
  warning: 13,
  error: 17,
  err: 17,
  critical: 18,
  crit: 18,
  alert: 19,
  fatal: 21,
  emergency: 21,
  emerg: 21,
};

/** Values within values that are followed; deeper ones are sent as JSON. */
const MAX_DEPTH = 16;

const NS_PER_MS = 1_000_000n;
const LOW_BITS = 0xffffffffn;

export const otlpOutput = defineOutput({
  name: "otlp",
  description: "sends OpenTelemetry log records over HTTP; after a crash the last ones may be duplicated",
  options: OPTIONS,
  create(values, context) {
    checkPushOptions(values, context);
    return {
      shape(event) {
        const { resource, record } = recordOf(event);
        return { target: JSON.stringify(resource), body: Buffer.from(JSON.stringify(record)) };
      },
    };
  },
  writer: (values, context) => new PushWriter(values, context, OTLP),
});

/** A log record as JSON; what the writer adds is its time and bytes. */
interface PlainRecord {
  readonly severityNumber?: number;
  readonly severityText?: string;
  readonly body: JsonObject;
  readonly attributes: readonly JsonObject[];
  readonly trace?: string;
  readonly span?: string;
}

/** Undoes what the input otlp does; other fields become attributes with dotted names. */
function recordOf(event: Event): { resource: readonly JsonObject[]; record: PlainRecord } {
  const { message, attributes, resource, "@timestamp": _time, ...rest } = event.fields;
  const given = isHash(resource) && isHash(resource["attributes"]) ? resource["attributes"] : {};
  const all: JsonObject = { ...(isHash(attributes) ? attributes : {}) };
  if (attributes !== undefined && !isHash(attributes)) all["attributes"] = attributes;
  if (resource !== undefined && !isHash(resource)) all["resource"] = resource;
  flatten(rest, "", all);
  const take = (name: string): string | undefined => {
    const value = all[name];
    delete all[name];
    return value === undefined ? undefined : valueText(value);
  };
  const level = take("log.level");
  const [trace, span] = [idOf(all, "trace.id", 32), idOf(all, "span.id", 16)];
  const ofResource: JsonObject = { ...given };
  for (const name of ["service.name", "service.version", "host.name"]) {
    const value = all[name];
    if (value === undefined || (ofResource[name] ?? value) !== value) continue;
    ofResource[name] = value;
    delete all[name];
  }
  const severityNumber = SEVERITIES[level?.toLowerCase() ?? ""];
  return {
    resource: keyValues(ofResource, 0),
    record: {
      ...(severityNumber !== undefined && { severityNumber }),
      ...(level !== undefined && { severityText: level }),
      body: anyValue(message ?? "", 0),
      attributes: keyValues(all, 0),
      ...(trace !== undefined && { trace }),
      ...(span !== undefined && { span }),
    },
  };
}

/** Takes an id of this many hexadecimal digits out of the attributes; another value stays there. */
function idOf(all: JsonObject, name: string, digits: number): string | undefined {
  const value = all[name];
  if (typeof value !== "string" || value.length !== digits || !/^[0-9a-f]+$/i.test(value)) return undefined;
  delete all[name];
  return value;
}

function flatten(fields: JsonObject, prefix: string, into: JsonObject): void {
  for (const [name, value] of Object.entries(fields)) {
    if (isHash(value) && Object.keys(value).length > 0) flatten(value, `${prefix}${name}.`, into);
    else into[`${prefix}${name}`] ??= value;
  }
}

function keyValues(members: JsonObject, depth: number): JsonObject[] {
  return Object.entries(members).map(([key, value]) => ({ key, value: anyValue(value, depth + 1) }));
}

function anyValue(value: unknown, depth: number): JsonObject {
  if (typeof value === "string") return { stringValue: value };
  if (typeof value === "boolean") return { boolValue: value };
  if (typeof value === "number")
    return Number.isSafeInteger(value) ? { intValue: value } : { doubleValue: value };
  if (isRawJson(value) && value.rawJSON.includes(".")) return { doubleValue: Number(value.rawJSON) };
  if (value === null || value === undefined) return {};
  if (value instanceof Timestamp || depth > MAX_DEPTH) return { stringValue: valueText(value) };
  if (Array.isArray(value)) return { arrayValue: { values: value.map((each) => anyValue(each, depth + 1)) } };
  if (isHash(value)) return { kvlistValue: { values: keyValues(value, depth) } };
  return { stringValue: valueText(value) };
}

const OTLP: PushProtocol = {
  path: "/v1/logs",
  contentType: "application/x-protobuf",
  tokenScheme: "Bearer",
  headersOf: () => ({}),
  body(records) {
    const resourceLogs = [...Map.groupBy(records, ({ target }) => target)].map(([target, some]) => ({
      resource: { attributes: JSON.parse(target) as JsonObject[] },
      scopeLogs: [{ scope: { name: "tailrace" }, logRecords: some.map(logRecord) }],
    }));
    return OTLP_LOGS.encode({ resourceLogs }).finish();
  },
  leftOut({ bytes }) {
    const { rejected, reason } = partialSuccess(bytes);
    return rejected === 0 ? undefined : `the server left out ${rejected} records: ${reason}`;
  },
};

/** An empty answer, and one that can't be read, mean that all were taken. */
function partialSuccess(bytes: Uint8Array): { readonly rejected: number; readonly reason: string } {
  try {
    const { partialSuccess: partial } = OTLP_LOGS_ANSWER.toObject(OTLP_LOGS_ANSWER.decode(bytes));
    return {
      rejected: Number(partial?.rejectedLogRecords ?? 0),
      reason: String(partial?.errorMessage ?? ""),
    };
  } catch {
    return { rejected: 0, reason: "" };
  }
}

function logRecord({ body, timeMs }: OutputRecord): JsonObject {
  const { trace, span, ...record } = JSON.parse(Buffer.from(body).toString()) as PlainRecord;
  const nanos = BigInt(Math.floor(timeMs)) * NS_PER_MS;
  return {
    ...record,
    // Beyond 2^53 a number would be rounded, to another millisecond.
    timeUnixNano: { low: Number(nanos & LOW_BITS), high: Number(nanos >> 32n), unsigned: true },
    ...(trace !== undefined && { traceId: Buffer.from(trace, "hex") }),
    ...(span !== undefined && { spanId: Buffer.from(span, "hex") }),
  };
}
