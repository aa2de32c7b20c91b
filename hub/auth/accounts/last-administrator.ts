/**
 * Ensures that at least one account may administer, even if several hubs and requests remove or demote accounts at the
 * same time. A record in the state names the accounts that are about to lose the right. It decides by compare-and-set
 * who of several is first.
 *
 * Two ways past it remain: a sign-in at another provider, which gives its person the role that the provider names
 * (`Accounts.ofUpstream`), and a hub of a version without this record. Both can demote the last one. With another
 * provider an administrator comes from there again; else `tailrace-hub user add` makes one.
 */

import { Records, type Store, type Stored, won } from "#hub/auth/state/records.ts";
import { AppError } from "#proto/kit/errors.ts";
import { actionsOf, type Role } from "./principal.ts";

/** The one record of its kind. */
const RECORD = "leaving";

/** What is looked at of an account. */
interface Rights {
  readonly name: string;
  readonly role: Role;
  readonly indices: readonly string[];
}

interface Leaving {
  /** Accounts that were announced. Some may administer anyway: their change failed, or they were promoted again. */
  readonly ids: readonly string[];
}

export class LastAdministrator<Account extends Rights> {
  readonly #accounts: Records<Account>;
  readonly #isNamed: (account: Stored<Account>) => Promise<boolean>;
  readonly #leaving: Records<Leaving>;

  /** `isNamed`: returns whether people can sign in to the account. */
  constructor(
    store: Store,
    accounts: Records<Account>,
    isNamed: (account: Stored<Account>) => Promise<boolean>,
  ) {
    this.#accounts = accounts;
    this.#isNamed = isNamed;
    this.#leaving = new Records(store, "administrators");
  }

  /**
   * Announces that the account, as it was read, loses its right to administer. The change must then be made by
   * compare-and-set on what was read. Returns false if another was first: the caller must read the account again. Throws
   * request_invalid if no other account may administer.
   */
  async announce(read: Stored<Account>): Promise<boolean> {
    const before = await this.#leaving.get(RECORD);
    const announced = new Set(before?.data.ids);
    const others = await this.#othersThan(read);
    if (others.length === 0) {
      throw new AppError(
        "request_invalid",
        `"${read.data.name}" is the only administrator; create another one first`,
      );
    }
    const leaving = others.filter(({ id }) => announced.has(id));
    const isKept = leaving.length < others.length;
    // All others are announced, and perhaps none of them was changed. A rewritten account lets a change under way fail.
    if (!isKept)
      for (const other of others) if (!(await won(this.#accounts.update(other, other.data)))) return false;
    const ids = [...(isKept ? leaving.map(({ id }) => id) : []), read.id];
    return won(
      before === null ? this.#leaving.create(RECORD, { ids }) : this.#leaving.update(before, { ids }),
    );
  }

  /** Returns the other accounts that may administer, and that people can sign in to. Each name is a request: few are looked up. */
  async #othersThan({ id }: Stored<Account>): Promise<Stored<Account>[]> {
    const others: Stored<Account>[] = [];
    for (const each of await this.#accounts.list())
      if (each.id !== id && mayAdminister(each.data) && (await this.#isNamed(each))) others.push(each);
    return others;
  }
}

/** Returns true if the account may administer. */
export function mayAdminister({ role, indices }: Pick<Rights, "role" | "indices">): boolean {
  return actionsOf(role, indices).has("administer");
}
