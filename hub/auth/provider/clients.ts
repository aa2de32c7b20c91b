/** Client registrations, made by an administrator: `client_id`, `client_secret` (shown once), redirect URIs, scopes. */

import type { AdapterPayload } from "oidc-provider";
import type { AuditSink } from "#hub/auth/audit/audit.ts";
import { Records, type Store } from "#hub/auth/state/records.ts";
import { hasHash, hashOf, newId, newSecret } from "#hub/auth/state/secrets.ts";
import { AppError } from "#proto/kit/errors.ts";
import { isLoopbackHttp } from "#proto/kit/net/loopback.ts";
import { DAY_MS } from "#proto/kit/units.ts";
import type { TokenFamilies } from "./tokens.ts";

/** The dashboard itself: signs people in, needs no consent. */
export const DASHBOARD_CLIENT_ID = "tailrace-dashboard";
/** Two secrets are valid at a time, so that a rotation needs no pause. */
const MAX_SECRETS = 2;
const MAX_REDIRECT_URIS = 20;

/**
 * confidential: has a secret. public: has none (an application on the user's machine), must use PKCE, and always shows the
 * consent page. resource_server: requests no tokens, may introspect those of others.
 */
export type ClientKind = "confidential" | "public" | "resource_server";

export interface NewClient {
  readonly name: string;
  readonly kind: ClientKind;
  /** Compared character by character. */
  readonly redirectUris: readonly string[];
  /** Scope URLs that the client may request; absent: all. */
  readonly scopes?: readonly string[];
  /** Replaces the refresh token at each use; always on for public clients. */
  readonly rotateRefreshTokens?: boolean;
  /** Accepts any port in loopback redirect URIs (RFC 8252 section 7.3). */
  readonly anyLoopbackPort?: boolean;
}

interface ClientRecord extends NewClient {
  readonly secretHashes: readonly string[];
  readonly createdAt: number;
}

/** A registration as people see it, without secrets. */
export interface ClientView extends NewClient {
  readonly clientId: string;
  readonly createdAt: number;
  /** Number of valid secrets: 0, 1 or, during a rotation, 2. */
  readonly secrets: number;
  /** When the client last got a code without PKCE, ms since 1970, to the day; absent: never. */
  readonly withoutPkceAt?: number;
}

/** Credentials that are shown once. */
export interface ClientCredentials {
  readonly clientId: string;
  /** Absent for public clients. */
  readonly clientSecret?: string;
}

export class Clients {
  readonly #clients: Records<ClientRecord>;
  readonly #withoutPkce: Records<{ readonly at: number }>;
  readonly #store: Store;
  readonly #families: TokenFamilies;
  readonly #audit: AuditSink;
  readonly #dashboard: () => DashboardClient;

  /** `dashboard` returns the built-in client's data, which depend on the hub's address. */
  constructor(store: Store, families: TokenFamilies, audit: AuditSink, dashboard: () => DashboardClient) {
    this.#clients = new Records(store, "oauth-client");
    this.#withoutPkce = new Records(store, "oauth-client-without-pkce");
    this.#store = store;
    this.#families = families;
    this.#audit = audit;
    this.#dashboard = dashboard;
  }

