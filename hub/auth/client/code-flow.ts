/** The client side of the authorization code flow: PKCE, `state` and `iss` (RFC 6749 section 4.1, 7636, 9207, 9700). */

import * as oauth from "oauth4webapi";
import { hashOf } from "#hub/auth/state/secrets.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { Endpoints } from "./endpoints.ts";
import type { Flow, Flows } from "./flows.ts";
import type { ProviderDefinition } from "./provider-definition.ts";
import { exchangeCode, type TokenCaller, type TokenSet } from "./token-endpoint.ts";

/** Parameters of a new flow. */
export interface FlowStart<T> {
  readonly definition: ProviderDefinition;
  readonly redirectUri: string;
  /** A secret of the browser, from a cookie. */
  readonly binding: string;
  /** Returned when the flow ends. */
  readonly purpose: T;
}

/** Begins and ends flows of one kind. */
export class CodeFlow<T> {
  readonly #flows: Flows<T>;
  readonly #endpoints: Endpoints;

  constructor(flows: Flows<T>, endpoints: Endpoints) {
    this.#flows = flows;
    this.#endpoints = endpoints;
  }

  /** Returns the address to send the browser to. Throws unavailable, settings_invalid. */
  async start({ definition, redirectUri, binding, purpose }: FlowStart<T>): Promise<string> {
    const server = await this.#endpoints.of(definition);
    if (server.authorization_endpoint === undefined) {
      throw new AppError("settings_invalid", `provider ${definition.name} has no authorization endpoint`);
    }
    const verifier = oauth.generateRandomCodeVerifier();
    const state = await this.#flows.keep({ verifier, purpose }, binding);
    const url = new URL(server.authorization_endpoint);
    const parameters = {
      ...definition.authorization_parameters,
      client_id: definition.client_id,
      redirect_uri: redirectUri,
      response_type: "code",
      scope: definition.scope,
      state,
      // RFC 7636 section 4.2. Web Crypto's digest would wait for a thread that files and passwords keep busy.
      code_challenge: hashOf(verifier),
      code_challenge_method: "S256",
    };
    for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
    return url.href;
  }

  /**
   * Returns a callback's flow. Its `state` is valid only in the browser that began it. Throws request_invalid.
   */
  async recall(
    parameters: URLSearchParams,
    binding: string | undefined,
  ): Promise<Flow<T> & { readonly state: string }> {
    const state = parameters.get("state") ?? "";
    // A stored flow is used up in any case, also by a browser without the cookie.
    const flow = state === "" ? null : await this.#flows.take(state, binding ?? "");
    if (flow === null || binding === undefined) {
      throw new AppError(
        "request_invalid",
        "this answer doesn't belong to a request of this browser: it was already used, is too old, or was requested elsewhere; start again",
      );
    }
    return { verifier: flow.verifier, purpose: flow.purpose, state };
  }

  /**
   * Ends a flow: checks `iss` and the provider's refusal, then exchanges the code. Throws forbidden if the person or
   * the provider refused, request_invalid for an answer of another provider, TokenRefused, unavailable.
   */
  async finish(
    caller: TokenCaller,
    parameters: URLSearchParams,
    redirectUri: string,
    { verifier, state }: { verifier: string; state: string },
  ): Promise<TokenSet> {
    const { server, definition } = caller;
    let checked: URLSearchParams;
    try {
      checked = oauth.validateAuthResponse(server, { client_id: definition.client_id }, parameters, state);
    } catch (cause) {
      if (cause instanceof oauth.AuthorizationResponseError) {
        const reason = cause.error_description ?? cause.error;
        throw new AppError("forbidden", `${definition.name} refused: ${reason.slice(0, 300)}`, { cause });
      }
      const message = `the answer is not from ${definition.name}: ${(cause as Error).message}`;
      throw new AppError("request_invalid", message, { cause });
    }
    return exchangeCode(caller, checked, redirectUri, verifier);
  }
}
