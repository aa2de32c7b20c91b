/** Endpoints of a provider: from its definition, or from its metadata (RFC 8414), which are cached for an hour. */

import * as oauth from "oauth4webapi";
import { addPart } from "#proto/kit/byte-parts.ts";
import type { Clock } from "#proto/kit/clock.ts";
import { AppError } from "#proto/kit/errors.ts";
import { isLoopbackHttp } from "#proto/kit/net/loopback.ts";
import { setNewest } from "#proto/kit/newest-entries.ts";
import { HOUR_MS } from "#proto/kit/units.ts";
import type { ProviderDefinition } from "./provider-definition.ts";

/** Life of cached metadata: the longest time that an old endpoint stays in use. */
const KEEP_MS = HOUR_MS;
/** Maximum number of providers whose metadata are cached. */
const MAX_KEPT = 200;
const DEADLINE_MS = 10_000;
/** Largest metadata or token answer read, bytes once unpacked; typical ones have a few KiB. */
const MAX_ANSWER_BYTES = 256 * 1024;
/** Metadata fields with addresses that the hub calls, or that a browser is sent to. */
const CALLED = ["authorization_endpoint", "token_endpoint", "revocation_endpoint"] as const;

/** The part of `fetch` that is used. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

interface Kept {
  readonly server: oauth.AuthorizationServer;
  readonly until: number;
}

export class Endpoints {
  readonly #clock: Clock;
  readonly #fetch: Fetch;
  readonly #kept = new Map<string, Kept>();

  constructor(clock: Clock, fetch: Fetch) {
    this.#clock = clock;
    this.#fetch = fetch;
  }

  /**
   * Returns the endpoints of a provider. Throws unavailable if its metadata can't be fetched, settings_invalid if they are
   * invalid.
   */
  async of(definition: ProviderDefinition): Promise<oauth.AuthorizationServer> {
    const given = givenEndpoints(definition);
    if (definition.issuer === undefined) return given;
    const { issuer } = definition;
    const kept = this.#kept.get(issuer);
    if (kept !== undefined && kept.until > this.#clock.now()) return { ...kept.server, ...given };
    const server = await this.#discover(issuer);
    setNewest(this.#kept, issuer, { server, until: this.#clock.now() + KEEP_MS }, MAX_KEPT);
    return { ...server, ...given };
  }

  async #discover(issuer: string): Promise<oauth.AuthorizationServer> {
    const url = new URL(issuer);
    for (const algorithm of ["oauth2", "oidc"] as const) {
      const response = await this.#ask(url, algorithm);
      if (response.status === 404) continue;
      try {
        const server = await oauth.processDiscoveryResponse(url, response);
        for (const name of CALLED) checkNamed(name, server[name], issuer);
        return server;
      } catch (cause) {
        const message = `metadata of provider ${issuer} are invalid: ${(cause as Error).message}`;
        throw new AppError("settings_invalid", message, { cause });
      }
    }
    throw new AppError(
      "settings_invalid",
      `provider ${issuer} has no metadata; give its auth_url and token_url`,
    );
  }

  async #ask(url: URL, algorithm: "oauth2" | "oidc"): Promise<Response> {
    try {
      const response = await oauth.discoveryRequest(url, {
        algorithm,
        signal: AbortSignal.timeout(DEADLINE_MS),
        [oauth.allowInsecureRequests]: isLoopbackHttp(url.href),
        [oauth.customFetch]: (address, { method, headers, redirect, signal }) =>
          this.#fetch(address, { method, headers, redirect, ...(signal === undefined ? {} : { signal }) }),
      });
      const { status, headers } = response;
      const text = await readBounded(response);
      return new Response(text === "" ? null : text, { status, headers });
    } catch (cause) {
      const message = `provider ${url.href} can't be reached: ${(cause as Error).message}`;
      throw new AppError("unavailable", message, { cause });
    }
  }
}

/**
 * Throws if metadata name an address that is neither https nor, for an issuer on this machine, http on loopback: a
 * provider elsewhere must not have the hub call services of its own machine, nor send a browser to a script.
 */
function checkNamed(name: string, address: unknown, issuer: string): void {
  if (address === undefined) return;
  if (typeof address === "string") {
    if (URL.parse(address)?.protocol === "https:") return;
    if (isLoopbackHttp(address) && isLoopbackHttp(issuer)) return;
  }
  throw new Error(`${name} isn't an https:// address`);
}

/** Returns the body of a provider's answer as text. Throws if it is too large. */
export async function readBounded(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let sizeBytes = 0;
  for await (const chunk of response.body ?? []) {
    sizeBytes += chunk.length;
    if (sizeBytes > MAX_ANSWER_BYTES) throw new Error("the answer is too large");
    addPart(chunks, chunk);
  }
  return Buffer.concat(chunks).toString();
}

/** Returns the endpoints given by the definition; fixed paths are appended to `auth_url` and `token_url`. */
function givenEndpoints(definition: ProviderDefinition): oauth.AuthorizationServer {
  const { auth_url, token_url, revocation_endpoint } = definition;
  const below = (base: string, path: string): string => base.replace(/\/+$/, "") + path;
  const authorization =
    definition.authorization_endpoint ??
    (auth_url === undefined ? undefined : below(auth_url, "/o/oauth2/v2/auth"));
  const token =
    definition.token_endpoint ?? (token_url === undefined ? undefined : below(token_url, "/token"));
  return {
    issuer: definition.issuer ?? new URL(authorization ?? token ?? "").origin,
    ...(authorization === undefined ? {} : { authorization_endpoint: authorization }),
    ...(token === undefined ? {} : { token_endpoint: token }),
    ...(revocation_endpoint === undefined ? {} : { revocation_endpoint }),
  };
}
