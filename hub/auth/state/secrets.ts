/** Random secrets, their hashes and comparisons. A secret is random, so one SHA-256 is a good enough hash (no slow one). */

import { createHash, createHmac, randomBytes, timingSafeEqual } from "node:crypto";

/** 256 bits: not guessable, and the size RFC 6749 section 10.10 asks for and more. */
const SECRET_BYTES = 32;
/** 72 bits: unique names that aren't secret. */
const ID_BYTES = 9;
/** Characters of a hash that stand for a secret in the audit log. */
const FINGERPRINT_LENGTH = 8;

/**
 * Returns a new secret: 43 characters of base64url, 256 random bits but for what its first character loses: that is a
 * letter or a digit, as people paste secrets behind commands, where a leading dash begins an option.
 */
export function newSecret(): string {
  for (;;) {
    const secret = randomBytes(SECRET_BYTES).toString("base64url");
    if (/^[A-Za-z0-9]/.test(secret)) return secret;
  }
}

/**
 * Returns the secret that ties flows to a browser: the one its cookie holds, else a new one. Flows in two tabs share it,
 * so that neither spoils the other; each has a one-time `state` of its own besides.
 */
export function bindingFrom(cookie: string | undefined): string {
  return cookie !== undefined && /^[A-Za-z0-9_-]{43}$/.test(cookie) ? cookie : newSecret();
}

/** Returns a new public name: 18 hexadecimal digits, 72 random bits. */
export function newId(): string {
  return randomBytes(ID_BYTES).toString("hex");
}

/** Returns the SHA-256 of `text` as 43 characters of base64url; also fit for a state bucket's key. */
export function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("base64url");
}

/** Returns true where `secret` has the hash `hash`, in a time that doesn't depend on where they differ. */
export function hasHash(secret: string, hash: string): boolean {
  return sameText(hashOf(secret), hash);
}

/** Compares two texts in a time that depends on their lengths only. */
export function sameText(a: string, b: string): boolean {
  const left = Buffer.from(a);
  const right = Buffer.from(b);
  return left.length === right.length && timingSafeEqual(left, right);
}

/** Returns what stands for `secret` in the audit log: the first 8 characters of its hash. */
export function fingerprint(secret: string): string {
  return hashOf(secret).slice(0, FINGERPRINT_LENGTH);
}

/** Returns the HMAC-SHA256 of `text` under `key` as base64url. */
export function signed(key: Uint8Array, text: string): string {
  return createHmac("sha256", key).update(text).digest("base64url");
}
