/** oidc-provider set up as a plain OAuth 2.0 authorization server (RFC 6749, 7009, 7636, 7662, 8414, 9207, 9700). */

import { generateKeyPairSync } from "node:crypto";
import { type AdapterPayload, type Configuration, type Interaction, Provider } from "oidc-provider";
import type { Accounts } from "#hub/auth/accounts/accounts.ts";
import type { AuditSink } from "#hub/auth/audit/audit.ts";
import { KnownRecords } from "#hub/auth/state/known-records.ts";
import type { Store } from "#hub/auth/state/records.ts";
import { Cookies } from "#hub/auth/web/cookies.ts";
import { StateAdapter } from "./adapter.ts";
import {
  consentPolicy,
  findAccount,
  loadGrant,
  mayIntrospect,
  type RuleParts,
  renderError,
  scopeCheck,
} from "./authorization-rules.ts";
import { type Clients, DASHBOARD_CLIENT_ID } from "./clients.ts";
import { PATHS, PROVIDER_COOKIE } from "./endpoints.ts";
import { signInScope } from "./scopes.ts";
import type { SignInTokens, TokenFamilies } from "./tokens.ts";

/** RFC 6749 section 4.1.2 allows 10 minutes; a client exchanges its code immediately. */
const CODE_SECONDS = 60;
/** Time that a person has to read the page, sign in and decide. */
const INTERACTION_SECONDS = 15 * 60;

const ROUTES: Configuration["routes"] = {
  authorization: PATHS.authorization,
  token: PATHS.token,
  revocation: PATHS.revocation,
  introspection: PATHS.introspection,
  jwks: "/o/oauth2/v2/jwks",
  end_session: "/o/oauth2/v2/end",
};

const FEATURES: Configuration["features"] = {
  introspection: { enabled: true, allowedPolicy: mayIntrospect },
  // RFC 7009 section 2.1: another client's token is not revoked.
  revocation: {
    enabled: true,
    allowedPolicy: (_context, client, token) => token.clientId === client.clientId,
  },
  // These are on by default in oidc-provider.
  devInteractions: { enabled: false },
  userinfo: { enabled: false },
  rpInitiatedLogout: { enabled: false },
  pushedAuthorizationRequests: { enabled: false },
  resourceIndicators: { enabled: false },
  dPoP: { enabled: false },
};

/** Lifetimes, in seconds. */
export interface ProviderLives {
  readonly accessTokenSeconds: number;
  /** Also the maximum life of a whole token family. */
  readonly refreshTokenSeconds: number;
  /** How long a browser stays signed in at the provider after its last authorization. */
  readonly sessionSeconds: number;
  /** How long a browser stays signed in at the provider after the password was given. */
  readonly signInSeconds: number;
}

/** `publicUrl`: the hub's address without a slash at the end. */
export interface AuthorizationServerParts extends RuleParts {
  readonly store: Store;
  readonly accounts: Accounts;
  readonly clients: Clients;
  readonly families: TokenFamilies;
  readonly signInTokens: SignInTokens;
  readonly lives: ProviderLives;
  readonly cookieKey: Uint8Array;
  /** Require PKCE of all clients, not only of public ones. */
  readonly requirePkce: boolean;
  readonly audit: AuditSink;
}

/** Returns the server. Its requests must have the public address in X-Forwarded-Proto and -Host (see library-requests.ts). */
export function createAuthorizationServer(parts: AuthorizationServerParts): Provider {
  const { publicUrl, clients } = parts;
  const provider = new Provider(publicUrl, configurationOf(parts));
  provider.proxy = true;
  provider.Client.prototype.compareClientSecret = function compare(actual: string): Promise<boolean> {
    return clients.checkSecret(this.clientId, actual);
  };
  provider.use(async (context, next) => {
    await next();
    correctAnswer(context);
  });
  return provider;
}

