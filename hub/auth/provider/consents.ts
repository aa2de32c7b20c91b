/** Consents: the scopes that a person has allowed each client. Stored per person, not per browser. */

import type { AuditSink } from "#hub/auth/audit/audit.ts";
import { Records, type Store, won } from "#hub/auth/state/records.ts";
import type { TokenFamilies } from "./tokens.ts";

interface ConsentRecord {
  readonly scopes: readonly string[];
  /** ms since 1970. */
  readonly grantedAt: number;
}

export interface Consent extends ConsentRecord {
  readonly clientId: string;
}

export class Consents {
  readonly #consents: Records<ConsentRecord>;
  readonly #families: TokenFamilies;
  readonly #store: Store;
  readonly #audit: AuditSink;

  constructor(store: Store, families: TokenFamilies, audit: AuditSink) {
    this.#consents = new Records(store, "oauth-consent");
    this.#families = families;
    this.#store = store;
    this.#audit = audit;
  }

  /** Returns the scopes the account has allowed the client. */
  async scopes(accountId: string, clientId: string): Promise<readonly string[]> {
    return (await this.#consents.get(`${accountId}.${clientId}`))?.data.scopes ?? [];
  }

  /** Adds scopes to the consent. */
  async add(accountId: string, clientId: string, scopes: readonly string[]): Promise<void> {
    const id = `${accountId}.${clientId}`;
    const grantedAt = this.#store.clock.now();
    if (await won(this.#consents.create(id, { scopes, grantedAt }))) return;
    await this.#consents.change(id, (before) => ({
      scopes: [...new Set([...before.scopes, ...scopes])],
      grantedAt,
    }));
  }

  async list(accountId: string): Promise<Consent[]> {
    const all = await this.#consents.list(`${accountId}.`);
    return all.map(({ id, data }) => ({ clientId: id.slice(accountId.length + 1), ...data }));
  }

  /** Withdraws a consent and invalidates every code and token of it. */
  async withdraw(accountId: string, clientId: string, actor: string): Promise<void> {
    await this.#consents.delete(`${accountId}.${clientId}`);
    await this.#families.revokeOf(accountId, clientId);
    this.#audit({ action: "consent_withdrawn", outcome: "ok", actor, subject: clientId });
  }

  /** Ends all codes and tokens of an account; its consents stay. */
  endTokens(accountId: string): Promise<void> {
    return this.#families.endOf(accountId);
  }

  /** Removes all consents of a removed account, and ends its tokens. */
  async forget(accountId: string): Promise<void> {
    for (const id of await this.#consents.ids(`${accountId}.`)) await this.#consents.delete(id);
    await this.#families.endOf(accountId);
  }
}
