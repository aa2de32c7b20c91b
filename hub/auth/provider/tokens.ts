/**
 * Token families: all credentials that came from one consent and one code. A family ends with its grant: then every code
 * and token of it is invalid immediately and on every hub, even one that is stored later. Access tokens are checked in
 * the state, so a revocation takes effect immediately.
 */

import type { AdapterPayload } from "oidc-provider";
import type { Account, Accounts } from "#hub/auth/accounts/accounts.ts";
import { Records, type Store, won } from "#hub/auth/state/records.ts";
import { hashOf } from "#hub/auth/state/secrets.ts";

/** Models of oidc-provider whose records belong to a grant. */
export const FAMILY_MODELS: ReadonlySet<string> = new Set([
  "AccessToken",
  "AuthorizationCode",
  "RefreshToken",
]);

/** Members of a family that are revoked at a time; a family that was refreshed for weeks has thousands. */
const REVOKED_AT_ONCE = 16;

/** The fields of a stored grant that are read here. */
interface GrantRecord {
  readonly accountId?: string;
  readonly clientId?: string;
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

  /** Returns true while the family's grant exists. */
  async lives(grantId: string): Promise<boolean> {
    return (await this.#grants.get(hashOf(grantId))) !== null;
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

  /** Ends a family whose members aren't recorded: they are invalid without their grant, and expire. */
  async end(grantId: string, accountId: string, clientId: string): Promise<void> {
    const key = hashOf(grantId);
    await Promise.all([this.#grants.delete(key), this.#owners.delete(`${accountId}.${clientId}.${key}`)]);
  }

  /** Revokes all families of an account, or of an account with one client. */
  async revokeOf(accountId: string, clientId?: string): Promise<void> {
    const start = clientId === undefined ? `${accountId}.` : `${accountId}.${clientId}.`;
    for (const id of await this.#owners.ids(start)) {
      await this.#revokeKey(id.slice(id.lastIndexOf(".") + 1));
      await this.#owners.delete(id);
    }
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
    const ids = await this.#members.ids(`${grantKey}.`);
    const revokeOne = async (id: string): Promise<void> => {
      const [, model = "", key = ""] = id.split(".");
      await new Records(this.#store, `oauth.${model}`).delete(key);
      await this.#members.delete(id);
    };
    for (let at = 0; at < ids.length; at += REVOKED_AT_ONCE)
      await Promise.all(ids.slice(at, at + REVOKED_AT_ONCE).map(revokeOne));
  }
}

/** A valid access token. */
export interface AccessToken {
  readonly accountId: string;
  readonly account: Account;
  readonly clientId: string;
  /** Scope URLs, separated by blanks. */
  readonly scope: string;
}

export class AccessTokens {
  readonly #tokens: Records<AdapterPayload>;
  readonly #families: TokenFamilies;
  readonly #accounts: Accounts;

  constructor(store: Store, families: TokenFamilies, accounts: Accounts) {
    this.#tokens = new Records(store, "oauth.AccessToken");
    this.#families = families;
    this.#accounts = accounts;
  }

  /** Returns the record of `token`, or null if it is unknown, expired or revoked, or if its account was removed. */
  async verify(token: string): Promise<AccessToken | null> {
    return (await this.verifyOnce(token)).found;
  }

  /**
   * Like `verify`, for a token of the dashboard's own sign-in. `end` ends the token and its family, which nothing needs
   * afterwards.
   */
  async verifyOnce(
    token: string,
  ): Promise<{ readonly found: AccessToken | null; readonly end: () => Promise<void> }> {
    const key = hashOf(token);
    const read = await this.#tokens.get(key);
    const { accountId, clientId, grantId, scope } = read?.data ?? {};
    if (read === null || accountId === undefined || clientId === undefined || grantId === undefined)
      return { found: null, end: () => Promise.resolve() };
    const [lives, account] = await Promise.all([
      this.#families.lives(grantId),
      this.#accounts.get(accountId),
    ]);
    const end = async (): Promise<void> => {
      const token = won(this.#tokens.delete(key, read.revision));
      await Promise.all([token, this.#families.end(grantId, accountId, clientId)]);
    };
    const isValid = lives && account !== null;
    return { found: isValid ? { accountId, account, clientId, scope: scope ?? "" } : null, end };
  }
}
