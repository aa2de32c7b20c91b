/**
 * Messages of alerts. They wait in a rule's state, are leased, sent and removed: exactly one hub sends each, and none is
 * lost when a hub dies.
 */

import type { Clock } from "#proto/kit/clock.ts";
import { toAppError } from "#proto/kit/errors.ts";
import type { Logger } from "#proto/kit/log.ts";
import type { Counter, Metrics } from "#proto/kit/metrics.ts";
import { type AlertState, type Delivery, withEvent } from "./alert-state.ts";
import type { Notice, Notifier } from "./notifier.ts";
import { type AlertRule, windowOf } from "./rule.ts";
import type { RuleStore, StoredRule, StoredState } from "./rule-store.ts";

export interface MessagesOptions {
  readonly store: RuleStore;
  readonly notifier: Pick<Notifier, "send">;
  /** The dashboard's address, for links. */
  readonly dashboardUrl: () => string;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
}

/** Lease of a message: time that a hub has to send it before another one may. */
const LEASE_MS = 30_000;
const FIRST_RETRY_MS = 5_000;
const MAX_RETRY_MS = 10 * 60_000;
/**
 * Attempts before a message is dropped, which is recorded as an event: after 5 s, 10 s, … 10 min, about 40 min in
 * total.
 */
const MAX_ATTEMPTS = 11;

export class Messages {
  readonly #options: MessagesOptions;
  readonly #outcomes: Counter<"outcome">;

  constructor(options: MessagesOptions) {
    this.#options = options;
    this.#outcomes = options.metrics.counter("tailrace_alerts_messages_total", "Messages of alerts.", [
      "outcome",
    ]);
  }

  /** Sends the due messages of a rule until none is left or `signal` is aborted. */
  async deliver({ id, rule }: StoredRule, signal: AbortSignal): Promise<void> {
    for (;;) {
      const nowMs = this.#options.clock.now();
      const before = await this.#options.store.state(id);
      const due = before.state.deliveries.find(({ notBeforeMs }) => notBeforeMs <= nowMs);
      if (due === undefined || signal.aborted) return;
      const leased = { ...due, attempts: due.attempts + 1, notBeforeMs: nowMs + LEASE_MS };
      const claimed = await this.#options.store.replaceState(id, before, replaced(before.state, due, leased));
      if (claimed === undefined) return;
      await this.#attempt(id, rule, claimed, leased);
    }
  }

  /** Sends a leased message, and removes it or schedules the next attempt. */
  async #attempt(id: string, rule: AlertRule, claimed: StoredState, leased: Delivery): Promise<void> {
    const { notifier, clock, log } = this.#options;
    let change = (state: AlertState): AlertState => replaced(state, leased, undefined);
    try {
      await notifier.send(leased.channel, this.#noticeOf(id, rule, leased));
      this.#outcomes.inc({ outcome: "sent" });
    } catch (error) {
      const fault = toAppError(error).message;
      const isGivenUp = leased.attempts >= MAX_ATTEMPTS;
      this.#outcomes.inc({ outcome: isGivenUp ? "given_up" : "failed" });
      log.warn(
        { alert: rule.title, attempt: leased.attempts, reason: fault },
        "an alert's message was not delivered",
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
    await this.#options.store.changeState(id, change, claimed);
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
}

/** Returns the state with one message replaced, or removed if `next` is undefined. */
function replaced(state: AlertState, old: Delivery, next: Delivery | undefined): AlertState {
  const name = nameOf(old);
  const deliveries = state.deliveries.flatMap((one) =>
    nameOf(one) === name ? (next === undefined ? [] : [next]) : [one],
  );
  return { ...state, deliveries };
}

/** Returns the identity of a message within its rule. */
function nameOf({ firing, event, channel }: Delivery): string {
  return JSON.stringify([firing, event, channel]);
}
