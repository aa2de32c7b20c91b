/** The dashboard's sign-in: the code flow at the embedded provider or at another one, and the account it leads to. */

import type { Account, Accounts } from "#hub/auth/accounts/accounts.ts";
import { isRole, type Role } from "#hub/auth/accounts/principal.ts";
import { CodeFlow } from "#hub/auth/client/code-flow.ts";
import type { Endpoints, Fetch } from "#hub/auth/client/endpoints.ts";
import type { Flows } from "#hub/auth/client/flows.ts";
import type { ProviderDefinition } from "#hub/auth/client/provider-definition.ts";
import { TokenRefused, type TokenSet } from "#hub/auth/client/token-endpoint.ts";
import { DASHBOARD_CLIENT_ID } from "#hub/auth/provider/clients.ts";
import { signInScope } from "#hub/auth/provider/scopes.ts";
import type { AccessTokens } from "#hub/auth/provider/tokens.ts";
import { AppError } from "#proto/kit/errors.ts";

/** Path of the callback below the hub's address. */
export const SIGN_IN_CALLBACK = "/api/auth/callback";

/** How a person of another provider maps to an account here. */
export interface UpstreamMapping {
  /** Claim with the person's name. */
  readonly nameClaim: string;
  /** Claim that `roles` is applied to; empty: the name only. */
  readonly roleClaim: string;
  /** Claim value or name → role. */
  readonly roles: Readonly<Record<string, string>>;
}

/** The provider where people sign in. */
export interface SignInProvider {
  readonly definition: ProviderDefinition;
  /** Absent: the embedded provider, whose accounts are the hub's. */
  readonly upstream?: UpstreamMapping;
  /** Calls the token endpoint: over the network, or within the process for the embedded provider. */
  readonly fetch: Fetch;
}

/** What a sign-in leads to. */
export interface SignInPurpose {
  /** Path below the hub's address. */
  readonly returnTo: string;
}

export interface DashboardSignInParts {
  /** Sealed ones for the embedded provider only. */
  readonly flows: Flows<SignInPurpose>;
  readonly accounts: Accounts;
  readonly accessTokens: AccessTokens;
  readonly publicUrl: () => string;
  readonly provider: () => SignInProvider;
  readonly endpoints: Endpoints;
}

/** The account that signed in, and its destination. */
export interface SignInResult extends SignInPurpose {
  readonly id: string;
  readonly account: Account;
  /** Name of the browser's session at the embedded provider that it signed in with, see BrowserSessions. */
  readonly atProvider?: string;
}

/** An account that the provider's token leads to. */
type FoundAccount = Omit<SignInResult, keyof SignInPurpose>;

export class DashboardSignIn {
  readonly #parts: DashboardSignInParts;
  readonly #flow: CodeFlow<SignInPurpose>;

  constructor(parts: DashboardSignInParts) {
    this.#parts = parts;
    this.#flow = new CodeFlow(parts.flows, parts.endpoints);
  }

  /** Returns the address to send the browser to. `binding`: a secret of the browser, from a cookie. Throws unavailable. */
  start(returnTo: string, binding: string): Promise<string> {
    const { provider, publicUrl } = this.#parts;
    return this.#flow.start({
      definition: provider().definition,
      redirectUri: publicUrl() + SIGN_IN_CALLBACK,
      binding,
      purpose: { returnTo: localPath(returnTo, publicUrl()) },
    });
  }

  /** Ends the flow. Throws request_invalid, forbidden, unavailable. */
  async finish(parameters: URLSearchParams, binding: string | undefined): Promise<SignInResult> {
    const flow = await this.#flow.recall(parameters, binding);
    const { provider, publicUrl, endpoints } = this.#parts;
    const { definition, upstream, fetch } = provider();
    const caller = { definition, fetch, server: await endpoints.of(definition) };
    let set: TokenSet;
    try {
      set = await this.#flow.finish(caller, parameters, publicUrl() + SIGN_IN_CALLBACK, flow);
    } catch (error) {
      if (!(error instanceof TokenRefused)) throw error;
      throw new AppError("forbidden", `${definition.name} refused the sign-in: ${error.message}`, {
        cause: error,
      });
    }
    const found =
      upstream === undefined
        ? await this.#own(set)
        : await this.#foreign(set, caller.server.issuer, upstream);
    return { ...found, returnTo: flow.purpose.returnTo };
  }

  /** Returns the account of the embedded provider's token. The token isn't needed afterwards. */
  async #own({ accessToken }: TokenSet): Promise<FoundAccount> {
    const found = await this.#parts.accessTokens.verifyOwn(accessToken);
    if (found === null)
      throw new AppError(
        "forbidden",
        "the sign-in was used already, or its account was removed, or its password was changed",
      );
    const { accountId: id, account, atProvider } = found;
    return { id, account, ...(atProvider !== undefined && { atProvider }) };
  }

  async #foreign(
    { claims }: TokenSet,
    issuer: string,
    { nameClaim, roleClaim, roles }: UpstreamMapping,
  ): Promise<FoundAccount> {
    const sub = claims?.["sub"];
    const name = claims?.[nameClaim];
    if (typeof sub !== "string" || typeof name !== "string") {
      throw new AppError(
        "forbidden",
        `${issuer} returns no ID token with sub and ${nameClaim} (auth.upstream.name_claim)`,
      );
    }
    if (nameClaim === "email" && claims?.["email_verified"] === false) {
      throw new AppError("forbidden", `${issuer} has not verified the address ${name}`);
    }
    const role = roleOf([name, ...valuesOf(claims?.[roleClaim])], roles);
    if (role === undefined) {
      throw new AppError(
        "forbidden",
        `${name} has no role here; an administrator can add one to auth.upstream.roles`,
      );
    }
    return this.#parts.accounts.ofUpstream(`${issuer} ${sub}`, name, role);
  }
}

