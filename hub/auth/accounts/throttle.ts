/** Limits against guessing: waits that double with each failure, and counts per minute. In memory, bounded. */

import type { Clock } from "#proto/kit/clock.ts";
import { AppError } from "#proto/kit/errors.ts";
import { setNewest } from "#proto/kit/newest-entries.ts";

/** Maximum number of names remembered; the least recently used is dropped first. */
const MAX_NAMES = 20_000;

export interface ThrottleOptions {
  /** Failures without any wait. */
  readonly free: number;
  /** Wait after the first failure beyond them; doubles, ms. */
  readonly firstMs: number;
  /** Longest wait, ms. It is finite because a lock-out could be used against the owner. */
  readonly capMs: number;
}

interface Failures {
  count: number;
  /** Earliest time of the next attempt, ms since 1970. */
  notBefore: number;
}

/** Doubles the wait with each failure of a name; a success resets it. */
export class Throttle {
  readonly #clock: Clock;
  readonly #options: ThrottleOptions;
  readonly #names = new Map<string, Failures>();

  constructor(clock: Clock, options: ThrottleOptions) {
    this.#clock = clock;
    this.#options = options;
  }

  /** Throws overloaded with `data.retryAfterSeconds` while the name must wait. */
  check(name: string): void {
    const found = this.#names.get(name);
    const waitMs = (found?.notBefore ?? 0) - this.#clock.now();
    if (waitMs > 0) throw tooMany(waitMs);
  }

  failed(name: string): void {
    const { free, firstMs, capMs } = this.#options;
    const count = (this.#names.get(name)?.count ?? 0) + 1;
    const beyond = count - free;
    const waitMs = beyond <= 0 ? 0 : Math.min(capMs, firstMs * 2 ** Math.min(beyond - 1, 30));
    setNewest(this.#names, name, { count, notBefore: this.#clock.now() + waitMs }, MAX_NAMES);
  }

  /** Takes back one failure. */
  forgive(name: string): void {
    const found = this.#names.get(name);
    if (found === undefined) return;
    if (found.count <= 1) this.#names.delete(name);
    else this.#names.set(name, { count: found.count - 1, notBefore: 0 });
  }

  succeeded(name: string): void {
    this.#names.delete(name);
  }
}

interface Window {
  startedAt: number;
  count: number;
}

/** Allows a number of events per name and window. */
export class RateLimit {
  readonly #clock: Clock;
  readonly #limit: number;
  readonly #windowMs: number;
  readonly #names = new Map<string, Window>();

  constructor(clock: Clock, limit: number, windowMs = 60_000) {
    this.#clock = clock;
    this.#limit = limit;
    this.#windowMs = windowMs;
  }

  /** Throws overloaded with `data.retryAfterSeconds` if the name has reached the limit of its window. */
  check(name: string): void {
    const window = this.#names.get(name);
    if (window === undefined || window.count < this.#limit) return;
    const waitMs = window.startedAt + this.#windowMs - this.#clock.now();
    if (waitMs > 0) throw tooMany(waitMs);
  }

  /** Counts an event of the name. */
  count(name: string): void {
    const now = this.#clock.now();
    const window = this.#names.get(name);
    const isFresh = window === undefined || now - window.startedAt >= this.#windowMs;
    const counted = isFresh
      ? { startedAt: now, count: 1 }
      : { startedAt: window.startedAt, count: window.count + 1 };
    setNewest(this.#names, name, counted, MAX_NAMES);
  }

  /** Subtracts one event of the name. */
  forgive(name: string): void {
    const window = this.#names.get(name);
    if (window !== undefined && window.count > 0) window.count--;
  }

  /** Counts an event and returns true for the first `limit` events of a window. Limits messages that repeat. */
  allows(name: string): boolean {
    const window = this.#names.get(name);
    this.count(name);
    if (window === undefined || this.#clock.now() - window.startedAt >= this.#windowMs) return true;
    return window.count < this.#limit;
  }
}

/** Returns the network of an address: the IPv4 address itself, or the /64 of an IPv6 address, which one user controls. */
export function networkOf(ip: string): string {
  const address = ip.replace(/^::ffff:(?=\d+\.)/, "");
  if (!address.includes(":")) return address;
  const [head = ""] = address.split("%");
  const [left = "", right = ""] = head.split("::");
  const groups = left === "" ? [] : left.split(":");
  const missing = 8 - groups.length - (right === "" ? 0 : right.split(":").length);
  if (head.includes("::")) groups.push(...Array<string>(Math.max(0, missing)).fill("0"), ...right.split(":"));
  return `${groups.slice(0, 4).join(":")}::/64`;
}

function tooMany(waitMs: number): AppError {
  const retryAfterSeconds = Math.ceil(waitMs / 1_000);
  return new AppError("overloaded", `too many failed attempts; try again in ${retryAfterSeconds} s`, {
    data: { retryAfterSeconds },
  });
}
