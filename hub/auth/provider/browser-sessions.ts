/**
 * The sessions that browsers have at the embedded provider, where they need no password at the next authorization. Each
 * dashboard session names the one that it began in, and ends it when it is ended.
 */

import type { Account } from "#hub/auth/accounts/accounts.ts";
import { Records, type Store, won } from "#hub/auth/state/records.ts";
import { hashOf } from "#hub/auth/state/secrets.ts";

/** Models under which the adapter stores sessions, and the keys of sessions by the hash of their uid. */
export const SESSION_MODEL = "oauth.Session";
export const SESSION_BY_UID = "oauth-session-uid";

export class BrowserSessions {
  readonly #sessions: Records<unknown>;
  readonly #byUid: Records<{ readonly key: string }>;

  constructor(store: Store) {
    this.#sessions = new Records(store, SESSION_MODEL);
    this.#byUid = new Records(store, SESSION_BY_UID);
  }

  /** Ends the session with this id, the value of the provider's cookie. */
  async end(id: string): Promise<void> {
    await this.#sessions.delete(hashOf(id));
  }

  /** Ends the session with this name. Its entry is removed last: who ends it again after a failure must find it. */
  async endNamed(name: string): Promise<void> {
    const found = await this.#byUid.get(name);
    if (found === null) return;
    await this.#sessions.delete(found.data.key);
    // Unless a request that was under way has stored both again.
    await won(this.#byUid.delete(name, found.revision));
  }
}

/** Returns the name of the session with this uid. It stays when the session gets another id, and is not secret. */
export function sessionName(uid: string): string {
  return hashOf(uid);
}

/** Returns what a browser's session keeps of its sign-in as its `acr`: another password or role makes another mark. */
export function signInMark({ epoch }: Pick<Account, "epoch">): string {
  return String(epoch);
}
