/** Accounts of people: name, password hash, role, index patterns. */

import type { AuditSink } from "#hub/auth/audit/audit.ts";
import { Records, type Store, type Stored, won } from "#hub/auth/state/records.ts";
import { hashOf, newId } from "#hub/auth/state/secrets.ts";
import { AppError } from "#proto/kit/errors.ts";
import { checkGrants } from "./index-rights.ts";
import { LastAdministrator, mayAdminister } from "./last-administrator.ts";
import type { Passwords } from "./passwords.ts";
import type { Role } from "./principal.ts";

/** Attempts to change an account by compare-and-set; more mean that something is wrong. */
const ATTEMPTS = 50;
/** Letters, digits and the characters of mail addresses. */
const NAME = /^[\p{L}\p{N}][\p{L}\p{N}._@+-]{0,99}$/u;

/** An account as it is stored, under its id. */
export interface Account {
  readonly name: string;
  /** Absent: the person signs in at another provider only (`auth.upstream`). */
  readonly passwordHash?: string;
  readonly role: Role;
  /** Patterns of index names. */
  readonly indices: readonly string[];
  /** ms since 1970. */
  readonly createdAt: number;
  /** Incremented when the password or the role changes; sessions with a lower epoch have ended. */
  readonly epoch: number;
  /** The epoch that began with the last change of the password: what was allowed in an earlier one has ended. Absent: 0. */
  readonly passwordEpoch?: number;
  /** The session that set the last password of its own account. */
  readonly kept?: KeptSession;
}

/** A session that continues in a later epoch than that of its sign-in. */
interface KeptSession {
  readonly key: string;
  /** The account's epoch at the session's sign-in. */
  readonly openedIn: number;
  /** The account's epoch in which it continues. A later change ends it. */
  readonly epoch: number;
}

/** An account with its id, without its password's hash. */
export interface AccountView {
  readonly id: string;
  readonly name: string;
  readonly role: Role;
  readonly indices: readonly string[];
  readonly createdAt: number;
}

export interface NewAccount {
  readonly name: string;
  /** Absent for accounts that sign in at another provider. */
  readonly password?: string;
  readonly role: Role;
  readonly indices?: readonly string[];
}

/** Changes of an account; what is absent stays. */
export interface AccountChange {
  readonly password?: string;
  readonly role?: Role;
  readonly indices?: readonly string[];
  /** Key of the session that makes the change, and continues. Absent: all sessions end. */
  readonly keeps?: string;
}

/** Prefix of the accounts' keys in the bucket, for followers of their changes. */
export const ACCOUNT_KIND = "account";

/** Adds, changes, removes and checks accounts. */
export class Accounts {
  readonly #accounts: Records<Account>;
  readonly #names: Records<{ id: string }>;
  readonly #upstream: Records<{ id: string }>;
  readonly #lastAdministrator: LastAdministrator<Account>;
  readonly #store: Store;
  readonly #passwords: Passwords;
  readonly #audit: AuditSink;

  constructor(store: Store, passwords: Passwords, audit: AuditSink) {
    this.#accounts = new Records(store, ACCOUNT_KIND);
    this.#names = new Records(store, "account-name");
    this.#upstream = new Records(store, "account-upstream");
    this.#lastAdministrator = new LastAdministrator(store, this.#accounts, (each) => this.#isNamed(each));
    this.#store = store;
    this.#passwords = passwords;
    this.#audit = audit;
  }

