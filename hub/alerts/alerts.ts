/**
 * Alerts: evaluates rules, remembers what they found, tells people. Every hub tries each interval of each rule; the
 * compare-and-set that raises the state's slot lets one of them do it. Messages wait in that state, so a hub that
 * dies after a change was found loses none, and lease and removal let one hub send each.
 */

import type { Clock } from "#proto/kit/clock.ts";
import { AppError, toAppError } from "#proto/kit/errors.ts";
import type { Component } from "#proto/kit/lifecycle.ts";
import type { Logger } from "#proto/kit/log.ts";
import type { Counter, Metrics } from "#proto/kit/metrics.ts";
import type { StateBucket } from "#proto/kit/state-bucket.ts";
import { type AlertSearch, checkQuery, type PreviewPoint } from "./alert-search.ts";
import { type AlertState, type Delivery, withEvent, withFault, withFinding } from "./alert-state.ts";
import type { Notice, Notifier } from "./notifier.ts";
import { type AlertRule, checkChannel, checkRule, everyOf, isBroken, isMuted, windowOf } from "./rule.ts";
import { type Reach, RuleStore, type StoredRule, type StoredState } from "./rule-store.ts";

export interface AlertsOptions {
  readonly bucket: StateBucket;
  /** Returns which indices the sender of the present request reaches: those its rules count in from then on. */
  readonly writer: () => Reach;
  readonly search: Pick<AlertSearch, "count" | "preview">;
  readonly notifier: Pick<Notifier, "send" | "close">;
  /** The dashboard's address, for links. */
  readonly dashboardUrl: () => string;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
}

/** A rule as its readers get it. */
export interface Alert {
  readonly id: string;
  readonly revision: number;
  readonly rule: AlertRule;
  readonly state: AlertState;
}

/** Between two looks at which rules are due. */
const TICK_MS = 1_000;
/** A hub that took a message has so long to send it before another one may. */
const LEASE_MS = 30_000;
const FIRST_RETRY_MS = 5_000;
const MAX_RETRY_MS = 10 * 60_000;
/** Then a message is given up, and that is an event: 5 s, 10 s, … 10 min, some 40 min in all. */
const MAX_ATTEMPTS = 11;
const MAX_PREVIEW_MS = 31 * 86_400_000;

export class Alerts implements Component {
  readonly #options: AlertsOptions;
  readonly #store: RuleStore;
  readonly #evaluations: Counter<"outcome">;
  readonly #messages: Counter<"outcome">;
  readonly #abort = new AbortController();
  #running: Promise<void> = Promise.resolve();

