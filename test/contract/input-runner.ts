/** Runs one input: collects its events and keeps its state in memory. */

import { SourceText } from "#hub/pipeline/language/syntax-tree.ts";
import type { FedRecord, InputContext, InputDeadLetter, IntakeShares } from "#hub/pipeline/plugins/input.ts";
import { compilePipeline, loadAllPlugins } from "#hub/pipeline/program/compile.ts";
import { RegexpGuard } from "#hub/pipeline/regexp/regexp-guard.ts";
import { intakeShares } from "#hub/pipeline/runtime/intake-shares.ts";
import type { Event } from "#proto/event.ts";
import { systemClock } from "#proto/kit/clock.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import type { Component } from "#proto/kit/lifecycle.ts";
import { silentLogger } from "#proto/kit/log.ts";
import { TrustedProxies } from "#proto/kit/net/trusted-proxies.ts";

await loadAllPlugins();

export interface SentEvent {
  readonly event: Event;
  readonly offset: number | undefined;
  readonly length: number | undefined;
  readonly key: string;
  readonly generation: number;
}

export class InputWorld {
  /** Of the input's senders; to be set before the input is made. */
  shares: IntakeShares = intakeShares(silentLogger(), systemClock, new TrustedProxies([]));
  readonly sent: SentEvent[] = [];
  readonly failures: (string | null)[] = [];
  /** What the input counted as lost. */
  drops = 0;
  cuts = 0;
  readonly state = new Map<string, unknown>();
  readonly handlers = new Map<string, (records: readonly FedRecord[]) => Promise<void>>();
  readonly letters: InputDeadLetter[] = [];
  /** Set: sends fail with it, as while the input is stopped. */
  refusal: AppError | undefined;
  /** Set: sends with such an event fail as with one that is too long for the log. */
  isTooLong: ((event: Event) => boolean) | undefined;
  #waiting: (() => void)[] = [];
  #full: Promise<void> | undefined;
  /** Sends that wait for the log. */
  #held = 0;
  #capacity = Number.POSITIVE_INFINITY;

  /** Returns the messages sent, or the whole events as JSON where there is no message. */
  get messages(): unknown[] {
    return this.sent.map(({ event }) => event.fields["message"] ?? plain(event));
  }

  /** Resolves when so many events were sent. */
  until(count: number): Promise<void> {
    return this.#until(
      () => this.sent.length >= count,
      () => `only ${this.sent.length} of ${count} events came`,
    );
  }

  /** Resolves when the input said last that it works. */
  untilWorking(): Promise<void> {
    return this.#until(
      () => this.failures.at(-1) === null,
      () => "it doesn't work",
    );
  }

  /** Resolves when the input said a failure of this kind. */
  untilFailing(kind: RegExp): Promise<void> {
    return this.#until(
      () => this.failures.some((failure) => failure !== null && kind.test(failure)),
      () => `it didn't fail by ${kind}`,
    );
  }

  /** The log takes so many events more and then no longer answers, as while it is full; undefined: it takes all. */
  refuseAfter(count: number | undefined): void {
    this.#capacity = count ?? Number.POSITIVE_INFINITY;
  }

  /** Resolves when a send found no capacity. */
  untilRefused(): Promise<void> {
    return this.#until(
      () => this.#capacity < 0,
      () => "no send was refused",
    );
  }

  /** Sends wait, as while the log is full, until what is returned is called. */
  fill(): () => void {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#full = promise;
    return resolve;
  }

  /** Resolves when a send waits for the log. */
  untilHeld(): Promise<void> {
    return this.#until(
      () => this.#held > 0,
      () => "no send waits",
    );
  }

  async #until(isTrue: () => boolean, complaint: () => string): Promise<void> {
    const deadline = AbortSignal.timeout(15_000);
    while (!isTrue()) {
      if (deadline.aborted) throw new Error(`${complaint()}: ${JSON.stringify(this.failures)}`);
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#waiting.push(resolve);
      const timer = setTimeout(resolve, 15_000);
      await promise;
      clearTimeout(timer);
    }
  }

  #changed(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resolve of waiting) resolve();
  }

  /** Makes the input of a pipeline's text `name { … }`; throws where it has faults. */
  make(text: string, folder = "/"): Component {
    const source = new SourceText(`${folder}/input.conf`, `input { ${text} }`);
    const compiled = compilePipeline([source], {
      variables: {},
      clock: systemClock,
      random: Math.random,
      guard: new RegexpGuard(),
    });
    const [fault] = compiled.diagnostics;
    if (fault !== undefined) throw new Error(`${fault.message}; ${fault.hint}`);
    return compiled.inputs[0]!.make(this.context());
  }

  context(): InputContext {
    return {
      id: "test",
      log: silentLogger(),
      clock: systemClock,
      hubName: "hub-1",
      state: {
        get: async (key) => this.state.get(key),
        put: async (key, value) => void this.state.set(key, JSON.parse(JSON.stringify(value))),
        delete: async (key) => void this.state.delete(key),
        entries: () => this.#entries(),
      },
      open: ({ key, generation = 0 }) => ({
        send: async (events) => {
          if (this.refusal !== undefined) throw this.refusal;
          if (this.isTooLong !== undefined && events.some(({ event }) => this.isTooLong!(event)))
            throw new AppError("parsing", "an event is too long for the log");
          this.#held++;
          this.#changed();
          await this.#full;
          this.#held--;
          this.#capacity -= events.length;
          if (this.#capacity < 0) {
            this.#changed();
            throw new AppError("cancelled", "the input is stopped");
          }
          for (const { event, offset, length } of events)
            this.sent.push({ event, offset, length, key, generation });
          this.#changed();
        },
        close: () => undefined,
      }),
      receive: (address, handler) => void this.handlers.set(address, handler),
      cut: (count) => {
        this.cuts += count;
      },
      dropped: (count) => {
        this.drops += count;
        this.#changed();
      },
      failing: (message) => {
        this.failures.push(message);
        this.#changed();
      },
      bearer: async (connection, _host, rejected) =>
        rejected === undefined ? `token-of-${connection}` : `renewed-${rejected}`,
      shares: this.shares,
      mayIngest: async (authorization) => authorization === "ApiKey of-the-hub",
      checkTarget: (host) => {
        if (host === "forbidden.example") throw new AppError("forbidden", "no");
      },
      deadLetters: (after) => this.#letters(after),
    };
  }

  async *#entries(): AsyncIterable<readonly [string, unknown]> {
    yield* this.state;
  }

  async *#letters(after: number): AsyncIterable<InputDeadLetter> {
    for (const letter of this.letters) if (letter.sequence > after) yield letter;
  }
}

/** Returns an event's fields as JSON, without its time. */
export function plain(event: Event): JsonObject {
  const fields = JSON.parse(event.toJson()) as JsonObject;
  delete fields["@timestamp"];
  return fields;
}
