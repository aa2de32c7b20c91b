/** Checks name and password, with limits that slow guessing without locking the owner out. */

import type { AuditSink } from "#hub/auth/audit/audit.ts";
import { newId, sameText, signed } from "#hub/auth/state/secrets.ts";
import type { Clock } from "#proto/kit/clock.ts";
import type { Account, Accounts } from "./accounts.ts";
import { networkOf, RateLimit, Throttle } from "./throttle.ts";

/** Failures of one name from one network: four without a wait, then 1 s, 2 s, 4 s … 15 min. */
const NEAR = { free: 4, firstMs: 1_000, capMs: 15 * 60_000 };
/** Failures of one name from all networks: guessing from many addresses costs up to a minute per attempt. */
const FAR = { free: 49, firstMs: 1_000, capMs: 60_000 };
/** Failures of one network per minute, whatever the names. */
const FAILURES_PER_MINUTE = 30;

/** Name of the cookie that holds a browser's device mark. */
export const DEVICE_COOKIE = "tailrace_device";
/** Life of a device mark: half a year, s. */
export const DEVICE_SECONDS = 180 * 86_400;

/** An account and the browser's device mark, see `PasswordSignIn`. */
export interface SignedIn {
  readonly id: string;
  readonly account: Account;
  /** Value for the device cookie. */
  readonly device: string;
}

/**
 * Checks passwords. A browser that signed in before has a signed device mark: its failures are counted separately, so
 * somebody else's guesses never slow it down. Counts are per hub.
 */
export class PasswordSignIn {
  readonly #accounts: Accounts;
  readonly #audit: AuditSink;
  readonly #deviceKey: Uint8Array;
  readonly #near: Throttle;
  readonly #far: Throttle;
  readonly #networks: RateLimit;

  constructor(accounts: Accounts, clock: Clock, audit: AuditSink, deviceKey: Uint8Array) {
    this.#accounts = accounts;
    this.#audit = audit;
    this.#deviceKey = deviceKey;
    this.#near = new Throttle(clock, NEAR);
    this.#far = new Throttle(clock, FAR);
    this.#networks = new RateLimit(clock, FAILURES_PER_MINUTE);
  }

  /**
   * Returns the account if name and password match, else null. `device`: the value of the device cookie, if any. Throws
   * overloaded with `data.retryAfterSeconds` while this name or network must wait.
   */
  async verify(name: string, password: string, ip: string, device?: string): Promise<SignedIn | null> {
    const found = await this.#attempt(name, password, ip, device);
    if (found === null) return null;
    this.#audit({ action: "sign_in", outcome: "ok", actor: found.account.name, ip });
    return { ...found, device: this.#newMark(canonical(name)) };
  }

  /** Returns true if the password of a signed-in person is correct. Counts failures and throws like `verify`. */
  async confirm(name: string, password: string, ip: string): Promise<boolean> {
    return (await this.#attempt(name, password, ip, undefined)) !== null;
  }

  async #attempt(
    name: string,
    password: string,
    ip: string,
    device: string | undefined,
  ): Promise<{ id: string; account: Account } | null> {
    const network = networkOf(ip);
    const lower = canonical(name);
    const mark = this.#knownMark(lower, device);
    const near = mark === undefined ? `${lower}|${network}` : `mark|${mark}`;
    this.#networks.check(network);
    this.#near.check(near);
    if (mark === undefined) this.#far.check(lower);
    // Counted before the slow hash and subtracted after a success, so that parallel guesses are all counted.
    this.#networks.count(network);
    this.#near.failed(near);
    if (mark === undefined) this.#far.failed(lower);
    let found: Awaited<ReturnType<Accounts["verify"]>>;
    try {
      found = await this.#accounts.verify(name, password);
    } catch (error) {
      // The password was not checked, as too many others are.
      this.#networks.forgive(network);
      this.#near.forgive(near);
      if (mark === undefined) this.#far.forgive(lower);
      throw error;
    }
    if (found === null) {
      this.#audit({ action: "sign_in", outcome: "refused", actor: name, ip, reason: "name or password" });
      return null;
    }
    this.#networks.forgive(network);
    this.#near.succeeded(near);
    if (mark === undefined) this.#far.succeeded(lower);
    return found;
  }

  #newMark(name: string): string {
    const nonce = newId();
    return `${nonce}.${this.#sign(name, nonce)}`;
  }

  #knownMark(name: string, device: string | undefined): string | undefined {
    const [nonce = "", signature = ""] = device?.split(".") ?? [];
    return sameText(this.#sign(name, nonce), signature) ? nonce : undefined;
  }

  #sign(name: string, nonce: string): string {
    return signed(this.#deviceKey, `device:${nonce}:${name}`);
  }
}

/** Names that differ only in case or width are counted together. */
function canonical(name: string): string {
  return name.normalize("NFKC").toLowerCase();
}
