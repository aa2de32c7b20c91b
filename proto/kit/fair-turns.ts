/**
 * Bounds the number of concurrent operations of a kind and queues further ones: each owner's requests in their order,
 * the owners round robin, so that no owner waits for all requests of another. As with FairShares, an owner gets no more
 * once it would have more in progress than remains free for all others: an owner that has nothing in progress rarely
 * waits.
 */

import { AppError } from "./errors.ts";
import { FairShares } from "./fair-shares.ts";

/** Wait that a refused client is asked for. */
const RETRY_AFTER_SECONDS = 1;

export interface TurnLimits {
  /** Turns at a time. */
  readonly turns: number;
  /** Requests that wait, of all owners; one alone may have half of them waiting. */
  readonly waiting: number;
  /** Longest wait, ms. */
  readonly waitMs: number;
  /** Of what the turns are, for refusals: "searches". */
  readonly what: string;
}

/** The turn of one request: it may be left while the request waits for something else, and taken again. */
export interface Turn {
  /**
   * Resolves when the request may continue; at once where it has its turn. It waits `waitMs` at most, and never longer
   * than the limit of all. Throws overloaded, cancelled.
   */
  take(waitMs?: number): Promise<void>;
  /** Gives the turn to others. */
  leave(): void;
}

/** A request that waits for its turn. */
type Resume = () => void;

export class FairTurns {
  readonly #limits: TurnLimits;
  readonly #places: FairShares;
  /** Turns by owner, of those that have some. */
  readonly #held = new Map<string, number>();
  /** Waiting requests by owner; the owner that comes first got a turn longest ago. */
  readonly #waiting = new Map<string, Set<Resume>>();
  #taken = 0;
  #late = 0;

  constructor(limits: TurnLimits) {
    this.#limits = limits;
    this.#places = new FairShares({
      limit: limits.waiting,
      what: `${limits.what} wait for their turn`,
      remedy: "send them again a little later, and fewer at a time",
    });
  }

  /** Turns that are taken. */
  get taken(): number {
    return this.#taken;
  }

  /** Requests that wait. */
  get waiting(): number {
    return this.#places.taken;
  }

  /** Requests that were refused: too many waited, or the wait was too long. */
  get refused(): number {
    return this.#places.refused + this.#late;
  }

  /** Returns the turn of a request of `owner`, not taken yet; `signal` ends its wait. */
  turn(owner: string, signal: AbortSignal): Turn {
    let isHeld = false;
    return {
      take: async (waitMs) => {
        if (isHeld) return;
        await this.#take(owner, signal, waitMs);
        isHeld = true;
      },
      leave: () => {
        if (!isHeld) return;
        isHeld = false;
        this.#give(owner);
      },
    };
  }

  /** Runs `run` in a turn of `owner`. Throws overloaded, cancelled, and what it throws. */
  async during<T>(owner: string, signal: AbortSignal, run: () => Promise<T>): Promise<T> {
    await this.#take(owner, signal);
    try {
      return await run();
    } finally {
      this.#give(owner);
    }
  }

  /** The turn is the caller's from the moment that this resolves, and before: what is given is counted at once. */
  #take(owner: string, signal: AbortSignal, waitMs?: number): Promise<void> | undefined {
    if (signal.aborted) throw cancelled();
    if (!this.#waiting.has(owner) && this.#mayTake(owner)) {
      this.#count(owner, 1);
      return undefined;
    }
    this.#places.take(owner);
    return this.#wait(owner, signal, waitMs).finally(() => this.#places.give(owner));
  }

  #wait(owner: string, signal: AbortSignal, mayWaitMs = Number.POSITIVE_INFINITY): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const resumes = this.#waiting.get(owner) ?? new Set();
    const end = (error: AppError): void => {
      if (!resumes.delete(resolve)) return;
      if (resumes.size === 0) this.#waiting.delete(owner);
      reject(error);
    };
    const leave = (): void => end(cancelled());
    const { what } = this.#limits;
    const waitMs = Math.min(this.#limits.waitMs, Math.round(mayWaitMs));
    const timer = setTimeout(() => {
      this.#late++;
      end(
        new AppError("overloaded", `too many ${what} are under way: this one waited ${waitMs} ms in vain`, {
          data: { retryAfterSeconds: RETRY_AFTER_SECONDS },
        }),
      );
    }, waitMs);
    signal.addEventListener("abort", leave, { once: true });
    this.#waiting.set(owner, resumes.add(resolve));
    return promise.finally(() => {
      clearTimeout(timer);
      signal.removeEventListener("abort", leave);
    });
  }

  #give(owner: string): void {
    this.#count(owner, -1);
    this.#grant();
  }

  /** Gives free turns to the owners that wait, one each, until none may take another. */
  #grant(): void {
    for (let isGiven = true; isGiven; ) {
      isGiven = false;
      // A copy: an owner that gets a turn goes to the end.
      for (const [owner, resumes] of Array.from(this.#waiting)) {
        if (this.#taken >= this.#limits.turns) return;
        const [resume] = resumes;
        if (resume === undefined || !this.#mayTake(owner)) continue;
        resumes.delete(resume);
        this.#waiting.delete(owner);
        if (resumes.size > 0) this.#waiting.set(owner, resumes);
        this.#count(owner, 1);
        resume();
        isGiven = true;
      }
    }
  }

  #mayTake(owner: string): boolean {
    const held = this.#held.get(owner) ?? 0;
    const free = this.#limits.turns - this.#taken - 1;
    return free >= 0 && (held === 0 || held + 1 <= free);
  }

  #count(owner: string, by: number): void {
    const held = (this.#held.get(owner) ?? 0) + by;
    this.#taken += by;
    if (held > 0) this.#held.set(owner, held);
    else this.#held.delete(owner);
  }
}

function cancelled(): AppError {
  return new AppError("cancelled", "the request was cancelled while it waited for its turn");
}
