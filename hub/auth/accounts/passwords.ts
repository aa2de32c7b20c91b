/** Password hashes: Argon2id, or scrypt for older ones, deliberately slow, a bounded number at a time. */

import crypto, { randomBytes, timingSafeEqual } from "node:crypto";
import { AppError } from "#proto/kit/errors.ts";

/** Parameters of Argon2id (RFC 9106), one lane. */
export interface Argon2Cost {
  readonly memoryKib: number;
  readonly passes: number;
}

/** Parameters of scrypt (RFC 7914). */
export interface ScryptCost {
  readonly N: number;
  readonly r: number;
  readonly p: number;
}

export type PasswordCost = Argon2Cost | ScryptCost;

/** The first choice of OWASP's Password Storage Cheat Sheet; about 50 ms and 19 MiB. */
const ARGON2: Argon2Cost = { memoryKib: 19 * 1_024, passes: 2 };
/** Its choice where there is no Argon2id; about 0.5 s and 128 MiB. */
const SCRYPT: ScryptCost = { N: 2 ** 17, r: 8, p: 1 };
const KEY_BYTES = 32;
const SALT_BYTES = 16;
/** Hashes computed at the same time: each takes a core. */
const PARALLEL = 2;
/** Maximum number of waiting calls; more mean that the sign-in page is being flooded. */
const MAX_WAITING = 64;
/**
 * NIST SP 800-63B section 3.1.1.2: at least 8, here 10 because there is no second factor. Forms name it:
 * ui/pages/access/users.ts and account.ts, hub/api/routes/auth/sign-in-pages.ts.
 */
const MIN_LENGTH = 10;
/** Longest password accepted, characters. */
const MAX_LENGTH = 256;
const HAS_ARGON2 = hasArgon2();

/** Makes and checks password hashes of the form `argon2id$memoryKib$passes$salt$key` or `scrypt$N$r$p$salt$key` (base64url). */
export class Passwords {
  readonly #cost: PasswordCost;
  /**
   * Of the hash that was checked last: a name without an account takes as long. Accounts with a hash of another kind take
   * another time, until their owners sign in.
   */
  #usual: PasswordCost;
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  /** `cost` is for tests; hashes carry their own, so it may change at any time. */
  constructor(cost: PasswordCost = HAS_ARGON2 ? ARGON2 : SCRYPT) {
    this.#cost = cost;
    this.#usual = cost;
  }

  /** Returns the hash of a new password. Throws request_invalid if it is too short or too long. */
  async hash(password: string): Promise<string> {
    const length = Array.from(password).length;
    if (length < MIN_LENGTH || length > MAX_LENGTH) {
      throw new AppError(
        "request_invalid",
        `the password has ${length} characters; choose ${MIN_LENGTH} to ${MAX_LENGTH}`,
      );
    }
    return this.#hashOf(password);
  }

  /**
   * Returns true if `password` matches the hash. Without a hash (no such account) the same work is done and false is
   * returned. Throws overloaded if too many calls wait.
   */
  async verify(password: string, hash: string | undefined): Promise<boolean> {
    const given = password.slice(0, MAX_LENGTH * 4);
    if (hash === undefined) {
      await this.#derive(given, Buffer.alloc(SALT_BYTES), this.#usual);
      return false;
    }
    const { cost, salt, key } = parseHash(hash);
    this.#usual = cost;
    const derived = await this.#derive(given, salt, cost);
    return key.length === derived.length && timingSafeEqual(key, derived);
  }

  /** Returns a hash of today's kind for a password that matches an older one; undefined if the hash is of today's kind. */
  async renewed(password: string, hash: string): Promise<string | undefined> {
    const isToday = hash.startsWith(`${costText(this.#cost)}$`);
    return isToday ? undefined : this.#hashOf(password.slice(0, MAX_LENGTH * 4));
  }

  async #hashOf(password: string): Promise<string> {
    const salt = randomBytes(SALT_BYTES);
    const key = await this.#derive(password, salt, this.#cost);
    return [costText(this.#cost), salt.toString("base64url"), key.toString("base64url")].join("$");
  }

  async #derive(password: string, salt: Buffer, cost: PasswordCost): Promise<Buffer> {
    await this.#takeSlot();
    try {
      const text = password.normalize("NFKC");
      return "N" in cost ? await scryptKey(text, salt, cost) : await argon2Key(text, salt, cost);
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#running--;
      else next();
    }
  }

  /** Waits for a slot. A call that ends passes its slot to the first waiting call. */
  async #takeSlot(): Promise<void> {
    if (this.#running < PARALLEL) {
      this.#running++;
      return;
    }
    if (this.#waiting.length >= MAX_WAITING) {
      throw new AppError("overloaded", "too many sign-ins at once; try again in a few seconds");
    }
    const turn = Promise.withResolvers<void>();
    this.#waiting.push(turn.resolve);
    await turn.promise;
  }
}

function costText(cost: PasswordCost): string {
  return "N" in cost ? `scrypt$${cost.N}$${cost.r}$${cost.p}` : `argon2id$${cost.memoryKib}$${cost.passes}`;
}

function parseHash(hash: string): {
  readonly cost: PasswordCost;
  readonly salt: Buffer;
  readonly key: Buffer;
} {
  const [kind, ...parts] = hash.split("$");
  const [key = "", salt = "", ...numbers] = parts.reverse();
  const [last = 0, middle = 0, first = 0] = numbers.map(Number);
  const cost = kind === "scrypt" ? { N: first, r: middle, p: last } : { memoryKib: middle, passes: last };
  return { cost, salt: Buffer.from(salt, "base64url"), key: Buffer.from(key, "base64url") };
}

function scryptKey(password: string, salt: Buffer, { N, r, p }: ScryptCost): Promise<Buffer> {
  // Node's default limit is 32 MiB; scrypt needs 128 * N * r bytes.
  const options = { N, r, p, maxmem: 128 * N * r + 1024 * 1024 };
  return new Promise((resolve, reject) => {
    crypto.scrypt(password, salt, KEY_BYTES, options, (error, key) =>
      error === null ? resolve(key) : reject(error),
    );
  });
}

function argon2Key(message: string, nonce: Buffer, { memoryKib, passes }: Argon2Cost): Promise<Buffer> {
  if (!HAS_ARGON2)
    throw new AppError(
      "unavailable",
      "a password was hashed with Argon2id; run the hub with Node 24.7 or newer",
    );
  const parameters = { message, nonce, parallelism: 1, tagLength: KEY_BYTES, memory: memoryKib, passes };
  return new Promise((resolve, reject) => {
    crypto.argon2("argon2id", parameters, (error, key) => (error === null ? resolve(key) : reject(error)));
  });
}

/** Tries it: Node has the function since 24.7, but one that uses the system's OpenSSL before 3.2 can't run it. */
function hasArgon2(): boolean {
  const least = { parallelism: 1, tagLength: 4, memory: 8, passes: 1 };
  try {
    crypto.argon2Sync("argon2id", { ...least, message: "", nonce: Buffer.alloc(SALT_BYTES) });
    return true;
  } catch {
    return false;
  }
}
