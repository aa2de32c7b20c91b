/** Password hashes: scrypt, deliberately slow, a bounded number at a time. */

import { randomBytes, type ScryptOptions, scrypt, timingSafeEqual } from "node:crypto";
import { AppError } from "#proto/kit/errors.ts";

/** N=2^17, r=8, p=1: the setting OWASP recommends; about 0.4 s and 128 MiB. */
const COST: ScryptCost = { N: 2 ** 17, r: 8, p: 1 };
const KEY_BYTES = 32;
const SALT_BYTES = 16;
/** Hashes computed at the same time: each takes a core and 128 MiB. */
const PARALLEL = 2;
/** Maximum number of waiting calls; more mean that the sign-in page is being flooded. */
const MAX_WAITING = 64;
/** NIST SP 800-63B section 3.1.1.2: at least 8, here 10 because there is no second factor. */
const MIN_LENGTH = 10;
/** Longest password accepted, characters. */
const MAX_LENGTH = 256;

/** Parameters of scrypt (RFC 7914). */
export interface ScryptCost {
  readonly N: number;
  readonly r: number;
  readonly p: number;
}

/** Makes and checks password hashes of the form `scrypt$N$r$p$salt$key` (base64url). */
export class Passwords {
  readonly #cost: ScryptCost;
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  /** `cost` is for tests; hashes carry their own, so it may change at any time. */
  constructor(cost: ScryptCost = COST) {
    this.#cost = cost;
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
    const salt = randomBytes(SALT_BYTES);
    const key = await this.#derive(password, salt, this.#cost);
    const { N, r, p } = this.#cost;
    return ["scrypt", N, r, p, salt.toString("base64url"), key.toString("base64url")].join("$");
  }

  /**
   * Returns true if `password` matches the hash. Without a hash (no such account) the same work is done and false is
   * returned. Throws overloaded if too many calls wait.
   */
  async verify(password: string, hash: string | undefined): Promise<boolean> {
    const given = password.slice(0, MAX_LENGTH * 4);
    if (hash === undefined) {
      await this.#derive(given, Buffer.alloc(SALT_BYTES), this.#cost);
      return false;
    }
    const [, N, r, p, salt = "", key = ""] = hash.split("$");
    const cost = { N: Number(N), r: Number(r), p: Number(p) };
    const derived = await this.#derive(given, Buffer.from(salt, "base64url"), cost);
    const expected = Buffer.from(key, "base64url");
    return expected.length === derived.length && timingSafeEqual(expected, derived);
  }

  async #derive(password: string, salt: Buffer, cost: ScryptCost): Promise<Buffer> {
    await this.#enter();
    try {
      return await derive(password.normalize("NFKC"), salt, cost);
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#running--;
      else next();
    }
  }

  /** Waits for a slot. A call that ends passes its slot to the first waiting call. */
  async #enter(): Promise<void> {
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

function derive(password: string, salt: Buffer, { N, r, p }: ScryptCost): Promise<Buffer> {
  // Node's default limit is 32 MiB; scrypt needs 128 * N * r bytes.
  const options: ScryptOptions = { N, r, p, maxmem: 128 * N * r + 1024 * 1024 };
  return new Promise((resolve, reject) => {
    scrypt(password, salt, KEY_BYTES, options, (error, key) =>
      error === null ? resolve(key) : reject(error),
    );
  });
}
