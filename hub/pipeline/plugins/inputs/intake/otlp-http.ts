/** OTLP over HTTP (opentelemetry.io/docs/specs/otlp, section OTLP/HTTP): logs as protobuf and as JSON. */

import { toAppError } from "#proto/kit/errors.ts";
import type { HttpAnswer } from "../stream/http-server.ts";
import type { IntakeProtocol, IntakeRequest, TakeEvents } from "./http-intake.ts";
import { decodeOtlpJson, decodeOtlpProtobuf, otlpEvents } from "./otlp-logs.ts";

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
    const isJson = (request.headers["content-type"] ?? "").startsWith(JSON_TYPE);
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
        return failed(400, INVALID_ARGUMENT, `the body is no ${isJson ? JSON_TYPE : PROTOBUF_TYPE} of logs`);
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

/** An answer names what was left out, so that the sender drops it knowingly and doesn't repeat the rest. */
function partialSuccess(rejected: number): object {
  if (rejected === 0) return {};
  const errorMessage = `${rejected} members of logRecords are no records`;
  return { partialSuccess: { rejectedLogRecords: String(rejected), errorMessage } };
}

/** Resolves with the number of records left out, or undefined if the body is no request of logs. */
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
