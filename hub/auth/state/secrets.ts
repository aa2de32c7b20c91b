/** Random secrets, their hashes and comparisons. A secret has 256 random bits, so SHA-256 suffices; a slow hash adds nothing. */

import { createHash, createHmac, randomBytes, timingSafeEqual } from "node:crypto";

/** 256 bits: not guessable, and more than RFC 6749 section 10.10 asks for. */
const SECRET_BYTES = 32;
/** 72 bits: unique ids that are not secret. */
const ID_BYTES = 9;
/** Length of the hash prefix that identifies a secret in the audit log. */
const FINGERPRINT_LENGTH = 8;

/**
 * Returns a new secret: 43 characters of base64url. The first character is a letter or a digit because people paste
 * secrets after commands, where a leading dash begins an option. The whole has 256 random bits less a fraction of one.
 */
export function newSecret(): string {
  for (;;) {
    const secret = randomBytes(SECRET_BYTES).toString("base64url");
    if (/^[A-Za-z0-9]/.test(secret)) return secret;
  }
}

/**
 * Returns the secret that binds flows to a browser: the one in its cookie, else a new one. Flows in two tabs share it so
 * that neither invalidates the other. Each flow also has a one-time `state`.
 */
export function bindingFrom(cookie: string | undefined): string {
  return cookie !== undefined && /^[A-Za-z0-9_-]{43}$/.test(cookie) ? cookie : newSecret();
}

/** Returns a new public id: 18 hexadecimal digits, 72 random bits. */
export function newId(): string {
  return randomBytes(ID_BYTES).toString("hex");
}

/** Returns the SHA-256 of `text` as 43 characters of base64url, which are also valid in a key of a state bucket. */
export function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("base64url");
}

/** Returns true if `secret` has the hash `hash`, in constant time. */
export function hasHash(secret: string, hash: string): boolean {
  return sameText(hashOf(secret), hash);
}

/** Compares two texts in a time that depends only on their lengths. */
export function sameText(a: string, b: string): boolean {
  const left = Buffer.from(a);
  const right = Buffer.from(b);
  return left.length === right.length && timingSafeEqual(left, right);
}

/** Returns the fingerprint of `secret` for the audit log: the first 8 characters of its hash. */
export function fingerprint(secret: string): string {
  return fingerprintOf(hashOf(secret));
}

/** Returns the fingerprint of the secret with this hash. */
export function fingerprintOf(hash: string): string {
  return hash.slice(0, FINGERPRINT_LENGTH);
}

/** Returns the HMAC-SHA256 of `text` under `key` as base64url. */
export function signed(key: Uint8Array, text: string): string {
  return createHmac("sha256", key).update(text).digest("base64url");
}
