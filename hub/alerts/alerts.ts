/**
 * Alerts: evaluates rules, keeps their states and sends messages. Every hub tries each interval of each rule; the
 * compare-and-set that raises the state's slot lets one of them evaluate it. Messages wait in that state, so a hub that
 * dies after an evaluation loses none. A lease lets one hub send each. A rule counts with the present rights of the
 * user who saved it last.
 */

import type { Clock } from "#proto/kit/clock.ts";
import { AppError, toAppError } from "#proto/kit/errors.ts";
import { BackgroundTask, type Component } from "#proto/kit/lifecycle.ts";
import type { Logger } from "#proto/kit/log.ts";
import type { Metrics } from "#proto/kit/metrics.ts";
import type { StateBucket } from "#proto/kit/state-bucket.ts";
import { DAY_MS } from "#proto/kit/units.ts";
import type { AlertSearch, PreviewPoint } from "./alert-search.ts";
import { type AlertState, FIRST_STATE, type Reach } from "./alert-state.ts";
import { type Alert, alertView, unreadableView } from "./alert-view.ts";
import { Messages } from "./messages.ts";
import type { Notifier } from "./notifier.ts";
import { type AlertRule, checkChannel, checkRule, switched } from "./rule.ts";
import { RuleEvaluation } from "./rule-evaluation.ts";
import {
  RuleStore,
  type SavedRule,
  type StoredRule,
  type UnreadableRule,
  type Writer,
} from "./rule-store.ts";

export interface AlertsOptions {
  readonly bucket: StateBucket;
  /** Returns the sender of the current request, and what it may read now. */
  readonly sender: () => Pick<SavedRule, "reach" | "writer">;
  /**
   * Returns what a writer may read now. Throws forbidden if it is gone or may not search. Absent: `auth.mode` is off, and
   * rules count in their stored reach.
   */
  readonly presentReach?: ((writer: Writer) => Promise<Reach>) | undefined;
  /** Returns whether the sender of the current request may read all indices within `reach` that a rule counts in. */
  readonly maySee: (rule: AlertRule, reach: Reach) => boolean;
  readonly search: Pick<AlertSearch, "check" | "count" | "preview">;
  readonly notifier: Pick<Notifier, "send" | "close">;
  /** The dashboard's address, for links. */
  readonly dashboardUrl: () => string;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
}

/** Time between two checks for due rules. One that finds none costs no request to the server. */
const TICK_MS = 1_000;
const WATCH_AGAIN_MS = 5_000;
/** Rules whose messages are sent at the same time: each may wait ten seconds for a receiver that doesn't answer. */
const MAX_DELIVERING = 32;
const MAX_PREVIEW_MS = 31 * DAY_MS;

export class Alerts implements Component {
  readonly #options: AlertsOptions;
  readonly #store: RuleStore;
  readonly #evaluation: RuleEvaluation;
  readonly #messages: Messages;
  readonly #task = new BackgroundTask();
  /** Rules whose messages are being sent, by id. */
  readonly #delivering = new Map<string, Promise<void>>();
  /** Revisions of unreadable rules that were logged, by id. */
  #warned: ReadonlyMap<string, number> = new Map();

  constructor(options: AlertsOptions) {
    this.#options = options;
    this.#store = new RuleStore(options.bucket);
    this.#evaluation = new RuleEvaluation({ ...options, store: this.#store });
    this.#messages = new Messages({ ...options, store: this.#store });
  }

  start(): Promise<void> {
    this.#task.start(async (signal) => {
      await Promise.all([this.#follow(signal), this.#run(signal)]);
    });
    return Promise.resolve();
  }