/** Returns `path` if it leads to this hub, else "/": a return address must not be an open redirect (RFC 9700 section 4.11). */
export function localPath(path: string, publicUrl: string): string {
  if (!path.startsWith("/")) return "/";
  const url = URL.parse(path, publicUrl);
  if (url?.origin !== publicUrl) return "/";
  // "/.//host" is a path of this hub, but becomes "//host", another host, once its dots are resolved.
  return url.pathname.startsWith("//") ? "/" : url.pathname + url.search + url.hash;
}

function roleOf(values: readonly string[], roles: Readonly<Record<string, string>>): Role | undefined {
  for (const value of values) {
    const role = Object.hasOwn(roles, value) ? roles[value] : undefined;
    if (role !== undefined && isRole(role)) return role;
  }
  return undefined;
}

function valuesOf(claim: unknown): string[] {
  const list = Array.isArray(claim) ? claim : [claim];
  return list.filter((value): value is string => typeof value === "string");
}

/** The settings of another provider, as in `settings.ts`. */
export interface UpstreamSettings {
  readonly "auth.upstream.issuer": string;
  readonly "auth.upstream.client_id": string;
  readonly "auth.upstream.client_secret": string;
  readonly "auth.upstream.scope": string;
  readonly "auth.upstream.name_claim": string;
  readonly "auth.upstream.role_claim": string;
  readonly "auth.upstream.roles": Readonly<Record<string, string>>;
}

/** Returns the provider of `auth.upstream`, or null if none is set. */
export function upstreamSignIn(settings: UpstreamSettings, fetch: Fetch): SignInProvider | null {
  const issuer = settings["auth.upstream.issuer"];
  if (issuer === "") return null;
  const secret = settings["auth.upstream.client_secret"];
  return {
    definition: {
      name: new URL(issuer).host,
      issuer,
      client_id: settings["auth.upstream.client_id"],
      ...(secret === "" ? {} : { client_secret: secret }),
      scope: settings["auth.upstream.scope"],
      api_hosts: [],
    },
    upstream: {
      nameClaim: settings["auth.upstream.name_claim"],
      roleClaim: settings["auth.upstream.role_claim"],
      roles: settings["auth.upstream.roles"],
    },
    fetch,
  };
}

/** Answers a POST to the token endpoint of the embedded provider. */
export type TokenAnswerer = (
  form: URLSearchParams,
  authorization: string | undefined,
) => Promise<{ readonly status: number; readonly text: string }>;

/** Returns the embedded provider. Its token endpoint is called within the process because the public address may be a proxy's. */
export function embeddedSignIn(
  answerToken: TokenAnswerer,
  publicUrl: string,
  clientSecret: string,
): SignInProvider {
  return {
    definition: {
      name: "Tailrace",
      auth_url: publicUrl,
      token_url: publicUrl,
      client_id: DASHBOARD_CLIENT_ID,
      client_secret: clientSecret,
      scope: signInScope(publicUrl),
      api_hosts: [],
    },
    fetch: async (_url, { body, headers }) => {
      const form = body instanceof URLSearchParams ? body : new URLSearchParams();
      const answer = await answerToken(form, new Headers(headers).get("authorization") ?? undefined);
      return new Response(answer.text, {
        status: answer.status,
        headers: { "content-type": "application/json" },
      });
    },
  };
}
