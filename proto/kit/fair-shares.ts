/**
 * Divides a bounded resource among its users: a user gets no more once they would hold more than remains free for all
 * others. One user alone gets half, a second user half of the rest, and released shares are available to everybody.
 */

import { AppError } from "./errors.ts";

/** Wait that a refused client is asked for. */
const RETRY_AFTER_SECONDS = 1;

export interface SharedResource {
  /** All of it, in the unit of amounts. */
  readonly limit: number;
  /** Says of an amount that it is taken, for refusals: "points in time are open". */
  readonly what: string;
  /** What a refused user can do. */
  readonly remedy: string;
  /** Owner that stands for all users, as where nobody signs in: it may take all there is. */
  readonly everybody?: string | undefined;
}

/** What one message or request of an owner holds. */
export interface Holding {
  /** Takes more. Throws overloaded. */
  take(amount: number): void;
  /** Takes or gives back what makes it `amount`. Throws overloaded. */
  set(amount: number): void;
  /** Gives all of it back. */
  release(): void;
}

export class FairShares {
  readonly #resource: SharedResource;
  /** Amounts by owner, of those that hold some. */
  readonly #byOwner = new Map<string, number>();
  #taken = 0;
  #refused = 0;

  constructor(resource: SharedResource) {
    this.#resource = resource;
  }

  /** What all owners hold together. */
  get taken(): number {
    return this.#taken;
  }

  /** How often something was refused. */
  get refused(): number {
    return this.#refused;
  }

  /** Owners that hold something. */
  get owners(): number {
    return this.#byOwner.size;
  }

  /** Returns what an owner holds. */
  heldBy(owner: string): number {
    return this.#byOwner.get(owner) ?? 0;
  }

  /** Throws overloaded if an owner can't take one. */
  check(owner: string): void {
    this.take(owner);
    this.give(owner);
  }

  /** Takes `amount` (at least 0) for an owner. Throws overloaded with `data.retryAfterSeconds`. */
  take(owner: string, amount = 1): void {
    const { limit, what, remedy, everybody } = this.#resource;
    const held = this.heldBy(owner);
    const free = limit - this.#taken - amount;
    if (free < 0 || (held > 0 && owner !== everybody && held + amount > free)) {
      this.#refused++;
      const whose = free < 0 ? `${this.#taken} ${what}` : `${held} ${what} for you`;
      throw new AppError("overloaded", `${whose}, of ${limit} for all users; ${remedy}`, {
        data: { retryAfterSeconds: RETRY_AFTER_SECONDS },
      });
    }
    this.#change(owner, held + amount, amount);
  }

  /** Gives back what an owner has taken. */
  give(owner: string, amount = 1): void {
    this.#change(owner, this.heldBy(owner) - amount, -amount);
  }

  /** Returns what one message or request holds: nothing yet. */
  holding(owner: string): Holding {
    let held = 0;
    const set = (amount: number): void => {
      if (amount > held) this.take(owner, amount - held);
      else this.give(owner, held - amount);
      held = amount;
    };
    return { take: (amount) => set(held + amount), set, release: () => set(0) };
  }

  #change(owner: string, held: number, by: number): void {
    this.#taken += by;
    if (held > 0) this.#byOwner.set(owner, held);
    else this.#byOwner.delete(owner);
  }
}