function configurationOf(parts: AuthorizationServerParts): Configuration {
  const { publicUrl, store, families, signInTokens, accounts, audit, clients, scopes, requirePkce } = parts;
  const adapterParts = {
    store,
    families,
    signInTokens,
    known: new KnownRecords<AdapterPayload>(store.clock),
    audit,
    accounts,
    findClient: (id: string) => clients.metadata(id),
  };
  return {
    adapter: (model: string) => new StateAdapter(model, adapterParts),
    scopes: [...scopes.map(({ url }) => url), signInScope(publicUrl)],
    responseTypes: ["code"],
    clientAuthMethods: ["client_secret_basic", "client_secret_post", "none"],
    allowOmittingSingleRegisteredRedirectUri: false,
    clockTolerance: 0,
    jwks: { keys: [unusedSigningKey()] },
    clientDefaults: { id_token_signed_response_alg: "ES256" },
    extraClientMetadata: { properties: ["client_kind", "rotate_refresh_tokens"] },
    extraParams: { scope: scopeCheck(parts) },
    routes: ROUTES,
    features: FEATURES,
    cookies: cookiesOf(parts),
    ttl: lives(parts.lives),
    pkce: { required: (_context, client) => requirePkce || client.tokenEndpointAuthMethod === "none" },
    clientBasedCORS: () => false,
    expiresWithSession: () => false,
    issueRefreshToken: (_context, client) => Promise.resolve(client.clientId !== DASHBOARD_CLIENT_ID),
    rotateRefreshToken: ({ oidc }) => oidc.client?.["rotate_refresh_tokens"] === true,
    revokeGrantPolicy: () => true,
    findAccount: (context, id) => findAccount(context, parts.accounts, id),
    loadExistingGrant: (context) => loadGrant(context, parts),
    interactions: {
      policy: consentPolicy(),
      url: (_context, interaction: Interaction) => `${PATHS.prompt}/${interaction.uid}`,
    },
    renderError,
  };
}

function lives(of: ProviderLives): NonNullable<Configuration["ttl"]> {
  return {
    AccessToken: () => of.accessTokenSeconds,
    AuthorizationCode: () => CODE_SECONDS,
    RefreshToken: () => of.refreshTokenSeconds,
    Grant: () => of.refreshTokenSeconds,
    Interaction: () => INTERACTION_SECONDS,
    Session: (_context, { loginTs }) => {
      const nowSeconds = Math.floor(Date.now() / 1_000);
      const leftSeconds = (loginTs ?? nowSeconds) + of.signInSeconds - nowSeconds;
      return Math.max(1, Math.min(of.sessionSeconds, leftSeconds));
    },
  };
}

/** Cookie names as in `Cookies`: with https they are bound to the host and to https. */
function cookiesOf({
  publicUrl,
  cookieKey,
}: AuthorizationServerParts): NonNullable<Configuration["cookies"]> {
  const secure = publicUrl.startsWith("https:");
  const options = { httpOnly: true, sameSite: "lax", signed: true, secure } as const;
  return {
    names: {
      session: new Cookies(publicUrl).nameOf(PROVIDER_COOKIE),
      interaction: new Cookies(publicUrl).nameOf("tailrace_prompt", true),
      resume: new Cookies(publicUrl).nameOf("tailrace_resume", true),
    },
    long: { ...options },
    short: { ...options },
    keys: [Buffer.from(cookieKey).toString("base64url")],
  };
}

/**
 * Corrects an answer: RFC 6749 section 5.2 has its own error code for a grant that this client may not use, section 5.1
 * requires Pragma, and no page of another origin may read the answer.
 */
function correctAnswer(context: {
  path: string;
  body: unknown;
  set(name: string, value: string): void;
  remove(name: string): void;
}): void {
  context.remove("access-control-allow-origin");
  context.remove("access-control-expose-headers");
  // RFC 7009 section 2.2 leaves the body open; some clients only accept JSON.
  if (context.path === PATHS.revocation && context.body === "") context.body = {};
  if (context.path !== PATHS.token) return;
  context.set("pragma", "no-cache");
  const body = context.body as { error?: string; error_description?: string } | null | undefined;
  if (body?.error_description === "requested grant type is not allowed for this client") {
    body.error = "unauthorized_client";
  }
}

/** oidc-provider requires a key for ID tokens, which this server never issues. */
function unusedSigningKey(): Record<string, unknown> {
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  return { ...privateKey.export({ format: "jwk" }), alg: "ES256", use: "sig" };
}
