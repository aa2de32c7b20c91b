/**
 * Judges by its answers whether a NATS server is lost. A ping waits behind the messages that were sent before it, and
 * its answer behind those that were asked for: on a slow link it may come later than a lost server must be noticed,
 * while other answers arrive.
 */

/** Pings in a row without any answer since the one before, after which a server is lost. */
const PINGS_MISSED = 2;
/**
 * A link may be so slow that one message takes longer: the limit doubles with each loss, up to this many times. With a ping a second
 * a message of 8 MiB then arrives over 1 Mbit/s.
 */
const MAX_DOUBLINGS = 5;
/** So many prompt answers in a row show that the link isn't slow: between two large messages there are one or two. */
const PROMPT_PINGS = 5;

/** For `maxPingOut`: the client library, which looks at pings alone, gives no connection up. */
export const ENDLESS_PINGS = Number.MAX_SAFE_INTEGER;

export class PingWatch {
  #isFirst = true;
  #isAnswered = false;
  #missed = 0;
  #losses = 0;
  #prompt = 0;

  /** To be called for each new connection. */
  connected(): void {
    this.#isFirst = true;
    this.#missed = 0;
  }

  /**
   * Records an answer to a message of this client, such as an acknowledgement or a message that it pulled. Other
   * messages prove nothing: they may arrive while nothing gets to the server any more.
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
    this.#prompt = isPrompt ? this.#prompt + 1 : 0;
    if (this.#prompt === PROMPT_PINGS) this.#losses = 0;
    const isMissed = !this.#isFirst && !isPrompt && !this.#isAnswered;
    this.#missed = isMissed ? this.#missed + 1 : 0;
    this.#isFirst = false;
    this.#isAnswered = false;
    if (this.#missed !== PINGS_MISSED * 2 ** this.#losses) return false;
    this.#losses = Math.min(this.#losses + 1, MAX_DOUBLINGS);
    return true;
  }
}