  /** Registers a client. Throws request_invalid naming the fault. */
  async register(client: NewClient, actor: string): Promise<ClientCredentials> {
    checkClient(client);
    const clientId = newId();
    const clientSecret = client.kind === "public" ? undefined : newSecret();
    await this.#clients.create(clientId, {
      ...client,
      secretHashes: clientSecret === undefined ? [] : [hashOf(clientSecret)],
      createdAt: this.#store.clock.now(),
    });
    const subject = `${client.name} ${clientId}`;
    this.#audit({ action: "client_registered", outcome: "ok", actor, subject, reason: client.kind });
    return { clientId, ...(clientSecret === undefined ? {} : { clientSecret }) };
  }

  /** Adds a secret; the previous one stays valid until `retireOldSecret` or the next rotation. Throws not_found, request_invalid. */
  async rotate(clientId: string, actor: string): Promise<Required<ClientCredentials>> {
    const clientSecret = newSecret();
    const changed = await this.#clients.change(clientId, (client) => {
      if (client.kind === "public") {
        throw new AppError("request_invalid", `client ${clientId} is public and has no secret to rotate`);
      }
      const secretHashes = [hashOf(clientSecret), ...client.secretHashes].slice(0, MAX_SECRETS);
      return { ...client, secretHashes };
    });
    if (changed === null) throw unknownClient(clientId);
    const subject = `${changed.name} ${clientId}`;
    this.#audit({ action: "client_rotated", outcome: "ok", actor, subject });
    return { clientId, clientSecret };
  }

  /** Invalidates all secrets but the newest. Throws not_found. */
  async retireOldSecret(clientId: string, actor: string): Promise<void> {
    const changed = await this.#clients.change(clientId, (client) => ({
      ...client,
      secretHashes: client.secretHashes.slice(0, 1),
    }));
    if (changed === null) throw unknownClient(clientId);
    const subject = `${changed.name} ${clientId}`;
    this.#audit({ action: "client_rotated", outcome: "ok", actor, subject, reason: "old secret retired" });
  }

  /** Removes a client and revokes everything issued to it. Throws not_found. */
  async remove(clientId: string, actor: string): Promise<void> {
    const client = await this.#clients.take(clientId);
    if (client === null) throw unknownClient(clientId);
    await this.#withoutPkce.delete(clientId);
    await this.#families.revokeClient(clientId);
    this.#audit({ action: "client_removed", outcome: "ok", actor, subject: `${client.name} ${clientId}` });
  }

  async get(clientId: string): Promise<ClientView | null> {
    if (clientId === DASHBOARD_CLIENT_ID) return view(clientId, dashboardRecord(this.#dashboard()));
    const read = await this.#clients.get(clientId);
    return read === null ? null : view(clientId, read.data);
  }

  async list(): Promise<ClientView[]> {
    const all = await this.#clients.list();
    const without = new Map((await this.#withoutPkce.list()).map(({ id, data }) => [id, data.at]));
    return all
      .map(({ id, data }) => {
        const at = without.get(id);
        return { ...view(id, data), ...(at === undefined ? {} : { withoutPkceAt: at }) };
      })
      .sort((a, b) => a.name.localeCompare(b.name));
  }

  /** Records that a client got a code without PKCE; written once a day. */
  async noteWithoutPkce(clientId: string): Promise<void> {
    const { clock } = this.#store;
    const before = (await this.#withoutPkce.get(clientId))?.data.at ?? 0;
    if (clock.now() - before >= DAY_MS) await this.#withoutPkce.put(clientId, { at: clock.now() });
  }

  /** Returns true if `secret` is a valid secret of the client. */
  async checkSecret(clientId: string, secret: string): Promise<boolean> {
    const client = await this.#record(clientId);
    // All are compared, so that the time doesn't depend on which one matches.
    const hits = client?.secretHashes.filter((hash) => hasHash(secret, hash)) ?? [];
    return hits.length > 0;
  }

  /** Returns the client's metadata (RFC 7591 names) for oidc-provider, or undefined. */
  async metadata(clientId: string): Promise<AdapterPayload | undefined> {
    const client = await this.#record(clientId);
    if (client === null) return undefined;
    const asks = client.kind !== "resource_server";
    return {
      client_id: clientId,
      client_name: client.name,
      application_type: client.anyLoopbackPort === true ? "native" : "web",
      redirect_uris: [...client.redirectUris],
      grant_types: asks ? ["authorization_code", "refresh_token"] : [],
      response_types: asks ? ["code"] : [],
      token_endpoint_auth_method: client.kind === "public" ? "none" : "client_secret_post",
      // oidc-provider requires a text here; `checkSecret` decides.
      ...(client.kind === "public" ? {} : { client_secret: "compared by hash" }),
      ...(client.scopes === undefined ? {} : { scope: client.scopes.join(" ") }),
      client_kind: client.kind,
      rotate_refresh_tokens: client.kind === "public" || client.rotateRefreshTokens === true,
    };
  }

  async #record(clientId: string): Promise<ClientRecord | null> {
    if (clientId === DASHBOARD_CLIENT_ID) return dashboardRecord(this.#dashboard());
    if (!/^[0-9a-f]{1,64}$/.test(clientId)) return null;
    return (await this.#clients.get(clientId))?.data ?? null;
  }
}

/** Data of the built-in client. */
export interface DashboardClient {
  readonly redirectUri: string;
  readonly scope: string;
  readonly secret: string;
}

function dashboardRecord({ redirectUri, scope, secret }: DashboardClient): ClientRecord {
  return {
    name: "Tailrace dashboard",
    kind: "confidential",
    redirectUris: [redirectUri],
    scopes: [scope],
    secretHashes: [hashOf(secret)],
    createdAt: 0,
  };
}

function view(clientId: string, { secretHashes, ...client }: ClientRecord): ClientView {
  return { ...client, clientId, secrets: secretHashes.length };
}

function checkClient(client: NewClient): void {
  if (client.name.trim() === "" || client.name.length > 100) {
    throw new AppError("request_invalid", "a client needs a name of 1 to 100 characters");
  }
  const { length } = client.redirectUris;
  if (client.kind === "resource_server" ? length > 0 : length === 0 || length > MAX_REDIRECT_URIS) {
    const wanted =
      client.kind === "resource_server" ? "no redirect URI" : `1 to ${MAX_REDIRECT_URIS} redirect URIs`;
    throw new AppError("request_invalid", `a ${client.kind} client has ${wanted}, not ${length}`);
  }
  for (const uri of client.redirectUris) checkRedirectUri(uri, client);
}

/** Throws request_invalid: https only, http only to loopback, no fragment, no user (RFC 6749 section 3.1.2, RFC 9700 section 2.1). */
function checkRedirectUri(uri: string, { anyLoopbackPort }: NewClient): void {
  const parsed = URL.parse(uri);
  const wrong = (why: string): AppError => new AppError("request_invalid", `redirect URI ${uri} ${why}`);
  if (parsed === null) throw wrong("isn't an absolute URL");
  if (uri.includes("#")) throw wrong("must not have a fragment");
  if (parsed.username !== "" || parsed.password !== "") throw wrong("must not name a user");
  if (uri.includes("*")) throw wrong("must not have a wildcard; it is compared character by character");
  // RFC 8252 sections 7.3 and 8.3: loopback redirects of native applications.
  const loopback = isLoopbackHttp(parsed);
  if (parsed.protocol !== "https:" && !loopback) {
    throw wrong("must begin with https:// (http:// only for localhost, 127.0.0.1 and [::1])");
  }
  if (anyLoopbackPort === true && !loopback) {
    throw wrong("has no free port; anyLoopbackPort is for http on loopback only");
  }
}

function unknownClient(clientId: string): AppError {
  return new AppError("not_found", `there is no client ${clientId}`);
}