  /** Adds an account. Throws request_invalid if the name is taken or invalid, or if the password is too short. */
  async add(account: NewAccount, actor: string): Promise<AccountView> {
    checkName(account.name);
    checkGrants(account.indices ?? []);
    const passwordHash =
      account.password === undefined ? undefined : await this.#passwords.hash(account.password);
    const id = newId();
    const record: Account = {
      name: account.name,
      ...(passwordHash === undefined ? {} : { passwordHash }),
      role: account.role,
      indices: account.indices ?? ["*"],
      createdAt: this.#store.clock.now(),
      epoch: 1,
    };
    // Before its name: a name without an account is then always one of an account that is gone.
    await this.#accounts.create(id, record);
    let isNamed = false;
    try {
      isNamed = await this.#takeName(account.name, id);
    } finally {
      if (!isNamed) await this.#accounts.delete(id);
    }
    if (!isNamed) throw new AppError("request_invalid", `there is an account "${account.name}" already`);
    this.#audit({
      action: "account_added",
      outcome: "ok",
      actor,
      subject: account.name,
      reason: account.role,
    });
    return view(id, record);
  }

  /** Returns the account, or null. */
  async get(id: string): Promise<Account | null> {
    return (await this.#accounts.get(id))?.data ?? null;
  }

  /** Returns id and account of a name, or null. */
  async find(name: string): Promise<{ id: string; account: Account } | null> {
    const id = (await this.#names.get(nameKey(name)))?.data.id;
    const account = id === undefined ? null : await this.get(id);
    return id === undefined || account === null ? null : { id, account };
  }

  /** Returns id and account if name and password are correct, else null. An unknown name takes as long as the last known one. */
  async verify(name: string, password: string): Promise<{ id: string; account: Account } | null> {
    const found = await this.find(name);
    const hash = found?.account.passwordHash;
    if (!(await this.#passwords.verify(password, hash)) || found === null) return null;
    if (hash !== undefined) await this.#renew(found.id, password, hash);
    return found;
  }

  /** Stores a hash of today's kind in place of an older one. The password stays, so that sessions don't end. */
  async #renew(id: string, password: string, hash: string): Promise<void> {
    try {
      const passwordHash = await this.#passwords.renewed(password, hash);
      if (passwordHash === undefined) return;
      await this.#accounts.change(id, (account) =>
        account.passwordHash === hash ? { ...account, passwordHash } : null,
      );
    } catch {
      // The password was correct: a full queue or log must not refuse it. The next sign-in tries again.
    }
  }

  /**
   * Returns the account of a person who signed in at another provider; creates it the first time. `subject` identifies the
   * person there permanently (issuer and sub), `name` is for display. A new role ends the sessions with the old one.
   * Throws forbidden if another account here has the name.
   */
  async ofUpstream(subject: string, name: string, role: Role): Promise<{ id: string; account: Account }> {
    const key = hashOf(subject);
    const known = (await this.#upstream.get(key))?.data.id;
    if (known !== undefined) {
      const account = await this.#accounts.change(known, (before) =>
        before.role === role ? null : { ...before, role, epoch: before.epoch + 1 },
      );
      if (account !== null) return { id: known, account };
    }
    if ((await this.find(name)) !== null) {
      throw new AppError(
        "forbidden",
        `there is another account "${name}" here; ask an administrator to rename it`,
      );
    }
    const { id } = await this.add({ name, role }, "upstream provider");
    await this.#upstream.put(key, { id });
    const account = await this.get(id);
    if (account === null)
      throw new AppError("unavailable", `account "${name}" was removed just now; sign in again`);
    return { id, account };
  }

  /** Returns all accounts, also those that a crash left without a name, so that they can be removed. */
  async list(): Promise<AccountView[]> {
    const all = await this.#accounts.list();
    return all.map(({ id, data }) => view(id, data)).sort((a, b) => a.name.localeCompare(b.name));
  }

  /** See `update`. */
  setPassword(name: string, password: string, actor: string): Promise<void> {
    return this.update(name, { password }, actor);
  }

  /** See `update`. */
  setRole(name: string, role: Role, indices: readonly string[], actor: string): Promise<void> {
    return this.update(name, { role, indices }, actor);
  }

  /**
   * Makes all changes or none and begins an epoch of the account, which ends its sessions. A new password ends its codes
   * and tokens too. Throws not_found, and request_invalid for a password of the wrong length, for the last administrator,
   * and for grants that give nothing.
   */
  async update(name: string, change: AccountChange, actor: string): Promise<void> {
    const { password, keeps, ...rights } = change;
    const { data: account } = await this.#required(name);
    const passwordHash = password === undefined ? undefined : await this.#passwords.hash(password);
    const { role, indices } = { ...account, ...rights };
    const changesRights = rights.role !== undefined || rights.indices !== undefined;
    if (changesRights) checkGrants(indices);
    const what = [
      ...(password === undefined ? [] : ["password"]),
      ...(changesRights ? [`role ${role}`] : []),
    ];
    await this.#replace(name, (before) => {
      const epoch = before.epoch + 1;
      return {
        ...before,
        ...rights,
        epoch,
        ...(passwordHash !== undefined && { passwordHash, passwordEpoch: epoch }),
        // In the same write as the epoch: whoever checks the session meanwhile must not find it ended.
        ...(keeps !== undefined && { kept: { key: keeps, openedIn: openedIn(keeps, before), epoch } }),
      };
    });
    const reason = what.join(", ");
    this.#audit({ action: "account_changed", outcome: "ok", actor, subject: name, reason });
  }

  /**
   * Removes an account, or what is left of one that was added or removed halfway. Throws not_found, request_invalid for the
   * last administrator.
   */
  async remove(name: string, actor: string): Promise<{ id: string }> {
    const named = await this.#names.get(nameKey(name));
    const id = named?.data.id ?? (await this.#nameless(name));
    if (named === null) await this.#accounts.delete(id);
    else {
      if ((await this.get(id)) !== null) await this.#replace(name, () => null);
      // Unless somebody else has removed it, and perhaps taken it.
      await won(this.#names.delete(named.id, named.revision));
    }
    this.#audit({ action: "account_removed", outcome: "ok", actor, subject: name });
    return { id };
  }

  /** Returns true if there are accounts but none is an administrator. */
  async lackAdministrator(): Promise<boolean> {
    const all = await this.#accounts.list();
    const isOneNamed = await this.#isOneNamed(all.filter(({ data }) => mayAdminister(data)));
    return !isOneNamed && (await this.#isOneNamed(all));
  }

  /** Returns true if there is no account. */
  async empty(): Promise<boolean> {
    return (await this.#names.ids()).length === 0;
  }

  /** Gives a name to an account, also one whose account is gone. Returns false if another account has it. */
  async #takeName(name: string, id: string): Promise<boolean> {
    const key = nameKey(name);
    const before = await this.#names.get(key);
    if (before === null) return won(this.#names.create(key, { id }));
    if ((await this.get(before.data.id)) !== null) return false;
    return won(this.#names.update(before, { id }));
  }

  /** Returns true if people can sign in to one of the accounts. */
  async #isOneNamed(accounts: readonly Stored<Account>[]): Promise<boolean> {
    for (const each of accounts) if (await this.#isNamed(each)) return true;
    return false;
  }

  /** Returns whether people can sign in to the account: a crash may have left it without its name. */
  async #isNamed({ id, data }: Stored<Account>): Promise<boolean> {
    return (await this.#names.get(nameKey(data.name)))?.data.id === id;
  }

  /** Returns the id of an account that never got its name: nobody can sign in to it. Throws not_found. */
  async #nameless(name: string): Promise<string> {
    const all = await this.#accounts.list();
    const found = all.find(({ data }) => nameKey(data.name) === nameKey(name));
    if (found === undefined) throw missing(name);
    return found.id;
  }

  async #required(name: string): Promise<Stored<Account>> {
    const named = await this.#names.get(nameKey(name));
    const found = named === null ? null : await this.#accounts.get(named.data.id);
    if (found === null) throw missing(name);
    return found;
  }

  /**
   * Replaces or, where `change` returns null, removes an account by compare-and-set, repeatedly until it wins. Throws
   * not_found, request_invalid for the last administrator, unavailable.
   */
  async #replace(name: string, change: (before: Account) => Account | null): Promise<void> {
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const read = await this.#required(name);
      const next = change(read.data);
      const isLeaving = mayAdminister(read.data) && (next === null || !mayAdminister(next));
      if (isLeaving && !(await this.#lastAdministrator.announce(read))) continue;
      const replaced =
        next === null ? this.#accounts.delete(read.id, read.revision) : this.#accounts.update(read, next);
      if (await won(replaced)) return;
    }
    throw new AppError("unavailable", `account "${name}" changes too often; try again`);
  }
}

/** Throws request_invalid unless `name` may be an account's. */
export function checkName(name: string): void {
  if (NAME.test(name)) return;
  throw new AppError(
    "request_invalid",
    `"${name}" isn't an account name; use 1 to 100 letters, digits and . _ @ + -, a letter or digit first`,
  );
}

/** Returns true if what was allowed in `epoch` of the account still is: neither its password changed since, nor was it removed. */
export function isSincePassword(epoch: number | undefined, account: Account | null): account is Account {
  return account !== null && (epoch ?? 0) >= (account.passwordEpoch ?? 0);
}

/** Returns true if a session that was opened in `epoch` of the account continues. */
export function isInEpoch(key: string, epoch: number, account: Account): boolean {
  return account.epoch === epoch || (isKept(key, account) && account.kept.openedIn === epoch);
}

/** Returns the epoch in which a session of the account's present epoch was opened. */
function openedIn(key: string, account: Account): number {
  return isKept(key, account) ? account.kept.openedIn : account.epoch;
}

function isKept(key: string, account: Account): account is Account & { readonly kept: KeptSession } {
  return account.kept?.key === key && account.kept.epoch === account.epoch;
}

function missing(name: string): AppError {
  return new AppError("not_found", `there is no account "${name}"`);
}

function view(id: string, { name, role, indices, createdAt }: Account): AccountView {
  return { id, name, role, indices, createdAt };
}

function nameKey(name: string): string {
  return hashOf(name.normalize("NFKC").toLowerCase());
}
