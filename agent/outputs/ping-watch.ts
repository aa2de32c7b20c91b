/**
 * Judges by its answers whether a server is lost. A ping waits behind the batches that were sent before it: on a slow link its
 * answer comes later than a lost server is to be noticed, while answers to batches arrive.
 */

/** Pings in a row without any answer since the one before, after which a server is lost. */
const PINGS_MISSED = 2;
/** A link may be so slow that one batch takes longer: the limit doubles with each loss, up to this many times. */
const MAX_DOUBLINGS = 3;

/** For `maxPingOut`: the client library, which looks at pings alone, gives no connection up. */
export const ENDLESS_PINGS = Number.MAX_SAFE_INTEGER;

export class PingWatch {
  #isFirst = true;
  #isAnswered = false;
  #missed = 0;
  #losses = 0;

  /** To be called for each new connection. */
  connected(): void {
    this.#isFirst = true;
    this.#missed = 0;
  }

  /**
   * Notes an answer to a message of this client. Other messages prove nothing: they may arrive while nothing gets to the server
   * any more.
   */
  answered(): void {
    this.#isAnswered = true;
  }

  /**
   * To be called with each ping; `unanswered` counts it and those without an answer before it. Returns true if the server is
   * lost, once for each connection.
   */
  pinged(unanswered: number): boolean {
    const isPrompt = unanswered === 1 && !this.#isFirst;
    if (isPrompt) this.#losses = 0;
    const isMissed = !this.#isFirst && !isPrompt && !this.#isAnswered;
    this.#missed = isMissed ? this.#missed + 1 : 0;
    this.#isFirst = false;
    this.#isAnswered = false;
    if (this.#missed !== PINGS_MISSED * 2 ** this.#losses) return false;
    this.#losses = Math.min(this.#losses + 1, MAX_DOUBLINGS);
    return true;
  }
}
