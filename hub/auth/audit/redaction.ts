/** Keeps credentials out of the request log: query strings of sign-in and token routes never reach it. */

import type { FastifyRequest, RouteShorthandOptions } from "fastify";

/** Names of query parameters whose values are hidden in any URL. */
const SECRET_PARAMETERS: ReadonlySet<string> = new Set([
  "access_token",
  "api_key",
  "client_secret",
  "code",
  "code_verifier",
  "password",
  "refresh_token",
  "state",
  "ticket",
  "token",
]);
/** Paths of one-time links and prompts contain their secret. */
const SECRET_PATH = /^(\/api\/auth\/setup\/|\/o\/oauth2\/v2\/(?:auth|prompt)\/)[^/?]+/;

/** Returns `url` with the values of credentials replaced; for logs. */
export function redactUrl(url: string): string {
  const [path = "", ...rest] = url.split("?");
  const shown = path.replace(SECRET_PATH, "$1[hidden]");
  if (rest.length === 0) return shown;
  const pairs = rest.join("?").split("&");
  const kept = pairs.map((pair) => {
    const [name = ""] = pair.split("=");
    return SECRET_PARAMETERS.has(decodeName(name)) ? `${name}=[hidden]` : pair;
  });
  return `${shown}?${kept.join("&")}`;
}

/** Returns the loggable part of a request; servers use it as fastify's serializer of `req`. */
export function requestForLog(request: FastifyRequest): Record<string, unknown> {
  return { method: request.method, url: redactUrl(request.url), host: request.host, ip: request.ip };
}

/** Options of routes whose URLs may hold credentials: logged from warn on, redacted. */
export const quietRoute: Pick<RouteShorthandOptions, "logLevel" | "logSerializers"> = {
  logLevel: "warn",
  logSerializers: { req: (request: FastifyRequest) => requestForLog(request) },
};

function decodeName(name: string): string {
  try {
    return decodeURIComponent(name.replaceAll("+", " ")).toLowerCase();
  } catch {
    return name.toLowerCase();
  }
}
