/**
 * Health of the hub. The check of each part evaluates its latest work: `ok`, `degraded` (it works, but needs attention) or
 * `failing` (it can't do its work now). `/health`, `/api/status` and the metrics report the same findings.
 */

import type { HealthReport, PartHealth } from "#hub/api/ports/administration.ts";
import type { Clock } from "#proto/kit/clock.ts";
import { toAppError } from "#proto/kit/errors.ts";
import { BackgroundTask, type Component, withDeadline } from "#proto/kit/lifecycle.ts";
import type { Logger } from "#proto/kit/log.ts";
import type { Metrics } from "#proto/kit/metrics.ts";

const CHECK_EVERY_MS = 5_000;
/** A check that takes longer means that its part hangs. */
const CHECK_TIMEOUT_MS = 5_000;

const LEVELS = ["ok", "degraded", "failing"] as const;

export type Finding = Pick<PartHealth, "level" | "reason">;

export const OK: Finding = { level: "ok", reason: "" };

/** Returns the state of one part at `nowMs` on the monotonic clock. What it throws counts as failing. */
export type HealthCheck = (nowMs: number) => Finding | Promise<Finding>;

export interface HealthOptions {
  /** By name of the part. */
  readonly checks: Readonly<Record<string, HealthCheck>>;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
}

export class Health implements Component {
  readonly #options: HealthOptions;
  readonly #task = new BackgroundTask();
  #parts: readonly PartHealth[];

  constructor(options: HealthOptions) {
    this.#options = options;
    this.#parts = Object.keys(options.checks).map((part) => ({ part, ...OK }));
    const help = "Health of a part of the hub: 0 ok, 1 degraded, 2 failing";
    options.metrics.gauge("tailrace_hub_health_level", help, ["part"], (gauge) => {
      for (const { part, level } of this.#parts) gauge.set({ part }, LEVELS.indexOf(level));
    });
  }

  start(): Promise<void> {
    this.#task.repeat(this.#options.clock, CHECK_EVERY_MS, () => this.check());
    return Promise.resolve();
  }

  async stop(): Promise<void> {
    await this.#task.stop();
  }

  /** The findings of the last checks, a few seconds old. */
  report(): HealthReport {
    const worst = Math.max(...this.#parts.map(({ level }) => LEVELS.indexOf(level)));
    return { status: LEVELS[worst] ?? "ok", parts: this.#parts };
  }

  /** Checks every part once and logs changes. */
  async check(): Promise<void> {
    const { checks, clock } = this.#options;
    const parts = Object.entries(checks).map(async ([part, check]): Promise<PartHealth> => {
      try {
        const finding = Promise.resolve(check(clock.monotonic()));
        return { part, ...(await withDeadline(finding, CHECK_TIMEOUT_MS, `the check of ${part}`)) };
      } catch (error) {
        return { part, level: "failing", reason: toAppError(error).message };
      }
    });
    const before = this.#parts;
    this.#parts = await Promise.all(parts);
    for (const [index, { part, level, reason }] of this.#parts.entries()) {
      if (level === before[index]?.level) continue;
      if (level === "ok") this.#options.log.info({ part }, "a part of the hub works again");
      else this.#options.log.warn({ part, level, reason }, "a part of the hub needs attention");
    }
  }
}
