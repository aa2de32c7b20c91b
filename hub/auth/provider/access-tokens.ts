/** Checking access tokens inside the hub: straight in the state, so that a revocation counts at once. */

import type { AdapterPayload } from "oidc-provider";
import type { Account, Accounts } from "#hub/auth/accounts/accounts.ts";
import { Records, type Store } from "#hub/auth/state/records.ts";
import { hashOf } from "#hub/auth/state/secrets.ts";
import type { TokenFamilies } from "./families.ts";

/** A living access token. */
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

  /** Returns what `token` stands for, or null where it is unknown, over, revoked or its account is gone. */
  async verify(token: string): Promise<AccessToken | null> {
    const found = (await this.#tokens.get(hashOf(token)))?.data;
    const { accountId, clientId, grantId, scope } = found ?? {};
    if (accountId === undefined || clientId === undefined || grantId === undefined) return null;
    if (!(await this.#families.lives(grantId))) return null;
    const account = await this.#accounts.get(accountId);
    return account === null ? null : { accountId, account, clientId, scope: scope ?? "" };
  }

  /** Ends a token with all of its family. */
  async revoke(token: string): Promise<void> {
    const grantId = (await this.#tokens.get(hashOf(token)))?.data.grantId;
    if (grantId !== undefined) await this.#families.revoke(grantId);
  }
}
