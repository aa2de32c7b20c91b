/** A provider at which accounts are connected: its endpoints, our registration there, and the hosts its tokens may go to. */

import type { Static } from "typebox";
import { AppError } from "#proto/kit/errors.ts";
import { isLoopbackHost } from "#proto/kit/loopback.ts";
import { schemaFault, Type } from "#proto/kit/schema.ts";
import { checkHostPattern } from "./hosts.ts";

const Text = Type.String({ minLength: 1, maxLength: 2_000 });

/** What an administrator fills in. Endpoints come from `issuer` (RFC 8414 metadata), `auth_url` + `token_url`, or are given whole. */
export const ProviderDefinition = Type.Object(
  {
    name: Type.String({ minLength: 1, maxLength: 100, description: "For people." }),
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
      Type.String({ description: "Whole address; told when an account is removed." }),
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

/** Parameters that belong to the flow itself and can't be overridden. */
const RESERVED: ReadonlySet<string> = new Set([
  "client_id",
  "code_challenge",
  "code_challenge_method",
  "redirect_uri",
  "response_type",
  "scope",
  "state",
]);

/** Returns `definition` where it makes sense. Throws request_invalid naming the field. */
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

/** Returns true where `url` may be asked without TLS. */
export function isLoopback(url: string): boolean {
  const parsed = URL.parse(url);
  return parsed?.protocol === "http:" && isLoopbackHost(parsed.hostname);
}

function checkEndpoint(field: string, url: string): void {
  const parsed = URL.parse(url);
  if (parsed?.protocol === "https:" || isLoopback(url)) return;
  throw new AppError(
    "request_invalid",
    `${field}: ${url} must be an https:// address (http:// only on loopback)`,
  );
}
