/**
 * Token families: all credentials that came from one consent and one code. A family ends with its grant: then every code
 * and token of it is invalid immediately and on every hub, even one that is stored later. Access tokens are checked in
 * the state, so a revocation takes effect immediately.
 */

import type { AdapterPayload } from "oidc-provider";
import { type Account, type Accounts, isSincePassword } from "#hub/auth/accounts/accounts.ts";
import type { AuditSink } from "#hub/auth/audit/audit.ts";
import { Records, type Store, type Stored, won } from "#hub/auth/state/records.ts";
import { fingerprintOf, hashOf } from "#hub/auth/state/secrets.ts";
import { setNewest } from "#proto/kit/newest-entries.ts";
import { sessionName } from "./browser-sessions.ts";

/** Models of oidc-provider whose records belong to a grant. */
export const FAMILY_MODELS: ReadonlySet<string> = new Set([
  "AccessToken",
  "AuthorizationCode",
  "RefreshToken",
]);

/** Records that are deleted at a time; a family that was refreshed for weeks has thousands. */
const DELETED_AT_ONCE = 16;

/** The fields of a stored grant that are read here. */
interface GrantRecord {
  readonly accountId?: string | undefined;
  readonly clientId?: string | undefined;
  /** The account's epoch when the grant was given. Absent: an earlier version of the hub stored it. */
  readonly accountEpoch?: number;
  /** Never stored: the revision of the grant's own record, for a code of the dashboard that doesn't hold its grant. */
  readonly apart?: number;
}

export class TokenFamilies {
  readonly #store: Store;
  readonly #grants: Records<GrantRecord>;
  readonly #members: Records<null>;
  readonly #owners: Records<null>;

  constructor(store: Store) {
    this.#store = store;
    this.#grants = new Records(store, "oauth.Grant");
    this.#members = new Records(store, "oauth-family");
    this.#owners = new Records(store, "oauth-grant-of");
  }

  /** Returns the family's grant; null once the family has ended. */
  grant(grantId: string): Promise<Stored<GrantRecord> | null> {
    return this.#grants.get(hashOf(grantId));
  }

  /** Records that `<model>.<key>` belongs to the family. */
  async join(grantId: string, model: string, key: string, expiresAt: number | null): Promise<void> {
    await this.#members.put(`${hashOf(grantId)}.${model}.${key}`, null, expiresAt);
  }

  /** Records the owner of a grant, for the list of a person's consents. */
  async own(grantId: string, accountId: string, clientId: string, expiresAt: number | null): Promise<void> {
    await this.#owners.put(`${accountId}.${clientId}.${hashOf(grantId)}`, null, expiresAt);
  }

  /** Revokes a family: first the grant, which decides, then its members. */
  revoke(grantId: string): Promise<void> {
    return this.#revokeKey(hashOf(grantId));
  }

  /** Deletes a grant by compare-and-set. Returns false if its family has ended. */
  end(grantId: string, revision: number): Promise<boolean> {
    return won(this.#grants.delete(hashOf(grantId), revision));
  }

  /** Revokes all families of an account with one client. */
  async revokeOf(accountId: string, clientId: string): Promise<void> {
    for (const id of await this.#owners.ids(`${accountId}.${clientId}.`)) {
      await this.#revokeKey(grantKeyOf(id));
      await this.#owners.delete(id);
    }
  }

  /**
   * Ends all families of an account that was removed or has another password. Only their grants are deleted: their members,
   * which may be thousands, are invalid without them, and expire by themselves.
   */
  async endOf(accountId: string): Promise<void> {
    await deleteAll(await this.#owners.ids(`${accountId}.`), async (id) => {
      await this.#grants.delete(grantKeyOf(id));
      await this.#owners.delete(id);
    });
  }

  /** Revokes all families of a client. */
  async revokeClient(clientId: string): Promise<void> {
    for (const id of await this.#owners.ids()) {
      const [accountId = "", client] = id.split(".");
      if (client === clientId) await this.revokeOf(accountId, clientId);
    }
  }

  async #revokeKey(grantKey: string): Promise<void> {
    const grant = (await this.#grants.get(grantKey))?.data;
    await this.#grants.delete(grantKey);
    const { accountId, clientId } = grant ?? {};
    const isOwned = accountId !== undefined && clientId !== undefined;
    await Promise.all([
      isOwned ? this.#owners.delete(`${accountId}.${clientId}.${grantKey}`) : undefined,
      this.#revokeMembers(grantKey),
    ]);
  }

  async #revokeMembers(grantKey: string): Promise<void> {
    await deleteAll(await this.#members.ids(`${grantKey}.`), async (id) => {
      const [, model = "", key = ""] = id.split(".");
      await new Records(this.#store, `oauth.${model}`).delete(key);
      await this.#members.delete(id);
    });
  }
}

