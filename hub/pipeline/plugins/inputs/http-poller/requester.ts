/** Sends requests to services: with credentials, within limits, and respecting `Retry-After`. */

import type { Static } from "typebox";
import { HTTPS_CLIENT, type TlsFetch } from "#hub/pipeline/connections/http-agents.ts";
import { codecOption } from "#hub/pipeline/plugins/codec.ts";
import type { InputContext } from "#hub/pipeline/plugins/input.ts";
import { isHash, valueText } from "#proto/event.ts";
import { addPart } from "#proto/kit/byte-parts.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import { isLoopbackHost } from "#proto/kit/net/loopback.ts";
import { oneOf, optional, options, text } from "#proto/kit/options.ts";
import { Type } from "#proto/kit/schema.ts";
import { HOUR_MS } from "#proto/kit/units.ts";

export const HTTP_POLLER_OPTIONS = options({
  urls: Type.Record(Type.String(), Type.Unknown(), {
    description:
      "requests by name: an address, or a table of url, method, headers, body, user, password (both also in a table auth), connection. An answer of a status from 400 on is an event too, see code in its metadata; with items, next_page, cursor or a connection it is a failed request",
  }),
  schedule: Type.Unknown({
    description: 'when: { every => "1m" }, { cron => "*/5 * * * *" }, { in => "1s" }, { at => "time" }',
  }),
  codec: codecOption("codec that reads answers", "json"),
  target: optional(text("target field for the answer's fields; default: the event itself")),
  metadata_target: text("target field for metadata of request and answer", "@metadata"),
  ecs_compatibility: oneOf(
    ["disabled", "v1", "v8"],
    "v1 and v8 put metadata under input.http_poller in metadata_target, and report failures in error, url, http.request and event.duration",
    "disabled",
  ),
  request_timeout: Type.Number({
    default: 60,
    exclusiveMinimum: 0,
    description: "timeout of a request, s",
  }),
  user: optional(text("user name to send (Basic)")),
  password: optional(text("password to send")),
  connection: optional(text("name of a connected account whose access token is sent")),
  items: optional(text("field of the answer with the list whose items become events, e.g. [data][items]")),
  next_page: optional(
    text("field of the answer that names the next page: an address, or the value of page_parameter"),
  ),
  page_parameter: optional(text("query parameter for the value of next_page")),
  cursor: optional(text("field of the items whose last value is stored")),
  cursor_parameter: optional(text("query parameter for the stored value")),
  max_content_length: Type.Integer({
    default: 67_108_864,
    minimum: 1,
    description: "maximum size of an answer, bytes",
  }),
  ...HTTPS_CLIENT,
});

export type HttpPollerOptions = Static<typeof HTTP_POLLER_OPTIONS>;

/** Longest that a service's Retry-After is heeded: longer ones are mistakes more often than wishes. */
const MAX_RETRY_AFTER_MS = HOUR_MS;

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
  readonly #client: TlsFetch;
  /** When a service that asked for a pause may be asked again, by its target's name. */
  readonly #pausedUntilMs = new Map<string, number>();

  constructor(context: InputContext, values: HttpPollerOptions, signal: AbortSignal, client: TlsFetch) {
    this.#client = client;
    this.#context = context;
    this.#values = values;
    this.#signal = signal;
  }

  isPaused({ name }: Target): boolean {
    return (this.#pausedUntilMs.get(name) ?? 0) > this.#context.clock.now();
  }

  /**
   * Returns the answer, whatever its status is if the service has no protocol of pages or tokens that would be misled. Throws
   * unavailable for others that aren't successful; what fetch throws; forbidden.
   */
  async ask(target: Target, url: URL): Promise<Answer> {
    const answer = await this.#request(target, url);
    const { status, headers } = answer;
    if (status === 429 || status === 503) this.#pause(target, headers["retry-after"]);
    const { items, next_page, cursor } = this.#values;
    const isAnyStatus = [items, next_page, cursor, target.connection].every((each) => each === undefined);
    if (status < 200 || status >= (isAnyStatus ? 600 : 300) || (status >= 300 && status < 400))
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
    const answer = await this.#client.fetch(url, {
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
      addPart(chunks, chunk);
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
    : { Authorization: `Basic ${Buffer.from(`${user}:${password ?? ""}`).toString("base64")}` };
}

export interface Target {
  readonly name: string;
  readonly url: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
  readonly user: string | undefined;
  readonly password: string | undefined;
  readonly connection: string | undefined;
}

/** Returns the service of an entry; what it doesn't say is as the options of the input say. */
export function targetOf(name: string, value: unknown, values: HttpPollerOptions): Target {
  const table = isHash(value) ? value : { url: value };
  const headers = isHash(table["headers"]) ? table["headers"] : {};
  const auth = isHash(table["auth"]) ? table["auth"] : {};
  const own = (key: string, of: JsonObject = table): string | undefined =>
    of[key] === undefined ? undefined : valueText(of[key]);
  return {
    name,
    url: own("url") ?? "",
    method: (own("method") ?? "get").toUpperCase(),
    headers: Object.fromEntries(Object.entries(headers).map(([key, item]) => [key, valueText(item)])),
    body: own("body"),
    user: own("user") ?? own("user", auth) ?? values.user,
    password: own("password") ?? own("password", auth) ?? values.password,
    connection: own("connection") ?? values.connection,
  };
}

/** Returns whether others can't read what is sent there: over TLS, or on this machine. */
export function isPrivateWay(address: string): boolean {
  const { protocol, hostname } = new URL(address);
  return protocol === "https:" || isLoopbackHost(hostname);
}
