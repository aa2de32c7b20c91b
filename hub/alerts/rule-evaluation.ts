/** Evaluates a rule: claims the interval, counts with the rights that the rule has now, and stores what was found. */

import type { Clock } from "#proto/kit/clock.ts";
import { toAppError } from "#proto/kit/errors.ts";
import type { Logger } from "#proto/kit/log.ts";
import type { Counter, Metrics } from "#proto/kit/metrics.ts";
import type { AlertSearch, CountRights } from "./alert-search.ts";
import { type AlertState, claimed, isDue, type Reach, withFault, withFinding } from "./alert-state.ts";
import { isBroken, isMuted } from "./rule.ts";
import type { RuleStore, StoredRule, StoredState, Writer } from "./rule-store.ts";

export interface RuleEvaluationOptions {
  readonly store: Pick<RuleStore, "isNewest" | "replaceState" | "changeState">;
  readonly search: Pick<AlertSearch, "count">;
  /** See AlertsOptions. */
  readonly presentReach?: ((writer: Writer) => Promise<Reach>) | undefined;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
}

export class RuleEvaluation {
  readonly #options: RuleEvaluationOptions;
  readonly #outcomes: Counter<"outcome">;

  constructor(options: RuleEvaluationOptions) {
    this.#options = options;
    this.#outcomes = options.metrics.counter(
      "tailrace_alerts_evaluations_total",
      "Evaluations of alert rules.",
      ["outcome"],
    );
  }

  /** Evaluates a rule if it is due. Returns false if that left its state, read as `before`, unchanged. */
  async evaluate(stored: StoredRule, before: StoredState): Promise<boolean> {
    const { id, rule } = stored;
    const nowMs = this.#options.clock.now();
    if (!rule.enabled || !isDue(before.state, stored, nowMs)) return false;
    // The list of rules may be minutes old. A rule that was changed since is due at the next check.
    if (!(await this.#options.store.isNewest(stored))) return false;
    const own = await this.#options.store.replaceState(id, before, claimed(before.state, stored, nowMs));
    if (own === undefined) return false;
    if (before.isDamaged === true)
      this.#options.log.warn(
        { alert: rule.title },
        "the state of an alert rule was damaged: its history and waiting messages are lost",
      );
    const found = await this.#find(stored, nowMs);
    await this.#options.store.changeState(id, found, own);
    const { stopped, fault } = found(own.state);
    if (stopped && !own.state.stopped)
      this.#options.log.warn({ alert: rule.title, reason: fault }, "an alert rule doesn't run anymore");
    return true;
  }

  async #find(stored: StoredRule, nowMs: number): Promise<(state: AlertState) => AlertState> {
    const { rule } = stored;
    try {
      const rights = await this.#rightsOf(stored);
      const { reach } = rights;
      const count = await this.#options.search.count(rule, rights, nowMs);
      const channels = isMuted(rule, nowMs) ? [] : rule.channels;
      this.#outcomes.inc({ outcome: "done" });
      const finding = { nowMs, count, reach, isBroken: isBroken(rule, count), channels };
      return (state) => withFinding(state, finding);
    } catch (error) {
      const { code, message: fault, retryable: isRetryable } = toAppError(error);
      const isRefused = code === "forbidden";
      this.#outcomes.inc({ outcome: isRefused ? "refused" : "failed" });
      return (state) => withFault(state, { nowMs, fault, isRefused, isRetryable });
    }
  }

  /** Returns what the rule may count in now. Throws forbidden. */
  async #rightsOf({ reach, writer }: StoredRule): Promise<CountRights> {
    const { presentReach } = this.#options;
    if (writer === undefined || presentReach === undefined) return { reach, isStrict: false };
    return { reach: await presentReach(writer), isStrict: true };
  }
}
