/** Asks services: with what signs in at them, within limits, and not while they want a pause. */

import type { InputContext } from "#hub/pipeline/plugins/input.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { HttpPollerOptions } from "./options.ts";
import type { Target } from "./target.ts";

/** Longest that a service's Retry-After is heeded: longer ones are mistakes more often than wishes. */
const MAX_RETRY_AFTER_MS = 3_600_000;

/** An answer, read whole. */
export interface Answer {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly body: Buffer;
}

export class Requester {
  readonly #context: InputContext;
  readonly #values: HttpPollerOptions;
  readonly #signal: AbortSignal;
  /** When a service that asked for a pause may be asked again, by its target's name. */
  readonly #pausedUntilMs = new Map<string, number>();

  constructor(context: InputContext, values: HttpPollerOptions, signal: AbortSignal) {
    this.#context = context;
    this.#values = values;
    this.#signal = signal;
  }

  isPaused({ name }: Target): boolean {
    return (this.#pausedUntilMs.get(name) ?? 0) > this.#context.clock.now();
  }

  /** Throws unavailable where the answer is no success; what fetch throws; forbidden. */
  async ask(target: Target, url: URL): Promise<Answer> {
    const answer = await this.#request(target, url);
    const { status, headers } = answer;
    if (status === 429 || status === 503) this.#pause(target, headers["retry-after"]);
    if (status < 200 || status >= 300)
      throw new AppError("unavailable", `${url.origin}${url.pathname} answered ${status}`);
    return answer;
  }

  /** Asks; where the account's token is refused, once more with a new one (RFC 6750 section 3.1). */
  async #request(target: Target, url: URL): Promise<Answer> {
    this.#context.checkTarget(url.hostname);
    const { connection } = target;
    // A token or password belongs to the host that was named, not to one that an answer names.
    if (url.origin !== new URL(target.url).origin) return this.#send(target, url, {});
    if (connection === undefined) return this.#send(target, url, basic(target));
    const token = await this.#context.bearer(connection, url.host);
    const answer = await this.#send(target, url, { Authorization: `Bearer ${token}` });
    if (answer.status !== 401) return answer;
    const renewed = await this.#context.bearer(connection, url.host, token);
    return this.#send(target, url, { Authorization: `Bearer ${renewed}` });
  }

  async #send(target: Target, url: URL, authorization: Record<string, string>): Promise<Answer> {
    const { request_timeout, max_content_length } = this.#values;
    const answer = await fetch(url, {
      method: target.method,
      headers: { Accept: "application/json, */*", ...target.headers, ...authorization },
      redirect: "manual",
      signal: AbortSignal.any([this.#signal, AbortSignal.timeout(request_timeout * 1000)]),
      ...(target.body !== undefined && { body: target.body }),
    });
    const chunks: Uint8Array[] = [];
    let bytes = 0;
    for await (const chunk of answer.body ?? []) {
      bytes += chunk.length;
      if (bytes > max_content_length)
        throw new AppError("request_too_large", `the answer has more than ${max_content_length} bytes`);
      chunks.push(chunk);
    }
    return {
      status: answer.status,
      headers: Object.fromEntries(answer.headers),
      body: Buffer.concat(chunks),
    };
  }

  /** Heeds Retry-After (RFC 9110 section 10.2.3): seconds or a date. */
  #pause({ name }: Target, retryAfter: string | undefined): void {
    if (retryAfter === undefined) return;
    const nowMs = this.#context.clock.now();
    const waitMs = /^\d+$/.test(retryAfter) ? Number(retryAfter) * 1000 : Date.parse(retryAfter) - nowMs;
    if (waitMs > 0) this.#pausedUntilMs.set(name, nowMs + Math.min(waitMs, MAX_RETRY_AFTER_MS));
  }
}

function basic({ user, password }: Target): Record<string, string> {
  return user === undefined
    ? {}
    : { Authorization: `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}` };
}