/** Returns the grant's key of an owner's entry. */
function grantKeyOf(id: string): string {
  return id.slice(id.lastIndexOf(".") + 1);
}

async function deleteAll(ids: readonly string[], deleteOne: (id: string) => Promise<void>): Promise<void> {
  for (let at = 0; at < ids.length; at += DELETED_AT_ONCE)
    await Promise.all(ids.slice(at, at + DELETED_AT_ONCE).map(deleteOne));
}

/** A valid access token. */
export interface AccessToken {
  readonly accountId: string;
  readonly account: Account;
  readonly clientId: string;
  /** Scope URLs, separated by blanks. */
  readonly scope: string;
}

/** A valid access token of the dashboard's own sign-in. */
export interface OwnAccessToken extends AccessToken {
  /** Name of the browser's session at the provider in which its code was issued, see BrowserSessions. */
  readonly atProvider?: string;
}

/** An access token with the grant that it was issued for. `id` and `revision` are those of the code that holds the grant. */
export interface SignInToken {
  readonly payload: AdapterPayload;
  readonly grant: Pick<Stored<GrantRecord>, "id" | "revision" | "data"> | null;
}

/** Tokens of sign-ins that end at the same time. Beyond that the oldest one fails. */
const MAX_SIGN_INS = 1_000;

/**
 * Access tokens of the dashboard's own sign-ins. Each is issued and redeemed by one request of this process, so none of them
 * is stored.
 */
export class SignInTokens {
  readonly #tokens = new Map<string, SignInToken>();

  /** Keeps a token under its hash. */
  keep(key: string, token: SignInToken): void {
    setNewest(this.#tokens, key, token, MAX_SIGN_INS);
  }

  /** Returns a token, once. */
  take(key: string): SignInToken | undefined {
    const token = this.#tokens.get(key);
    this.#tokens.delete(key);
    return token;
  }
}

/** Dependencies of AccessTokens. */
export interface AccessTokenParts {
  readonly families: TokenFamilies;
  readonly signIns: SignInTokens;
  readonly accounts: Accounts;
  readonly audit: AuditSink;
}

export class AccessTokens {
  readonly #tokens: Records<AdapterPayload>;
  readonly #codes: Records<AdapterPayload>;
  readonly #families: TokenFamilies;
  readonly #signIns: SignInTokens;
  readonly #accounts: Accounts;
  readonly #audit: AuditSink;

  constructor(store: Store, { families, signIns, accounts, audit }: AccessTokenParts) {
    this.#tokens = new Records(store, "oauth.AccessToken");
    this.#codes = new Records(store, "oauth.AuthorizationCode");
    this.#families = families;
    this.#signIns = signIns;
    this.#accounts = accounts;
    this.#audit = audit;
  }

  /**
   * Returns the record of `token`, or null if it is unknown, expired or revoked, or if its account was removed or has
   * another password since.
   */
  async verify(token: string): Promise<AccessToken | null> {
    const read = await this.#tokens.get(hashOf(token));
    if (read === null) return null;
    return this.#check(read.data, async (grantId) => (await this.#families.grant(grantId))?.data ?? null);
  }

  /**
   * Like `verify`, for a token of the dashboard's own sign-in. It deletes the code with its grant by compare-and-set, which
   * makes the token valid: of several uses of a code, on any hubs, one succeeds (RFC 6749 section 4.1.2), and nothing is left
   * of the family. The grant of a code of an earlier version is deleted in the same way.
   */
  async verifyOwn(token: string): Promise<OwnAccessToken | null> {
    const { payload, grant } = this.#signIns.take(hashOf(token)) ?? {};
    if (payload === undefined || grant === undefined || grant === null) return null;
    const found = await this.#check(payload, async (id) =>
      (await this.#useUp(id, grant)) ? grant.data : null,
    );
    if (found === null || payload.sessionUid === undefined) return found;
    return { ...found, atProvider: sessionName(payload.sessionUid) };
  }

  async #useUp(grantId: string, { id, revision, data }: NonNullable<SignInToken["grant"]>): Promise<boolean> {
    if (!(await won(this.#codes.delete(id, revision)))) {
      this.#audit({
        action: "code_replayed",
        outcome: "refused",
        actor: data.clientId ?? "unknown",
        subject: fingerprintOf(id),
        reason: "used twice at once; one use counts",
      });
      return false;
    }
    return data.apart === undefined || this.#families.end(grantId, data.apart);
  }

  async #check(
    { accountId, clientId, grantId, scope = "" }: AdapterPayload,
    find: (grantId: string) => Promise<GrantRecord | null>,
  ): Promise<AccessToken | null> {
    if (accountId === undefined || clientId === undefined || grantId === undefined) return null;
    const [grant, account] = await Promise.all([find(grantId), this.#accounts.get(accountId)]);
    const isValid = grant !== null && isSincePassword(grant.accountEpoch, account);
    return isValid ? { accountId, account, clientId, scope } : null;
  }
}
