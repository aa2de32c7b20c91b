/** Input http_poller: asks HTTP services on a schedule. */

import { randomUUID } from "node:crypto";
import type { Static } from "typebox";
import { type Event, isObject, valueText } from "#proto/event.ts";
import { fieldReference } from "#proto/field-reference.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { Component } from "#proto/kit/lifecycle.ts";
import type { Codec } from "../codecs/codec.ts";
import { codecOption, optional, options, text } from "../filters/option-types.ts";
import { Type } from "../language/option-schema.ts";
import { defineInput, type InputChannel, type InputContext } from "./input.ts";
import { parseSchedule, runScheduled, type Schedule } from "./schedule.ts";

/** Tag of events that tell a request that failed. */
const FAILURE_TAG = "_http_request_failure";

/** Pages of one answer that are followed. */
const MAX_PAGES = 1_000;

/** Longest that a service's Retry-After is heeded: longer ones are mistakes more often than wishes. */
const MAX_RETRY_AFTER_MS = 3_600_000;

/** Hosts that a token may go to without TLS, as it doesn't leave the machine. */
const LOOPBACK: ReadonlySet<string> = new Set(["localhost", "127.0.0.1", "[::1]"]);

const OPTIONS = options({
  urls: Type.Record(Type.String(), Type.Unknown(), {
    description:
      "what is asked, by a name: an address, or a table of url, method, headers, body, user, password, connection",
  }),
  schedule: Type.Unknown({
    description: 'when: { every => "1m" }, { cron => "*/5 * * * *" }, { in => "1s" }, { at => "time" }',
  }),
  codec: codecOption("how an answer is read", "json"),
  target: optional(text("field that takes the answer's fields; without it they are the event's")),
  metadata_target: text("field that takes what is known of the request and answer", "@metadata"),
  request_timeout: Type.Number({
    default: 60,
    exclusiveMinimum: 0,
    description: "longest that a request may take, s",
  }),
  user: optional(text("name that is sent (Basic)")),
  password: optional(text("password that is sent")),
  connection: optional(text("name of a connected account whose access token is sent")),
  items: optional(
    text("field of the answer that holds the list whose items become events, e.g. [data][items]"),
  ),
  next_page: optional(
    text("field of the answer that names the next page: an address, or the value of page_parameter"),
  ),
  page_parameter: optional(text("parameter of the address that next_page's value goes into")),
  cursor: optional(text("field of an item whose last value is remembered")),
  cursor_parameter: optional(text("parameter of the address that the remembered value goes into")),
  max_content_length: Type.Integer({ default: 67_108_864, minimum: 1, description: "longest answer, bytes" }),
});

type Options = Static<typeof OPTIONS>;

interface Target {
  readonly name: string;
  readonly url: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
  readonly user: string | undefined;
  readonly password: string;
  readonly connection: string | undefined;
}

export const httpPollerInput = defineInput({
  name: "http_poller",
  description: "asks HTTP services on a schedule",
  options: OPTIONS,
  create(values, { codec, report }) {
    const makeCodec = codec(values.codec);
    const targets = Object.entries(values.urls).map(([name, value]) => targetOf(name, value, values));
    for (const { name, url, connection } of targets) {
      if (!/^https?:\/\/[^/]/.test(url))
        report("error", "urls", `${name}: "${url}" is no address of HTTP`, "write https://host/path");
      else if (connection !== undefined && !isPrivateWay(url))
        report(
          "error",
          "urls",
          `${name}: an account's token doesn't go over http`,
          "write https://host/path",
        );
    }
    if (targets.length === 0)
      report("error", "urls", "there is nothing to ask", 'write: urls => { "name" => "https://host/path" }');
    const schedule = parseSchedule(values.schedule);
    return (context) => new Poller(context, values, targets, schedule, makeCodec);
  },
});

function targetOf(name: string, value: unknown, values: Options): Target {
  const table = isObject(value) ? value : { url: value };
  const headers = isObject(table["headers"]) ? table["headers"] : {};
  const own = (key: string): string | undefined =>
    table[key] === undefined ? undefined : valueText(table[key]);
  return {
    name,
    url: own("url") ?? "",
    method: (own("method") ?? "get").toUpperCase(),
    headers: Object.fromEntries(Object.entries(headers).map(([key, item]) => [key, valueText(item)])),
    body: own("body"),
    user: own("user") ?? values.user,
    password: own("password") ?? values.password ?? "",
    connection: own("connection") ?? values.connection,
  };
}

/** An answer, read whole. */
interface Answer {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly body: Buffer;
}

class Poller implements Component {
  readonly #context: InputContext;
  readonly #values: Options;
  readonly #targets: readonly Target[];
  readonly #schedule: Schedule;
  readonly #makeCodec: () => Codec;
  readonly #stopping = new AbortController();
  /** When a service that asked for a pause may be asked again, by its target's name. */
  readonly #pausedUntilMs = new Map<string, number>();
  #running: Promise<void> = Promise.resolve();

  constructor(
    context: InputContext,
    values: Options,
    targets: readonly Target[],
    schedule: Schedule,
    makeCodec: () => Codec,
  ) {
    this.#context = context;
    this.#values = values;
    this.#targets = targets;
    this.#schedule = schedule;
    this.#makeCodec = makeCodec;
  }