  constructor(options: AlertsOptions) {
    this.#options = options;
    this.#store = new RuleStore(options.bucket);
    const { metrics } = options;
    this.#evaluations = metrics.counter("tailrace_alerts_evaluations_total", "Evaluations of alert rules.", [
      "outcome",
    ]);
    this.#messages = metrics.counter("tailrace_alerts_messages_total", "Messages of alerts.", ["outcome"]);
  }

  start(): Promise<void> {
    this.#running = this.#run();
    return Promise.resolve();
  }

  async stop(): Promise<void> {
    this.#abort.abort();
    await this.#running;
    this.#options.notifier.close();
  }

  /** Returns all rules with their states, by title. */
  async list(): Promise<Alert[]> {
    return Promise.all((await this.#store.list()).map((stored) => this.#withState(stored)));
  }

  /** Throws not_found. */
  async get(id: string): Promise<Alert> {
    return this.#withState(await this.#store.get(id));
  }

  /** Throws request_invalid. */
  async create(body: unknown): Promise<Alert> {
    return this.#withState(await this.#store.create(checked(body), this.#options.writer()));
  }

  /** Throws request_invalid, not_found, journal_conflict where `revision` isn't the newest. */
  async put(id: string, body: unknown, revision?: number): Promise<Alert> {
    return this.#withState(
      await this.#store.put(id, { rule: checked(body), reach: this.#options.writer() }, revision),
    );
  }

  /** Throws not_found, journal_conflict. */
  delete(id: string, revision?: number): Promise<void> {
    return this.#store.delete(id, revision);
  }

  /** Returns what a rule would have counted in the last `spanMs`. Throws request_invalid. */
  preview(body: unknown, spanMs: number): Promise<PreviewPoint[]> {
    if (!(spanMs > 0 && spanMs <= MAX_PREVIEW_MS))
      throw new AppError("request_invalid", `span must be up to ${MAX_PREVIEW_MS / 86_400_000}d`);
    const nowMs = this.#options.clock.now();
    return this.#options.search.preview(checked(body), this.#options.writer(), nowMs - spanMs, nowMs);
  }

  /** Sends a test over a channel. Throws what keeps it from being taken. */
  async test(body: unknown): Promise<void> {
    const at = new Date(this.#options.clock.now()).toISOString();
    await this.#options.notifier.send(checkChannel(body), {
      id: "test",
      title: "Tailrace",
      event: "test",
      key: `test/${at}`,
      count: 0,
      condition: "",
      at,
      link: this.#options.dashboardUrl(),
    });
  }

  /** Evaluates what is due and sends what waits, once. */
  async tick(): Promise<void> {
    for (const stored of await this.#store.list()) {
      if (this.#abort.signal.aborted) return;
      try {
        await this.#evaluate(stored);
        await this.#deliver(stored);
      } catch (error) {
        this.#options.log.warn(
          { err: error, alert: stored.rule.title },
          "an alert rule can't be worked on now",
        );
      }
    }
  }

  async #run(): Promise<void> {
    const { clock, log } = this.#options;
    const { signal } = this.#abort;
    while (!signal.aborted) {
      try {
        await this.tick();
      } catch (error) {
        log.warn({ err: toAppError(error) }, "alert rules can't be read; tried again");
      }
      await clock.sleep(TICK_MS, signal);
    }
  }

  async #evaluate(stored: StoredRule): Promise<void> {
    const { id, rule } = stored;
    if (!rule.enabled) return;
    const nowMs = this.#options.clock.now();
    const slot = Math.floor(nowMs / everyOf(rule));
    const before = await this.#store.state(id);
    if (before.state.slot >= slot) return;
    const claimed = await this.#store.replaceState(id, before, { ...before.state, slot });
    if (claimed === undefined) return;
    const found = await this.#find(stored, slot, nowMs);
    await this.#store.changeState(id, found, claimed);
  }

  async #find(
    { rule, reach }: StoredRule,
    slot: number,
    nowMs: number,
  ): Promise<(state: AlertState) => AlertState> {
    try {
      const count = await this.#options.search.count(rule, reach, nowMs);
      const channels = isMuted(rule, nowMs) ? [] : rule.channels;
      this.#evaluations.inc({ outcome: "done" });
      const finding = { slot, nowMs, count, isBroken: isBroken(rule, count), channels };
      return (state) => withFinding(state, finding);
    } catch (error) {
      this.#evaluations.inc({ outcome: "failed" });
      return (state) => withFault(state, slot, nowMs, toAppError(error).message);
    }
  }

  async #deliver({ id, rule }: StoredRule): Promise<void> {
    for (;;) {
      const nowMs = this.#options.clock.now();
      const before = await this.#store.state(id);
      const due = before.state.deliveries.find(({ notBeforeMs }) => notBeforeMs <= nowMs);
      if (due === undefined || this.#abort.signal.aborted) return;
      const leased = { ...due, attempts: due.attempts + 1, notBeforeMs: nowMs + LEASE_MS };
      const claimed = await this.#store.replaceState(id, before, replaced(before.state, due, leased));
      if (claimed === undefined) return;
      await this.#attempt(id, rule, claimed, leased);
    }
  }

  /** Sends a leased message; afterwards it is gone, or waits for the next attempt. */
  async #attempt(id: string, rule: AlertRule, claimed: StoredState, leased: Delivery): Promise<void> {
    const { notifier, clock, log } = this.#options;
    let change = (state: AlertState): AlertState => replaced(state, leased, undefined);
    try {
      await notifier.send(leased.channel, this.#noticeOf(id, rule, leased));
      this.#messages.inc({ outcome: "sent" });
    } catch (error) {
      const fault = toAppError(error).message;
      const isGivenUp = leased.attempts >= MAX_ATTEMPTS;
      this.#messages.inc({ outcome: isGivenUp ? "given_up" : "failed" });
      log.warn(
        { alert: rule.title, attempt: leased.attempts, reason: fault },
        "an alert's message isn't taken",
      );
      const nowMs = clock.now();
      const waitMs = Math.min(MAX_RETRY_MS, FIRST_RETRY_MS * 2 ** (leased.attempts - 1));
      const at = new Date(nowMs).toISOString();
      const event = { at, event: "undelivered" as const, count: leased.count, note: fault };
      change = (state) =>
        isGivenUp
          ? withEvent(replaced(state, leased, undefined), event)
          : replaced(state, leased, { ...leased, fault, notBeforeMs: nowMs + waitMs });
    }
    await this.#store.changeState(id, change, claimed);
  }

  #noticeOf(id: string, rule: AlertRule, { event, firing, count, at }: Delivery): Notice {
    const toMs = Date.parse(at);
    const range = { from: new Date(toMs - windowOf(rule)).toISOString(), to: at };
    const parameters = new URLSearchParams({ q: rule.query, index: rule.index, ...range });
    return {
      id,
      title: rule.title,
      event,
      key: `${id}/${firing}/${event}`,
      count,
      condition: `${rule.condition} ${rule.threshold} in ${rule.window}`,
      at,
      link: `${this.#options.dashboardUrl()}/#/discover?${parameters.toString()}`,
    };
  }

  async #withState({ id, revision, rule }: StoredRule): Promise<Alert> {
    const { state } = await this.#store.state(id);
    return { id, revision, rule, state };
  }
}

function checked(body: unknown): AlertRule {
  const rule = checkRule(body);
  checkQuery(rule.query);
  return rule;
}

/** Returns the state with one message replaced, or gone. */
function replaced(state: AlertState, old: Delivery, next: Delivery | undefined): AlertState {
  const name = nameOf(old);
  const deliveries = state.deliveries.flatMap((one) =>
    nameOf(one) === name ? (next === undefined ? [] : [next]) : [one],
  );
  return { ...state, deliveries };
}

/** What tells messages of a rule apart. */
function nameOf({ firing, event, channel }: Delivery): string {
  return JSON.stringify([firing, event, channel]);
}
