/** The link by which the first administrator is created. It is valid once and for a day. */

import type { AuditSink } from "#hub/auth/audit/audit.ts";
import { Records, type Store, won } from "#hub/auth/state/records.ts";
import { hashOf, newSecret } from "#hub/auth/state/secrets.ts";
import { AppError } from "#proto/kit/errors.ts";
import { DAY_MS } from "#proto/kit/units.ts";
import { type Accounts, type AccountView, checkName } from "./accounts.ts";
import type { Passwords } from "./passwords.ts";

/** Life of the link: a day. */
const LINK_MS = DAY_MS;
/** The one record of its kind. */
const RECORD = "link";

interface SetupLink {
  readonly tokenHash: string;
}

export class FirstAdministrator {
  readonly #links: Records<SetupLink>;
  readonly #store: Store;
  readonly #accounts: Accounts;
  readonly #passwords: Passwords;
  readonly #audit: AuditSink;

  constructor(store: Store, accounts: Accounts, passwords: Passwords, audit: AuditSink) {
    this.#links = new Records(store, "setup");
    this.#store = store;
    this.#accounts = accounts;
    this.#passwords = passwords;
    this.#audit = audit;
  }

  /** Returns the secret of a new link, or null if there are accounts. Each call invalidates earlier links. */
  async newToken(): Promise<string | null> {
    if (!(await this.#accounts.empty())) return null;
    const token = newSecret();
    await this.#links.put(RECORD, { tokenHash: hashOf(token) }, this.#store.clock.now() + LINK_MS);
    this.#audit({ action: "setup_link_made", outcome: "ok", actor: "system" });
    return token;
  }

  /** Returns true if `token` belongs to the current link and there is no account yet. */
  async knows(token: string): Promise<boolean> {
    const link = await this.#links.get(RECORD);
    return link?.data.tokenHash === hashOf(token) && (await this.#accounts.empty());
  }

  /**
   * Creates the administrator. Only one of several concurrent calls succeeds. Throws forbidden for a used or expired link,
   * request_invalid.
   */
  async create(token: string, name: string, password: string): Promise<AccountView> {
    const link = await this.#links.get(RECORD);
    const refused = new AppError(
      "forbidden",
      "this link was used or has expired; restart the hub for a new one, or run tailrace-hub user add",
    );
    if (link?.data.tokenHash !== hashOf(token)) throw refused;
    // A rejected password or name must not use up the link.
    await this.#passwords.hash(password);
    checkName(name);
    if (!(await won(this.#links.delete(RECORD, link.revision))) || !(await this.#accounts.empty()))
      throw refused;
    return this.#accounts.add({ name, password, role: "admin" }, "setup link");
  }
}
