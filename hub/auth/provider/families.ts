/**
 * Families of credentials: everything that came from one consent and one code. The grant is the head: where it is
 * gone, every code and token of the family is worthless, at once and on every hub, even one that is stored later.
 */

import { Records, type Store } from "#hub/auth/state/records.ts";
import { hashOf } from "#hub/auth/state/secrets.ts";

/** Models of oidc-provider whose records belong to a grant. */
export const FAMILY_MODELS: ReadonlySet<string> = new Set([
  "AccessToken",
  "AuthorizationCode",
  "RefreshToken",
]);

/** What a stored grant says about itself. */
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

  /** Returns true while the family's grant is there. */
  async lives(grantId: string): Promise<boolean> {
    return (await this.#grants.get(hashOf(grantId))) !== null;
  }

  /** Notes that the record `<model>.<key>` belongs to the family. */
  async join(grantId: string, model: string, key: string, expiresAt: number | null): Promise<void> {
    await this.#members.put(`${hashOf(grantId)}.${model}.${key}`, null, expiresAt);
  }

  /** Notes whose grant it is, for lists of what somebody has allowed. */
  async own(grantId: string, accountId: string, clientId: string, expiresAt: number | null): Promise<void> {
    await this.#owners.put(`${accountId}.${clientId}.${hashOf(grantId)}`, null, expiresAt);
  }

  /** Ends a family: the grant first, which counts, then what belongs to it. */
  revoke(grantId: string): Promise<void> {
    return this.#revokeKey(hashOf(grantId));
  }

  /** Ends all families of an account, or of an account with one client. */
  async revokeOf(accountId: string, clientId?: string): Promise<void> {
    const start = clientId === undefined ? `${accountId}.` : `${accountId}.${clientId}.`;
    for (const id of await this.#owners.ids(start)) {
      await this.#revokeKey(id.slice(id.lastIndexOf(".") + 1));
      await this.#owners.delete(id);
    }
  }

  /** Ends all families of a client. */
  async revokeClient(clientId: string): Promise<void> {
    for (const id of await this.#owners.ids()) {
      const [accountId = "", client] = id.split(".");
      if (client === clientId) await this.revokeOf(accountId, clientId);
    }
  }

  async #revokeKey(grantKey: string): Promise<void> {
    const grant = (await this.#grants.get(grantKey))?.data;
    await this.#grants.delete(grantKey);
    if (grant?.accountId !== undefined && grant.clientId !== undefined) {
      await this.#owners.delete(`${grant.accountId}.${grant.clientId}.${grantKey}`);
    }
    for (const id of await this.#members.ids(`${grantKey}.`)) {
      const [, model = "", key = ""] = id.split(".");
      await new Records(this.#store, `oauth.${model}`).delete(key);
      await this.#members.delete(id);
    }
  }
}
