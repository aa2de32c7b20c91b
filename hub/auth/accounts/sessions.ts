/** Dashboard sessions: an opaque secret in a cookie, its hash in the state, an idle and an absolute end. One-time tickets for sockets. */

import { KnownRecords } from "#hub/auth/state/known-records.ts";
import { Records, type Store, type Stored, won } from "#hub/auth/state/records.ts";
import { hashOf, newSecret } from "#hub/auth/state/secrets.ts";
import { AppError } from "#proto/kit/errors.ts";
import { setNewest } from "#proto/kit/newest-entries.ts";
import { type Account, type Accounts, isInEpoch } from "./accounts.ts";
import type { Action, Principal } from "./principal.ts";

/** Shortest time between two writes of a session's last use; one write per request would be too many. */
const TOUCH_MS = 5 * 60_000;
/** Maximum number of sessions of one account; opening another one ends the oldest. */
const MAX_PER_ACCOUNT = 50;
/** A younger entry may still wait for its session, as both are stored at the same time; hubs' clocks may differ by minutes. */
const OPENING_MS = 15 * 60_000;

/** Sessions whose owner is remembered. The account of others is read after them. */
const MAX_OWNERS = 10_000;

export interface SessionLife {
  /** End after the last use, ms. */
  readonly idleMs: number;
  /** End after sign-in, ms. */
  readonly absoluteMs: number;
}

/** A session as it is stored, under the hash of its secret. */
export interface Session {
  readonly accountId: string;
  /** The account's epoch at sign-in. A change of password or role begins another, which ends the session (`isInEpoch`). */
  readonly epoch: number;
  readonly createdAt: number;
  readonly seenAt: number;
  readonly ip: string;
  readonly userAgent: string;
  /** Name of the session at the embedded provider in which it was opened. Absent: another provider, or the set-up. */
  readonly atProvider?: string;
}

/** The browser that a session is opened for. */
export interface SessionBrowser {
  readonly ip: string;
  readonly userAgent: string;
  /** Secret of the browser's previous session, which is ended. */
  readonly before?: string;
  /** See `Session.atProvider`. */
  readonly atProvider?: string;
}

/** A session that hasn't ended. `key` names it in lists; it is not secret. */
export interface LivingSession {
  readonly key: string;
  readonly session: Session;
  readonly account: Account;
}

/** A session that has just ended. */
interface EndedSession {
  readonly session: Session;
  /** The removal of its entry in the account's list, which is under way. */
  readonly unlisted: Promise<unknown>;
}

export class Sessions {
  readonly #sessions: Records<Session>;
  readonly #byAccount: Records<null>;
  readonly #store: Store;
  readonly #accounts: Accounts;
  readonly #life: SessionLife;
  readonly #endAtProvider: (name: string) => Promise<void>;
  /** Sessions and entries that this process stored, for when a browser signs in again. */
  readonly #known: KnownRecords<Session>;
  readonly #knownEntries: KnownRecords<null>;
  /** Accounts of sessions by the sessions' keys. A session stays that of its account. */
  readonly #owners = new Map<string, string>();
  /** Removals of entries that no request waits for. */
  readonly #unlisting = new Set<Promise<unknown>>();

  /**
   * `endAtProvider` ends the session with this name at the embedded provider, which would open the next session here
   * without a password.
   */
  constructor(
    store: Store,
    accounts: Accounts,
    life: SessionLife,
    endAtProvider: (name: string) => Promise<void> = () => Promise.resolve(),
  ) {
    this.#sessions = new Records(store, SESSION_KIND);
    this.#byAccount = new Records(store, "session-of");
    this.#store = store;
    this.#accounts = accounts;
    this.#life = life;
    this.#endAtProvider = endAtProvider;
    this.#known = new KnownRecords(store.clock);
    this.#knownEntries = new KnownRecords(store.clock);
  }

