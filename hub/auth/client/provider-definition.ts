/** A provider at which accounts are connected: its endpoints, this hub's registration, and the hosts its tokens may go to. */

import type { Static } from "typebox";
import { AppError } from "#proto/kit/errors.ts";
import { isLoopbackHttp } from "#proto/kit/net/loopback.ts";
import { schemaFault, Type } from "#proto/kit/schema.ts";

const Text = Type.String({ minLength: 1, maxLength: 2_000 });

/** The fields an administrator fills in. Endpoints come from `issuer` (RFC 8414 metadata), `auth_url` + `token_url`, or are given whole. */
export const ProviderDefinition = Type.Object(
  {
    name: Type.String({ minLength: 1, maxLength: 100, description: "Name shown to people." }),
    issuer: Type.Optional(
      Type.String({ maxLength: 500, description: "Address whose metadata name the endpoints." }),
    ),
    auth_url: Type.Optional(
      Type.String({ description: "Base address; the path /o/oauth2/v2/auth is added." }),
    ),
    token_url: Type.Optional(Type.String({ description: "Base address; the path /token is added." })),
    authorization_endpoint: Type.Optional(
      Type.String({ description: "Whole address, instead of auth_url." }),
    ),
    token_endpoint: Type.Optional(Type.String({ description: "Whole address, instead of token_url." })),
    revocation_endpoint: Type.Optional(
      Type.String({ description: "Whole address; called when an account is removed." }),
    ),
    client_id: Text,
    client_secret: Type.Optional(Text),
    scope: Type.String({ maxLength: 4_000, description: "Resource URLs, separated by blanks." }),
    credentials_in: Type.Optional(
      Type.Union([Type.Literal("body"), Type.Literal("query"), Type.Literal("basic")], {
        default: "body",
        description:
          "Where the token endpoint wants its parameters: form body, query string, or HTTP Basic and body.",
      }),
    ),
    authorization_parameters: Type.Optional(
      Type.Record(Type.String(), Type.String(), {
        description: "Further parameters of the authorization request, as access_type=offline.",
      }),
    ),
    api_hosts: Type.Array(Type.String({ minLength: 1 }), {
      minItems: 1,
      description: "Hosts that may see the access token: api.example.com, *.example.com, localhost:8080.",
    }),
  },
  { additionalProperties: false },
);

export type ProviderDefinition = Static<typeof ProviderDefinition>;

/** Parameters that the flow sets itself. */
const RESERVED: ReadonlySet<string> = new Set([
  "client_id",
  "code_challenge",
  "code_challenge_method",
  "redirect_uri",
  "response_type",
  "scope",
  "state",
]);

/** Returns `definition` if it is valid. Throws request_invalid naming the field. */
export function checkProvider(definition: unknown): ProviderDefinition {
  const fault = schemaFault(ProviderDefinition, definition);
  if (fault !== undefined) {
    const where = fault.path.join(".") || "provider";
    throw new AppError("request_invalid", `${where}: ${fault.message}${fault.hint}`);
  }
  const checked = definition as ProviderDefinition;
  const { issuer, auth_url, token_url, authorization_endpoint, token_endpoint } = checked;
  const whole =
    (auth_url ?? authorization_endpoint) !== undefined && (token_url ?? token_endpoint) !== undefined;
  if (issuer === undefined && !whole) {
    throw new AppError("request_invalid", "name the provider's issuer, or its auth_url and token_url");
  }
  for (const field of [
    "issuer",
    "auth_url",
    "token_url",
    "authorization_endpoint",
    "token_endpoint",
    "revocation_endpoint",
  ] as const) {
    if (checked[field] !== undefined) checkEndpoint(field, checked[field]);
  }
  for (const host of checked.api_hosts) checkHostPattern(host);
  for (const parameter of Object.keys(checked.authorization_parameters ?? {})) {
    if (RESERVED.has(parameter)) {
      throw new AppError(
        "request_invalid",
        `authorization_parameters: ${parameter} is set by the flow itself`,
      );
    }
  }
  return checked;
}

function checkEndpoint(field: string, url: string): void {
  if (URL.parse(url)?.protocol === "https:" || isLoopbackHttp(url)) return;
  throw new AppError(
    "request_invalid",
    `${field}: ${url} must be an https:// address (http:// only on loopback)`,
  );
}

/** A host, "*.host" for those below it, each with or without a port. */
const HOST_PATTERN = /^(\*\.)?([A-Za-z0-9-]+(\.[A-Za-z0-9-]+)*|\[[0-9a-fA-F:]+\])(:\d{1,5})?$/;

/** Throws request_invalid if `pattern` is not a host pattern. "*.example.com" covers the hosts below it, not itself. */
export function checkHostPattern(pattern: string): void {
  if (HOST_PATTERN.test(pattern) && pattern !== "*") return;
  throw new AppError(
    "request_invalid",
    `api_hosts: "${pattern}" isn't a host; write api.example.com or *.example.com`,
  );
}

/**
 * Throws forbidden if a token must not be sent to `url`: the host isn't in `patterns` (the port counts; without one it
 * is the scheme's own), or it isn't https (http only on loopback).
 */
export function checkTokenTarget(url: URL, patterns: readonly string[]): void {
  if (url.username !== "" || url.password !== "") {
    throw new AppError("forbidden", `the address of an API must not name a user: ${url.host}`);
  }
  if (url.protocol !== "https:" && !isLoopbackHttp(url))
    throw new AppError(
      "forbidden",
      `access tokens aren't sent to ${url.protocol}//${url.host}: it isn't https`,
    );
  checkTokenHost(url.host, patterns);
}

/** Throws forbidden if `host`, with its port unless that is the scheme's own, isn't in `patterns`. */
export function checkTokenHost(host: string, patterns: readonly string[]): void {
  if (patterns.some((pattern) => covers(pattern.toLowerCase(), host.toLowerCase()))) return;
  throw new AppError(
    "forbidden",
    `access tokens aren't sent to ${host.slice(0, 200)}; allowed are ${patterns.join(", ")} (api_hosts of the provider)`,
  );
}

function covers(pattern: string, host: string): boolean {
  if (!pattern.startsWith("*.")) return pattern === host;
  return host.endsWith(pattern.slice(1)) && host.length > pattern.length - 1;
}
