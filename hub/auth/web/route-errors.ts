/** Answers of this room's JSON routes to failures, with the headers that RFC 6750 and 9110 want. */

import type { FastifyError, FastifyReply } from "fastify";
import { AppError, toAppError } from "#proto/kit/errors.ts";
import type { Logger } from "#proto/kit/log.ts";

/** Headers of an error's answer: WWW-Authenticate, Retry-After. */
export function headersOf({ data }: AppError): Record<string, string> {
  const { wwwAuthenticate, retryAfterSeconds } = data;
  return {
    "cache-control": "no-store",
    ...(typeof wwwAuthenticate === "string" ? { "www-authenticate": wwwAuthenticate } : {}),
    ...(typeof retryAfterSeconds === "number" ? { "retry-after": String(retryAfterSeconds) } : {}),
  };
}

/** Sends `error` as {error: {code, message}}; what isn't expected is logged and hidden. */
export function sendError(reply: FastifyReply, error: unknown, log: Logger): FastifyReply {
  const fault = expected(error);
  if (fault.code === "internal") log.error({ err: fault.cause ?? fault }, "authentication route failed");
  return reply
    .code(fault.status)
    .headers(headersOf(fault))
    .send({ error: { code: fault.code, message: fault.message } });
}

function expected(error: unknown): AppError {
  const { statusCode, message } = error as Partial<FastifyError>;
  if (error instanceof AppError || statusCode === undefined || statusCode >= 500) return toAppError(error);
  const code = statusCode === 413 ? "request_too_large" : "request_invalid";
  return new AppError(code, message ?? "the request is wrong");
}
