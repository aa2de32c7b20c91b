/** What the JSON routes of sign-in and administration share: the check of a body, and the answer to an error. */

import type { FastifyError, FastifyReply } from "fastify";
import type { Static, TSchema } from "typebox";
import type { Principal } from "#hub/auth/accounts/principal.ts";
import { AppError, toAppError } from "#proto/kit/errors.ts";
import type { Logger } from "#proto/kit/log.ts";
import { schemaFault } from "#proto/kit/schema.ts";

/** A request below /api/auth/: its caller and address, the id in its path and its body. */
export interface JsonCall {
  readonly actor: Principal;
  readonly id: string;
  readonly body: unknown;
  readonly ip: string;
}

export type JsonHandler = (call: JsonCall) => Promise<unknown>;

/** Adds a route below /api/auth/ for administrators, or with `own` for everybody who is signed in. */
export type AddJsonRoute = (
  method: "GET" | "POST" | "PATCH" | "DELETE",
  url: string,
  status: number,
  handler: JsonHandler,
  own?: boolean,
) => unknown;

/** Returns the body where it fits the schema. Throws request_invalid naming the field. */
export function checked<T extends TSchema>(schema: T, body: unknown): NoInfer<Static<T>> {
  const fault = schemaFault(schema, body);
  if (fault === undefined) return body as NoInfer<Static<T>>;
  const where = fault.path.join(".") || "the body";
  throw new AppError("request_invalid", `${where} ${fault.message}${fault.hint}`);
}

/** Returns the headers of an error's answer: WWW-Authenticate (RFC 6750, 9110), Retry-After. */
export function headersOf({ data }: AppError): Record<string, string> {
  const { wwwAuthenticate, retryAfterSeconds } = data;
  return {
    "cache-control": "no-store",
    ...(typeof wwwAuthenticate === "string" ? { "www-authenticate": wwwAuthenticate } : {}),
    ...(typeof retryAfterSeconds === "number" ? { "retry-after": String(retryAfterSeconds) } : {}),
  };
}

/** Sends `error` as {error: {code, message}}. An unexpected error is logged, and its text is not sent. */
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