  /** Waits for work that continues after an answer. */
  async stop(): Promise<void> {
    await Promise.all(this.#unlisting);
  }

  /** Opens a session and returns the secret for the cookie. Each sign-in gets a new one, so a planted cookie is worthless. */
  async open(accountId: string, epoch: number, browser: SessionBrowser): Promise<string> {
    const { ip, userAgent, before, atProvider } = browser;
    const secret = newSecret();
    const key = hashOf(secret);
    const old = before === undefined ? undefined : hashOf(before);
    const now = this.#store.clock.now();
    const session: Session = {
      accountId,
      epoch,
      createdAt: now,
      seenAt: now,
      ip,
      userAgent: userAgent.slice(0, 200),
      ...(atProvider !== undefined && { atProvider }),
    };
    // In parallel: each waits for the log, and none depends on another.
    await Promise.all([this.#endPrevious(accountId, key, old), this.#create(key, session)]);
    return secret;
  }

  /** Ends the browser's previous session; if there is none, the account's oldest ones beyond the limit. */
  async #endPrevious(accountId: string, opening: string, old: string | undefined): Promise<void> {
    const ended = old === undefined ? null : await this.#end(old);
    if (ended !== null) this.#unlistLater(ended);
    // One session in place of another doesn't add to their number.
    if (ended?.session.accountId !== accountId) await this.#dropOldest(accountId, opening);
  }

  /** Lets the entry of an ended session go without a wait for it. One that stays is removed by whoever reads the list. */
  #unlistLater({ unlisted }: EndedSession): void {
    const over = unlisted.catch(() => undefined).finally(() => this.#unlisting.delete(over));
    this.#unlisting.add(over);
  }

  /** Stores a session and its entry in the account's list at once: nobody has the secret before both are there. */
  async #create(key: string, session: Session): Promise<void> {
    const expiresAt = this.#endOf(session);
    const id = `${session.accountId}.${key}`;
    const listedUntil = session.createdAt + this.#life.absoluteMs;
    const [revision, entry] = await Promise.all([
      this.#sessions.create(key, session, expiresAt),
      this.#byAccount.put(id, null, listedUntil),
    ]);
    this.#noteOwner(key, session.accountId);
    this.#known.note(key, { id: key, data: session, expiresAt, revision });
    this.#knownEntries.note(id, { id, data: null, expiresAt: listedUntil, revision: entry });
  }

  /** Returns the session of a cookie's secret and extends its idle end, or null. */
  async find(secret: string): Promise<LivingSession | null> {
    return this.get(hashOf(secret), true);
  }

  /** Returns the session named `key`, or null. Open sockets call it from time to time to check that they may continue. */
  async get(key: string, touch = false): Promise<LivingSession | null> {
    const [read, early] = await Promise.all([this.#sessions.get(key), this.#accountOf(key)]);
    if (read === null) return null;
    const { accountId } = read.data;
    const account = early === undefined ? await this.#accounts.get(accountId) : early;
    this.#noteOwner(key, accountId);
    if (account === null || !isInEpoch(key, read.data.epoch, account)) {
      await this.#endRead(read);
      return null;
    }
    const now = this.#store.clock.now();
    if (touch && now - read.data.seenAt >= TOUCH_MS) {
      const seen = { ...read.data, seenAt: now };
      // A lost compare-and-set is harmless: another request was first, or the session ended.
      await won(this.#extend(read, seen));
    }
    return { key, session: read.data, account };
  }

  /** Returns the account of a session, or null if it is gone; undefined if its owner isn't remembered. */
  #accountOf(key: string): Promise<Account | null> | undefined {
    const owner = this.#owners.get(key);
    return owner === undefined ? undefined : this.#accounts.get(owner);
  }

  #noteOwner(key: string, accountId: string): void {
    setNewest(this.#owners, key, accountId, MAX_OWNERS);
  }

  /** Removes an entry without a session, unless its session may be about to be stored. */
  async #dropEntry(id: string): Promise<void> {
    const entry = await this.#byAccount.get(id);
    if (entry === null) return;
    const createdAt = (entry.expiresAt ?? 0) - this.#life.absoluteMs;
    if (createdAt + OPENING_MS <= this.#store.clock.now())
      await won(this.#byAccount.delete(id, entry.revision));
  }

  async #extend(read: Stored<Session>, seen: Session): Promise<void> {
    const expiresAt = this.#endOf(seen);
    const revision = await this.#sessions.update(read, seen, expiresAt);
    this.#known.note(read.id, { id: read.id, data: seen, expiresAt, revision });
  }

  async list(accountId: string): Promise<{ key: string; session: Session }[]> {
    return this.#read(accountId, await this.#byAccount.ids(`${accountId}.`));
  }

  /** Returns the sessions of index entries, at most about 50, the newest first, and removes entries of ended sessions. */
  async #read(accountId: string, ids: readonly string[]): Promise<{ key: string; session: Session }[]> {
    const read = await Promise.all(
      ids.map(async (id) => {
        const key = id.slice(accountId.length + 1);
        const stored = await this.#sessions.get(key);
        if (stored === null) await this.#dropEntry(id);
        return stored === null ? [] : [{ key, session: stored.data }];
      }),
    );
    return read.flat().sort((a, b) => b.session.seenAt - a.session.seenAt);
  }

  /**
   * Ends a session, and the browser's sign-in at the embedded provider. A session that has already ended is not an
   * error.
   */
  async end(key: string): Promise<void> {
    await this.#endSignIn(await this.#sessions.get(key));
    await (await this.#end(key))?.unlisted;
  }

  /** Ends a session, as `end` does, unless it has changed since it was read. */
  async #endRead(read: Stored<Session>): Promise<void> {
    await this.#endSignIn(read);
    await (await this.#delete(read))?.unlisted;
  }

  /** Ends a session's sign-in at the provider. That is done first: only the session names it, for another attempt. */
  async #endSignIn(read: Stored<Session> | null): Promise<void> {
    const name = read?.data.atProvider;
    if (name !== undefined) await this.#endAtProvider(name);
  }

  /** Ends a session here only; returns null if there is none. */
  async #end(key: string): Promise<EndedSession | null> {
    const known = this.#known.take(key);
    if (known !== undefined && (await won(this.#sessions.delete(key, known.revision))))
      return { session: known.data, unlisted: this.#endEntry(`${known.data.accountId}.${key}`) };
    for (;;) {
      const read = await this.#sessions.get(key);
      if (read === null) return null;
      const ended = await this.#delete(read);
      // Else a request has just recorded the session's use, or has ended it.
      if (ended !== null) return ended;
    }
  }

  /** Deletes a session as it was read. Returns null if it has changed or ended since. */
  async #delete({ id: key, data: session, revision }: Stored<Session>): Promise<EndedSession | null> {
    const id = `${session.accountId}.${key}`;
    const isEnding = won(this.#sessions.delete(key, revision));
    // Its entry is read meanwhile, but removed only once the session is: who ends all sessions reads the entries.
    const [hasEnded, entry] = await Promise.all([isEnding, this.#byAccount.get(id)]);
    if (!hasEnded) return null;
    const unlisted = entry === null ? Promise.resolve() : won(this.#byAccount.delete(id, entry.revision));
    return { session, unlisted };
  }

  /** Removes the entry of a session that has ended. */
  async #endEntry(id: string): Promise<void> {
    const known = this.#knownEntries.take(id);
    if (known === undefined) await this.#byAccount.delete(id);
    else await won(this.#byAccount.delete(id, known.revision));
  }

  /** Ends a session of this account only. Throws not_found. */
  async endOwn(accountId: string, key: string): Promise<void> {
    const read = await this.#sessions.get(key);
    if (read?.data.accountId !== accountId) throw new AppError("not_found", "there is no such session");
    await this.end(key);
  }

  /** Ends the account's sessions, except `but` where it is given. */
  async endAll(accountId: string, but?: string): Promise<void> {
    const ending = (await this.list(accountId)).filter(({ key }) => key !== but);
    // At once: each waits for the log, and an account has few.
    await Promise.all(ending.map(({ key }) => this.end(key)));
  }

  /** Ends the oldest sessions beyond the limit, besides the one that is being opened. */
  async #dropOldest(accountId: string, opening: string): Promise<void> {
    const all = await this.#byAccount.ids(`${accountId}.`);
    const ids = all.filter((id) => id !== `${accountId}.${opening}`);
    if (ids.length < MAX_PER_ACCOUNT) return; // usually no session needs to be read
    const present = await this.#read(accountId, ids);
    for (const { key } of present.slice(MAX_PER_ACCOUNT - 1)) await this.end(key);
  }

  #endOf({ seenAt, createdAt }: Session): number {
    return Math.min(seenAt + this.#life.idleMs, createdAt + this.#life.absoluteMs);
  }
}

/** Prefix of the sessions' keys in the bucket, for followers of their end. */
export const SESSION_KIND = "session";

/** Life of a ticket, which is used immediately after it is issued. */
const TICKET_MS = 30_000;

type TicketRecord = Omit<Principal, "actions"> & { readonly actions: readonly Action[] };

export class Tickets {
  readonly #tickets: Records<TicketRecord>;
  readonly #store: Store;

  constructor(store: Store) {
    this.#tickets = new Records(store, "ticket");
    this.#store = store;
  }

  /** Issues a ticket for the principal: valid once within 30 s, sent in the socket's first message. */
  async issue(principal: Principal): Promise<string> {
    const ticket = newSecret();
    const record: TicketRecord = { ...principal, actions: [...principal.actions] };
    await this.#tickets.create(hashOf(ticket), record, this.#store.clock.now() + TICKET_MS);
    return ticket;
  }

  /** Returns the ticket's principal and invalidates the ticket, or null. */
  async redeem(ticket: string): Promise<Principal | null> {
    const record = await this.#tickets.take(hashOf(ticket));
    if (record === null) return null;
    return { ...record, actions: new Set(record.actions) };
  }
}
