/** Authenticates requests: by dashboard session, access token, API key, or name and password. */

import { createHmac, randomBytes } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import type { Account } from "#hub/auth/accounts/accounts.ts";
import { API_KEY_PREFIX, type ApiKey, type ApiKeys } from "#hub/auth/accounts/api-keys.ts";
import type { PasswordSignIn } from "#hub/auth/accounts/password-sign-in.ts";
import {
  ANONYMOUS,
  actionsOf,
  actionsOfScopes,
  type Principal,
  type Role,
} from "#hub/auth/accounts/principal.ts";
import type { Sessions, Tickets } from "#hub/auth/accounts/sessions.ts";
import { networkOf, RateLimit } from "#hub/auth/accounts/throttle.ts";
import type { AuditSink } from "#hub/auth/audit/audit.ts";
import type { Clients } from "#hub/auth/provider/clients.ts";
import type { Consents } from "#hub/auth/provider/consents.ts";
import { ownScopeNames, scopeBaseOf } from "#hub/auth/provider/scopes.ts";
import type { AccessTokens } from "#hub/auth/provider/tokens.ts";
import { fingerprint } from "#hub/auth/state/secrets.ts";
import type { Cookies } from "#hub/auth/web/cookies.ts";
import type { Clock } from "#proto/kit/clock.ts";
import { AppError } from "#proto/kit/errors.ts";
import { setNewest } from "#proto/kit/newest-entries.ts";
import { SESSION_COOKIE } from "./browser-session.ts";

/** Methods that change nothing (RFC 9110 section 9.2.1). */
const SAFE: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS"]);
/** Time that a verified password is remembered: clients send it with each request, and checking it costs 0.4 s. */
const PASSWORD_KEPT_MS = 60_000;
const MAX_PASSWORDS_KEPT = 1_000;
/** Refusals of one network per minute that are written to the audit log. */
const AUDITED_REFUSALS = 10;

/** The parts of a request that authentication reads. */
export interface Credentials {
  readonly method: string;
  readonly headers: IncomingHttpHeaders;
  readonly ip: string;
}

export interface AuthenticatorParts {
  readonly mode: "off" | "required";
  readonly publicUrl: () => string;
  readonly cookies: () => Cookies;
  readonly sessions: Sessions;
  readonly apiKeys: ApiKeys;
  readonly accessTokens: AccessTokens;
  readonly signIn: PasswordSignIn;
  readonly tickets: Tickets;
  readonly accounts: { get(id: string): Promise<Account | null> };
  readonly clients: Pick<Clients, "get">;
  readonly consents: Pick<Consents, "scopes">;
  /** Index patterns of each role, from the settings. */
  readonly roleIndices: Readonly<Record<Role, readonly string[]>>;
  readonly clock: Clock;
  readonly audit: AuditSink;
}

interface KeptPassword {
  readonly principal: Principal;
  readonly epoch: number;
  readonly until: number;
}

export class Authenticator {
  readonly #parts: AuthenticatorParts;
  readonly #kept = new Map<string, KeptPassword>();
  readonly #keptKey = randomBytes(32);
  readonly #refusals: RateLimit;

  constructor(parts: AuthenticatorParts) {
    this.#parts = parts;
    this.#refusals = new RateLimit(parts.clock, AUDITED_REFUSALS);
  }

