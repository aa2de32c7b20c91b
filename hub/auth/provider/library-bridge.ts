/** Handing fastify's requests to oidc-provider: with the public address, and with parameters already read. */

import type { IncomingMessage, ServerResponse } from "node:http";
import { Readable } from "node:stream";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Provider } from "oidc-provider";

/** Parameters of an authorization request that the server understands; others are ignored (RFC 6749 section 3.1). */
const AUTHORIZATION_PARAMETERS: ReadonlySet<string> = new Set([
  "client_id",
  "redirect_uri",
  "response_type",
  "scope",
  "state",
  "code_challenge",
  "code_challenge_method",
  "prompt",
  "login_hint",
  "request",
  "request_uri",
]);
/** Values of `prompt` that the server understands. */
const PROMPTS: ReadonlySet<string> = new Set(["none", "login", "consent"]);

/** Lets the library answer a browser's request. */
export async function answerBrowser(
  provider: Provider,
  publicUrl: string,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  reply.hijack();
  const { raw } = request;
  Object.assign(raw.headers, forwardedHeaders(publicUrl, request.ip));
  raw.url = understoodUrl(raw.url ?? "/");
  await provider.callback()(raw, reply.raw);
}

/** Lets the library answer a client's request whose parameters are `values`. Returns the status it answered with. */
export async function answerClient(
  provider: Provider,
  publicUrl: string,
  request: FastifyRequest,
  response: ServerResponse,
  values: URLSearchParams,
): Promise<number> {
  const body = Buffer.from(values.toString());
  const { authorization } = request.headers;
  const read: ReadRequest = Object.assign(Readable.from([body], { objectMode: false }), {
    method: "POST",
    url: request.url.split("?")[0] ?? "/",
    httpVersion: request.raw.httpVersion,
    socket: request.raw.socket,
    headers: {
      ...forwardedHeaders(publicUrl, request.ip),
      ...(authorization === undefined ? {} : { authorization }),
      accept: "application/json",
      "content-type": "application/x-www-form-urlencoded",
      "content-length": String(body.length),
    },
  });
  // Koa reads nothing of a request but what ReadRequest has.
  await provider.callback()(read as unknown as IncomingMessage, response);
  return response.statusCode;
}

type ReadRequest = Readable & Pick<IncomingMessage, "method" | "url" | "httpVersion" | "socket" | "headers">;

/** The address is the configured one, never what a request says (RFC 9700 section 4.12 on proxies and Host). */
function forwardedHeaders(publicUrl: string, ip: string): Record<string, string> {
  const { protocol, host } = new URL(publicUrl);
  return {
    host,
    "x-forwarded-proto": protocol.slice(0, -1),
    "x-forwarded-host": host,
    "x-forwarded-for": ip,
  };
}

function understoodUrl(url: string): string {
  const at = url.indexOf("?");
  if (at < 0) return url;
  const understood = new URLSearchParams();
  for (const [name, value] of new URLSearchParams(url.slice(at + 1))) {
    if (!AUTHORIZATION_PARAMETERS.has(name)) continue;
    understood.append(name, understoodValue(name, value));
  }
  return `${url.slice(0, at)}?${understood.toString()}`;
}

function understoodValue(name: string, value: string): string {
  // Of another type the library would send its error in the fragment, where no server sees it.
  if (name === "response_type") return value === "code" || value === "" ? value : "unsupported";
  if (name !== "prompt") return value;
  return value
    .split(" ")
    .filter((prompt) => PROMPTS.has(prompt))
    .join(" ");
}
