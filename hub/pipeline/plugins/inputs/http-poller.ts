/** Input http_poller: polls HTTP services on a schedule, page by page. */

import { randomUUID } from "node:crypto";
import type { ConnectionOptions } from "node:tls";
import { httpsTls, TlsFetch } from "#hub/pipeline/connections/http-agents.ts";
import { parseSchedule, runScheduled, type Schedule } from "#hub/pipeline/formats/schedule.ts";
import type { Codec } from "#hub/pipeline/plugins/codec.ts";
import { defineInput, type InputChannel, type InputContext } from "#hub/pipeline/plugins/input.ts";
import { AnswerReader, type SentRequest } from "#hub/pipeline/plugins/inputs/http-poller/answer-reader.ts";
import {
  HTTP_POLLER_OPTIONS,
  type HttpPollerOptions,
  isPrivateWay,
  Requester,
  type Target,
  targetOf,
} from "#hub/pipeline/plugins/inputs/http-poller/requester.ts";
import { valueText } from "#proto/event.ts";
import type { Component } from "#proto/kit/lifecycle.ts";

/** Pages of one answer that are followed. */
const MAX_PAGES = 1_000;

export const httpPollerInput = defineInput({
  name: "http_poller",
  description: "polls HTTP services on a schedule",
  isShared: true,
  options: HTTP_POLLER_OPTIONS,
  create(values, { codec, report, resolvePath }) {
    const makeCodec = codec(values.codec);
    const targets = Object.entries(values.urls).map(([name, value]) => targetOf(name, value, values));
    for (const { name, url, connection, user, password } of targets) {
      if (user === undefined && password !== undefined)
        report("warning", "urls", `${name}: a password without a user isn't sent`, "give user too");
      if (!/^https?:\/\/[^/]/.test(url))
        report("error", "urls", `${name}: "${url}" isn't an address of HTTP`, "write https://host/path");
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
    const tls = httpsTls(values, resolvePath);
    return (context) => new Poller(context, values, targets, schedule, makeCodec, tls);
  },
});

/** The same failure of a service in a row. */
interface Failure {
  readonly reason: string;
  count: number;
}

class Poller implements Component {
  readonly #context: InputContext;
  readonly #values: HttpPollerOptions;
  readonly #targets: readonly Target[];
  readonly #schedule: Schedule;
  readonly #reader: AnswerReader;
  readonly #stopping = new AbortController();
  readonly #requester: Requester;
  readonly #client: TlsFetch;
  /** By the names of services. */
  readonly #failures = new Map<string, Failure>();
  #running: Promise<void> = Promise.resolve();

  constructor(
    context: InputContext,
    values: HttpPollerOptions,
    targets: readonly Target[],
    schedule: Schedule,
    makeCodec: () => Codec,
    tls: ConnectionOptions | undefined,
  ) {
    this.#context = context;
    this.#values = values;
    this.#targets = targets;
    this.#schedule = schedule;
    this.#reader = new AnswerReader(values, makeCodec, context.clock);
    this.#client = new TlsFetch(tls);
    this.#requester = new Requester(context, values, this.#stopping.signal, this.#client);
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
    this.#client.close();
  }

  async #ask(target: Target, channel: InputChannel): Promise<void> {
    if (this.#requester.isPaused(target)) return;
    const { cursor_parameter } = this.#values;
    const remembered = await this.#context.state.get(`cursor ${target.name}`);
    let url: URL | undefined = new URL(target.url);
    if (cursor_parameter !== undefined && remembered !== undefined)
      url.searchParams.set(cursor_parameter, valueText(remembered));
    const startedMs = this.#context.clock.monotonic();
    try {
      let isRefused = false;
      for (let page = 0; url !== undefined && page < MAX_PAGES; page++)
        ({ next: url, isRefused } = await this.#page(target, url, channel));
      if (!isRefused) this.#failures.delete(target.name);
      this.#tellState();
    } catch (error) {
      if (this.#stopping.signal.aborted) return;
      const tookMs = this.#context.clock.monotonic() - startedMs;
      await this.#fail(
        { target, url: url ?? new URL(target.url), tookMs },
        (error as Error).message,
        channel,
      );
    }
  }

  /** Takes one page; returns the address of the next. `isRefused`: its status says that the service couldn't answer. */
  async #page(
    target: Target,
    url: URL,
    channel: InputChannel,
  ): Promise<{ readonly next: URL | undefined; readonly isRefused: boolean }> {
    const { clock, state } = this.#context;
    const startedMs = clock.monotonic();
    const answer = await this.#requester.ask(target, url);
    const request = { target, url, tookMs: clock.monotonic() - startedMs };
    const { events, next } = this.#reader.read(request, answer);
    if (events.length > 0) await channel.send(events.map((event) => ({ event })));
    const isRefused = answer.status >= 400;
    if (isRefused) this.#note(target, `${url.origin}${url.pathname} answered ${answer.status}`);
    const cursor = this.#reader.cursorOf(events);
    if (cursor !== undefined) await state.put(`cursor ${target.name}`, cursor);
    return { next, isRefused };
  }

  /**
   * A failure that continues is reported as an event at the first, tenth, hundredth … time, so that it doesn't fill the
   * index.
   */
  async #fail(request: SentRequest, reason: string, channel: InputChannel): Promise<void> {
    const { count } = this.#note(request.target, reason);
    this.#tellState();
    if (!/^10*$/.test(String(count))) return;
    const event = this.#reader.failure(request, { reason, count });
    await channel.send([{ event }]).catch(() => undefined);
  }

  /** Counts a failure of the same kind in a row. */
  #note(target: Target, reason: string): Failure {
    const before = this.#failures.get(target.name);
    const failure = before?.reason === reason ? before : { reason, count: 0 };
    failure.count++;
    this.#failures.set(target.name, failure);
    return failure;
  }

  #tellState(): void {
    const told = [...this.#failures].map(
      ([name, { reason, count }]) => `${name}: ${reason}${count > 1 ? ` (${count} times in a row)` : ""}`,
    );
    this.#context.failing(told.length === 0 ? null : told.join("; "));
  }
}