  async start(): Promise<void> {
    const channel = this.#context.open({ key: randomUUID() });
    this.#running = runScheduled(this.#schedule, this.#context.clock, this.#stopping.signal, async () => {
      for (const target of this.#targets) await this.#ask(target, channel);
    }).finally(() => channel.close());
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
  }

  async #ask(target: Target, channel: InputChannel): Promise<void> {
    if ((this.#pausedUntilMs.get(target.name) ?? 0) > this.#context.clock.now()) return;
    const { cursor_parameter } = this.#values;
    const remembered = await this.#context.state.get(`cursor ${target.name}`);
    let url: URL | undefined = new URL(target.url);
    if (cursor_parameter !== undefined && remembered !== undefined)
      url.searchParams.set(cursor_parameter, valueText(remembered));
    try {
      for (let page = 0; url !== undefined && page < MAX_PAGES; page++)
        url = await this.#page(target, url, channel);
      this.#context.failing(null);
    } catch (error) {
      if (this.#stopping.signal.aborted) return;
      const reason = (error as Error).message;
      this.#context.failing(`${target.name}: ${reason}`);
      await this.#tellFailure(target, reason, channel).catch(() => undefined);
    }
  }

  /** Takes one page; returns the address of the next. */
  async #page(target: Target, url: URL, channel: InputChannel): Promise<URL | undefined> {
    const startedMs = this.#context.clock.monotonic();
    const { status, headers, body } = await this.#request(target, url);
    if (status === 429 || status === 503) this.#pause(target, headers["retry-after"]);
    if (status < 200 || status >= 300)
      throw new AppError("unavailable", `${url.origin}${url.pathname} answered ${status}`);
    const [whole] =
      this.#values.items === undefined && this.#values.next_page === undefined ? [] : this.#decode(body);
    const events = this.#values.items === undefined ? this.#decode(body) : this.#items(whole);
    for (const event of events) {
      this.#decorate(event, {
        name: target.name,
        code: status,
        response_headers: headers,
        runtime_seconds: (this.#context.clock.monotonic() - startedMs) / 1000,
        request: { method: target.method, url: `${url.origin}${url.pathname}` },
      });
    }
    if (events.length > 0) await channel.send(events.map((event) => ({ event })));
    await this.#remember(target, events);
    return nextPage(url, whole, this.#values);
  }

  #decode(body: Buffer): Event[] {
    const codec = this.#makeCodec();
    return body.length === 0
      ? []
      : [...codec.decode(body, this.#context.clock.now()), ...(codec.flush?.() ?? [])];
  }

  #items(whole: Event | undefined): Event[] {
    const listed = whole?.get(fieldReference(this.#values.items ?? ""));
    if (!Array.isArray(listed)) return [];
    return listed.flatMap((item) => this.#decode(Buffer.from(JSON.stringify(item))));
  }

  #decorate(event: Event, metadata: Record<string, unknown>): void {
    const { target, metadata_target } = this.#values;
    if (target !== undefined) {
      const fields = { ...event.fields };
      delete fields["@timestamp"];
      for (const name of Object.keys(fields)) delete event.fields[name];
      event.set(fieldReference(target), fields);
    }
    const into = fieldReference(metadata_target === "@metadata" ? "[@metadata]" : metadata_target);
    event.set(into, metadata_target === "@metadata" ? { ...event.metadata, ...metadata } : metadata);
  }

  async #remember(target: Target, events: readonly Event[]): Promise<void> {
    const { cursor, target: field } = this.#values;
    if (cursor === undefined) return;
    const bracketed = cursor.startsWith("[") ? cursor : `[${cursor}]`;
    const root = field === undefined ? "" : field.startsWith("[") ? field : `[${field}]`;
    const value = events.at(-1)?.get(fieldReference(`${root}${bracketed}`));
    if (value !== undefined) await this.#context.state.put(`cursor ${target.name}`, valueText(value));
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
      signal: AbortSignal.any([this.#stopping.signal, AbortSignal.timeout(request_timeout * 1000)]),
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

  async #tellFailure(target: Target, reason: string, channel: InputChannel): Promise<void> {
    const codec = this.#makeCodec();
    const [event] = codec.decode(Buffer.from("{}"), this.#context.clock.now());
    if (event === undefined) return;
    event.fields["http_request_failure"] = {
      name: target.name,
      request: { method: target.method, url: new URL(target.url).origin },
      error: reason,
    };
    event.tag(FAILURE_TAG);
    await channel.send([{ event }]);
  }
}

function basic({ user, password }: Target): Record<string, string> {
  return user === undefined
    ? {}
    : { Authorization: `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}` };
}

/** Returns whether others can't read what is sent there: over TLS, or on this machine. */
function isPrivateWay(address: string): boolean {
  const { protocol, hostname } = new URL(address);
  return protocol === "https:" || LOOPBACK.has(hostname);
}

function nextPage(
  url: URL,
  whole: Event | undefined,
  { next_page, page_parameter }: Options,
): URL | undefined {
  const value = next_page === undefined ? undefined : whole?.get(fieldReference(next_page));
  if (value === undefined || value === null || value === "" || value === false) return undefined;
  if (page_parameter === undefined) return new URL(valueText(value), url);
  const next = new URL(url);
  next.searchParams.set(page_parameter, valueText(value));
  return next;
}