  async stop(): Promise<void> {
    await this.#task.stop();
    await Promise.all(this.#delivering.values());
    this.#options.notifier.close();
  }

  /** Returns the rules that the sender may see with their states, by title; those that can't be read come last. */
  async list(): Promise<Alert[]> {
    const { rules, unreadable } = await this.#store.list();
    const found = await Promise.all(rules.map((stored) => this.#seen(stored)));
    const alerts = found.filter((alert) => alert !== undefined);
    return this.#maySeeAll() ? [...alerts, ...unreadable.map(unreadableView)] : alerts;
  }

  /** Throws not_found, request_invalid if it can't be read. */
  async get(id: string): Promise<Alert> {
    return this.#visible(await this.#store.get(id));
  }

  /** Throws request_invalid. */
  async create(body: unknown): Promise<Alert> {
    const content = { rule: await this.#checked(body), ...this.#options.sender() };
    return this.#shown(await this.#store.create(content), FIRST_STATE);
  }

  /** Throws request_invalid, not_found, journal_conflict if `revision` isn't the newest. */
  async put(id: string, body: unknown, revision?: number): Promise<Alert> {
    await this.#mustSee(id);
    const rule = await this.#checked(body);
    const stored = await this.#store.put(id, { rule, ...this.#options.sender() }, revision);
    return this.#shown(stored, (await this.#store.state(id)).state);
  }

  /**
   * Turns a rule on or off, or mutes it. It keeps its writer, so that it counts no lines that the writer may not read. Throws
   * request_invalid, not_found, journal_conflict.
   */
  async switch(id: string, body: object, revision?: number): Promise<Alert> {
    const before = await this.#store.get(id);
    const { state } = await this.#visible(before);
    const { rule, revision: read, id: _, ...saved } = before;
    const stored = await this.#store.put(id, { rule: switched(rule, body), ...saved }, revision ?? read);
    return this.#shown(stored, state);
  }

  /** Throws not_found, journal_conflict. */
  async delete(id: string, revision?: number): Promise<void> {
    await this.#mustSee(id);
    await this.#store.delete(id, revision);
  }

  /** Returns what a rule would have counted in the last `spanMs`. Throws request_invalid. */
  async preview(body: unknown, spanMs: number): Promise<PreviewPoint[]> {
    if (!(spanMs > 0 && spanMs <= MAX_PREVIEW_MS))
      throw new AppError("request_invalid", `span must be up to ${MAX_PREVIEW_MS / DAY_MS}d`);
    const nowMs = this.#options.clock.now();
    const rule = await this.#checked(body);
    return this.#options.search.preview(rule, this.#options.sender().reach, nowMs - spanMs, nowMs);
  }

  /** Sends a test over a channel. Throws the error of a failed delivery. */
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

  /** Evaluates the rules that are due and sends the messages that wait, once. */
  async tick(): Promise<void> {
    await this.#evaluateAll();
    await Promise.all(this.#delivering.values());
  }

  /** Evaluates the rules that are due and begins to send the messages that wait, without waiting for their receivers. */
  async #evaluateAll(): Promise<void> {
    const { rules, unreadable } = await this.#store.list();
    this.#warnOf(unreadable);
    for (const stored of rules) {
      if (this.#task.signal.aborted) return;
      try {
        await this.#workOn(stored);
      } catch (error) {
        this.#warn(stored, error);
      }
    }
  }

  /** Evaluates a rule if it is due, and begins to send its messages. */
  async #workOn(stored: StoredRule): Promise<void> {
    const { id } = stored;
    const before = await this.#store.state(id);
    const isEvaluated = await this.#evaluation.evaluate(stored, before);
    if (!this.#maySend(id)) return;
    const { state } = isEvaluated ? await this.#store.state(id) : before;
    const nowMs = this.#options.clock.now();
    if (!state.deliveries.some(({ notBeforeMs }) => notBeforeMs <= nowMs)) return;
    const delivery = this.#messages
      .deliver(stored, this.#task.signal)
      .catch((error: unknown) => this.#warn(stored, error))
      .finally(() => this.#delivering.delete(id));
    this.#delivering.set(id, delivery);
  }

  /** False while messages of a rule, or of too many rules, are being sent: a later check starts others then. */
  #maySend(id: string): boolean {
    return !this.#delivering.has(id) && this.#delivering.size < MAX_DELIVERING;
  }

  #warn({ rule }: StoredRule, err: unknown): void {
    this.#options.log.warn({ err, alert: rule.title }, "an alert rule can't be worked on now");
  }

  /** Logs each unreadable rule once per revision. */
  #warnOf(unreadable: readonly UnreadableRule[]): void {
    for (const { id, revision, fault } of unreadable) {
      if (this.#warned.get(id) === revision) continue;
      this.#options.log.warn(
        { alert: id, reason: fault },
        "an alert rule can't be read: replace or delete it",
      );
    }
    this.#warned = new Map(unreadable.map(({ id, revision }) => [id, revision]));
  }

  /** Throws not_found for a rule that the sender may not see. */
  async #visible(stored: StoredRule): Promise<Alert> {
    const alert = await this.#seen(stored);
    if (alert === undefined)
      throw new AppError("not_found", `there is no alert rule ${stored.id}; it may have been deleted`);
    return alert;
  }

  /** Administrators may also replace and delete rules that can't be read. */
  async #mustSee(id: string): Promise<void> {
    if (!this.#maySeeAll()) await this.#visible(await this.#store.get(id));
  }

  #maySeeAll(): boolean {
    return this.#options.sender().reach.internal;
  }

  async #follow(signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#options;
    while (!signal.aborted) {
      try {
        await this.#store.follow(signal);
      } catch (error) {
        if (!signal.aborted)
          log.warn({ err: toAppError(error) }, "alert rules can't be watched; tried again");
      }
      await clock.sleep(WATCH_AGAIN_MS, signal);
    }
  }

  async #run(signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#options;
    while (!signal.aborted) {
      try {
        const isDue = this.#store.takeDue(clock.now(), (id) => this.#maySend(id));
        if (isDue) await this.#evaluateAll();
      } catch (error) {
        log.warn({ err: toAppError(error) }, "alert rules can't be read; tried again");
      }
      await clock.sleep(TICK_MS, signal);
    }
  }

  /** Returns the rule of a request. Throws request_invalid, parsing. */
  async #checked(body: unknown): Promise<AlertRule> {
    const rule = checkRule(body);
    await this.#options.search.check(rule.query);
    return rule;
  }

  /**
   * Returns a rule with its state; undefined if the sender may not read all that its counts come from: the reach of the last
   * count, before the first one that of the save.
   */
  async #seen(stored: StoredRule): Promise<Alert | undefined> {
    const { rule, reach, writer } = stored;
    const { maySee, presentReach } = this.#options;
    const countsInReach = writer === undefined || presentReach === undefined;
    if (countsInReach && !maySee(rule, reach)) return undefined;
    const { state } = await this.#store.state(stored.id);
    return maySee(rule, state.reach ?? reach) ? this.#shown(stored, state) : undefined;
  }

  #shown(stored: StoredRule, state: AlertState): Alert {
    const hasWriters = this.#options.presentReach !== undefined;
    return alertView(stored, state, { hasWriters, isAdministrator: this.#maySeeAll() });
  }
}
