/**
 * The cookie that ties sign-ins to the browser that began them. It holds a secret, which flows are bound to, and marks of the
 * states whose sign-ins have ended in this browser. So a sealed state opens once there, on any hub and without a record.
 * Value: the secret and up to 32 marks, all of base64url, separated by dots.
 */

import { bindingFrom, hashOf, newSecret } from "#hub/auth/state/secrets.ts";

/** Sign-ins that end within the cookie's life, as many as tabs that are opened again at once. The value has at most 331 bytes. */
const MAX_ENDED = 32;
/** Characters of a state's hash: 48 bits tell the states of one browser apart. */
const MARK_LENGTH = 8;
const MARK = /^[A-Za-z0-9_-]{8}$/;

export class BrowserBinding {
  readonly #secret: string;
  readonly #ended: readonly string[];

  private constructor(secret: string, ended: readonly string[]) {
    this.#secret = secret;
    this.#ended = ended;
  }

  /** Returns the binding of a cookie's value; a new one if there is none or it is malformed. */
  static from(cookie: string | undefined): BrowserBinding {
    const [secret, ...marks] = (cookie ?? "").split(".");
    return new BrowserBinding(
      bindingFrom(secret),
      marks.filter((mark) => MARK.test(mark)),
    );
  }

  /** The cookie's value. */
  get value(): string {
    return [this.#secret, ...this.#ended].join(".");
  }

  /** The secret to begin a flow with. */
  get secret(): string {
    return this.#secret;
  }

  /** Returns the secret that opens a flow; undefined if its sign-in has ended in this browser. */
  secretFor(state: string): string | undefined {
    return this.#ended.includes(markOf(state)) ? undefined : this.#secret;
  }

  /** Returns the binding after the sign-in of `state`. When it is full, a new secret ends all flows that began before. */
  after(state: string): BrowserBinding {
    const ended = [...this.#ended, markOf(state)];
    return ended.length <= MAX_ENDED
      ? new BrowserBinding(this.#secret, ended)
      : new BrowserBinding(newSecret(), []);
  }
}

function markOf(state: string): string {
  return hashOf(state).slice(0, MARK_LENGTH);
}