  /**
   * Returns the principal of a request. Throws unauthenticated with `data.wwwAuthenticate` for the header of that name,
   * request_invalid for a malformed Authorization header, forbidden for a cookie with a foreign Origin, overloaded.
   */
  async authenticate(credentials: Credentials): Promise<Principal> {
    if (this.#parts.mode === "off") return ANONYMOUS;
    try {
      const { authorization } = credentials.headers;
      if (authorization === undefined) return await this.#bySession(credentials);
      return await this.#byHeader(authorization, credentials);
    } catch (error) {
      this.#noteRefusal(credentials, error);
      throw error;
    }
  }

  /** Returns the principal that opens a WebSocket: by a header, or by the cookie with the dashboard's Origin. Throws as `authenticate`. */
  async authenticateUpgrade(credentials: Credentials): Promise<Principal> {
    if (this.#parts.mode === "off") return ANONYMOUS;
    // A socket is opened by GET but can change state, so the Origin is checked as for POST.
    return this.authenticate({ ...credentials, method: "POST" });
  }

  /** Returns a ticket for `principal`'s next WebSocket; see Tickets. */
  ticketFor(principal: Principal): Promise<string> {
    return this.#parts.tickets.issue(principal);
  }

  /** Returns the principal of a ticket, once. Throws unauthenticated. */
  async redeemTicket(ticket: string): Promise<Principal> {
    const principal = await this.#parts.tickets.redeem(ticket);
    if (principal === null) throw unauthenticated("the ticket was used already or is too old");
    return principal;
  }

  /**
   * Returns a principal with its present rights, for work on its behalf without a request; null once its account or key is
   * gone. A token's principal is its account without the administration, which can't be delegated; null once its application
   * was removed or has no consent of the account.
   */
  async present({
    kind,
    id,
    clientId,
  }: Pick<Principal, "kind" | "id" | "clientId">): Promise<Principal | null> {
    if (kind === "anonymous") return null;
    if (kind === "api_key") {
      const key = await this.#parts.apiKeys.get(id);
      return key === null ? null : keyPrincipal(id, key);
    }
    const account = await this.#parts.accounts.get(id);
    if (account === null) return null;
    const user = this.#userOf(id, account);
    if (kind === "user") return user;
    if (clientId === undefined || !(await this.#isAllowed(id, clientId))) return null;
    const actions = new Set(user.actions);
    actions.delete("administer");
    return { ...user, kind, clientId, actions };
  }

  /** Returns true while a principal's session is valid; always true for a principal without a session. */
  async stillValid({ sessionKey }: Principal): Promise<boolean> {
    return sessionKey === undefined || (await this.#parts.sessions.get(sessionKey)) !== null;
  }

  /** Returns whether an account still allows an application to act for it. */
  async #isAllowed(accountId: string, clientId: string): Promise<boolean> {
    const { clients, consents } = this.#parts;
    const [client, scopes] = await Promise.all([clients.get(clientId), consents.scopes(accountId, clientId)]);
    return client !== null && scopes.length > 0;
  }

  async #bySession({ method, headers }: Credentials): Promise<Principal> {
    const secret = this.#parts.cookies().read(headers.cookie, SESSION_COOKIE);
    if (secret === undefined) throw unauthenticated("sign in, or send an API key or access token");
    const found = await this.#parts.sessions.find(secret);
    if (found === null) throw unauthenticated("the session is over; sign in again");
    if (!SAFE.has(method)) this.#checkOrigin(headers);
    return { ...this.#userOf(found.session.accountId, found.account), sessionKey: found.key };
  }

  /** Browsers send the cookie with requests of any page; the Origin names the page. A missing Origin is refused too. */
  #checkOrigin(headers: IncomingHttpHeaders): void {
    if (headers.origin === this.#parts.publicUrl()) return;
    const shown = headers.origin ?? "missing";
    throw new AppError(
      "forbidden",
      `Origin is ${shown.slice(0, 200)}, not ${this.#parts.publicUrl()} (public.url); a session can be used from the dashboard only`,
    );
  }

  #byHeader(authorization: string, credentials: Credentials): Promise<Principal> {
    const [, scheme = "", value = ""] = /^([A-Za-z]+) +(\S+) *$/.exec(authorization) ?? [];
    switch (scheme.toLowerCase()) {
      case "bearer":
        return value.startsWith(API_KEY_PREFIX) ? this.#byApiKey(value) : this.#byAccessToken(value);
      case "apikey":
        return this.#byApiKey(joinedKey(value));
      case "basic":
        return this.#byBasic(value, credentials);
      default:
        throw new AppError(
          "request_invalid",
          "the Authorization header must be Bearer, ApiKey or Basic and one value",
          {
            data: { wwwAuthenticate: challenge("invalid_request", "malformed Authorization header") },
          },
        );
    }
  }

  async #byAccessToken(token: string): Promise<Principal> {
    const found = await this.#parts.accessTokens.verify(token);
    if (found === null) throw invalidToken("the access token is unknown, over or revoked");
    const publicUrl = this.#parts.publicUrl();
    const user = this.#userOf(found.accountId, found.account);
    return {
      ...user,
      kind: "access_token",
      clientId: found.clientId,
      actions: actionsOfScopes(user.role, ownScopeNames(found.scope, publicUrl)),
      scopeBase: scopeBaseOf(publicUrl),
    };
  }

  async #byApiKey(text: string): Promise<Principal> {
    const found = await this.#parts.apiKeys.verify(text);
    if (found === null) throw invalidToken("the API key is unknown, over or revoked");
    return keyPrincipal(found.id, found.key);
  }

  async #byBasic(value: string, { ip }: Credentials): Promise<Principal> {
    const decoded = Buffer.from(value, "base64").toString();
    const at = decoded.indexOf(":");
    const name = decoded.slice(0, Math.max(0, at));
    const password = decoded.slice(at + 1);
    if (password.startsWith(API_KEY_PREFIX)) return this.#byApiKey(password);
    const keptAs = createHmac("sha256", this.#keptKey)
      .update(`${networkOf(ip)}|${decoded}`)
      .digest("base64url");
    const kept = this.#kept.get(keptAs);
    if (kept !== undefined && kept.until > this.#parts.clock.now()) {
      const account = await this.#parts.accounts.get(kept.principal.id);
      if (account?.epoch === kept.epoch) return kept.principal;
    }
    this.#kept.delete(keptAs);
    const found = await this.#parts.signIn.verify(name, password, ip);
    if (found === null)
      throw unauthenticated("name or password is wrong", 'Basic realm="tailrace", charset="UTF-8"');
    const principal = this.#userOf(found.id, found.account);
    const until = this.#parts.clock.now() + PASSWORD_KEPT_MS;
    setNewest(this.#kept, keptAs, { principal, epoch: found.account.epoch, until }, MAX_PASSWORDS_KEPT);
    return principal;
  }

  #userOf(id: string, { name, role, indices }: Account): Principal {
    const own = indices.length === 1 && indices[0] === "*" ? this.#parts.roleIndices[role] : indices;
    return { kind: "user", id, name, role, actions: actionsOf(role, own), indices: own };
  }

  #noteRefusal({ headers, ip }: Credentials, error: unknown): void {
    if (!(error instanceof AppError) || (headers.authorization ?? headers.cookie) === undefined) return;
    if (error.status >= 500 || !this.#refusals.allows(networkOf(ip))) return;
    const actor = headers.authorization === undefined ? "session" : actorOf(headers.authorization);
    this.#parts.audit({ action: "request_refused", outcome: "refused", actor, ip, reason: error.message });
  }
}

function keyPrincipal(id: string, { name, role, indices }: ApiKey): Principal {
  return { kind: "api_key", id, name, role, actions: actionsOf(role, indices), indices };
}

/**
 * Names the sender of an Authorization header: by the account name of Basic, as the hash of a password could be guessed,
 * and by the fingerprint of a key or token.
 */
function actorOf(authorization: string): string {
  const [, basic] = /^basic +(\S+) *$/i.exec(authorization) ?? [];
  if (basic === undefined) return fingerprint(authorization);
  const [name = ""] = Buffer.from(basic, "base64").toString().split(":");
  return name.slice(0, 100);
}

/** Elasticsearch clients send base64 of "id:secret"; others may send the key as it is. */
function joinedKey(value: string): string {
  if (value.startsWith(API_KEY_PREFIX)) return value;
  const [id = "", secret = ""] = Buffer.from(value, "base64").toString().split(":");
  return secret.startsWith(API_KEY_PREFIX) ? secret : `${API_KEY_PREFIX}${id}_${secret}`;
}

/** RFC 6750 section 3.1: the challenge has no error code if the request has no credentials. */
function unauthenticated(message: string, wwwAuthenticate = 'Bearer realm="tailrace"'): AppError {
  return new AppError("unauthenticated", message, { data: { wwwAuthenticate } });
}

function invalidToken(message: string): AppError {
  return unauthenticated(message, challenge("invalid_token", message));
}

function challenge(error: string, description: string): string {
  return `Bearer realm="tailrace", error="${error}", error_description="${description}"`;
}
