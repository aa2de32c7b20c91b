/** Hubs that share a bucket with alert rules, a clock and the number of lines that rules count. */

import { AlertSearch } from "#hub/alerts/alert-search.ts";
import type { Reach } from "#hub/alerts/alert-state.ts";
import type { Alert } from "#hub/alerts/alert-view.ts";
import { Alerts } from "#hub/alerts/alerts.ts";
import type { Notice } from "#hub/alerts/notifier.ts";
import type { Channel } from "#hub/alerts/rule.ts";
import type { Writer } from "#hub/alerts/rule-store.ts";
import type { Clock } from "#proto/kit/clock.ts";
import { AppError } from "#proto/kit/errors.ts";
import { type Logger, silentLogger } from "#proto/kit/log.ts";
import { Metrics } from "#proto/kit/metrics.ts";
import { localShards } from "#test/support/host/local-shards.ts";
import { MemoryBucket } from "#test/support/kit/memory-bucket.ts";

export const START = Date.parse("2026-01-31T12:00:00Z");
export const EVERYTHING = { indices: ["*"], internal: true };
export const SHOP = { indices: ["logs-shop*"], internal: false };
export const ADA = { kind: "user", id: "ada", name: "ada" } as const;
export const BOB = { kind: "api_key", id: "bob", name: "bob" } as const;
export const RULE = {
  title: "Errors",
  query: "level:error",
  threshold: 5,
  window: "5m",
  every: "1m",
  channels: [{ type: "webhook", url: "https://hooks.example.net/a" }],
};

class TestClock implements Clock {
  nowMs = START;
  now = (): number => this.nowMs;
  monotonic = (): number => this.nowMs;
  sleep = (_ms: number, signal?: AbortSignal): Promise<void> =>
    new Promise((resolve) => signal?.addEventListener("abort", () => resolve()));
}

/** Hubs that share a bucket, a clock and the number that a rule counts. */
/** Shards of no index. */
const NO_SHARDS = localShards({} as Parameters<typeof localShards>[0]);

export class World {
  readonly bucket = new MemoryBucket();
  readonly clock = new TestClock();
  /** Of who sends requests, and of the last count. */
  reach: Reach = EVERYTHING;
  counted: Reach | undefined;
  isStrict: boolean | undefined;
  readonly warnings: object[] = [];
  writer: Writer | undefined;
  /** What writers may read now, by id. Absent: nobody signs in. */
  present: Map<string, Reach> | undefined;
  /** What happens while a writer's rights are read. */
  meanwhile: (() => Promise<unknown>) | undefined;
  readonly sent: (Notice & { readonly channel: Channel })[] = [];
  count = 0;
  refusal: Error | undefined;
  /** Messages of the rule with this title aren't answered before `until` resolves. */
  hanging: { readonly title: string; readonly until: Promise<void> } | undefined;

  hub(): Alerts {
    return new Alerts({
      bucket: this.bucket,
      sender: () => ({ reach: this.reach, ...(this.writer !== undefined && { writer: this.writer }) }),
      ...(this.present !== undefined && { presentReach: this.#presentReach }),
      maySee: (_rule, reach) => this.reach.internal || !reach.internal,
      search: {
        check: (query) => new AlertSearch(() => [], NO_SHARDS).check(query),
        count: (_rule, { reach, isStrict }) => {
          this.counted = reach;
          this.isStrict = isStrict;
          return Promise.resolve(this.count);
        },
        preview: () => Promise.resolve([]),
      },
      notifier: {
        send: (channel, notice) => {
          if (this.refusal !== undefined) return Promise.reject(this.refusal);
          if (notice.title === this.hanging?.title) return this.hanging.until;
          this.sent.push({ ...notice, channel });
          return Promise.resolve();
        },
        close: () => undefined,
      },
      dashboardUrl: () => "http://hub",
      clock: this.clock,
      log: {
        ...silentLogger(),
        warn: (facts: object) => void this.warnings.push(facts),
      } as unknown as Logger,
      metrics: new Metrics(),
    });
  }

  readonly #presentReach = async ({ id }: Writer): Promise<Reach> => {
    await this.meanwhile?.();
    const reach = this.present?.get(id);
    if (reach === undefined) throw new AppError("forbidden", `${id} was removed`);
    return reach;
  };

  async pass(hub: Alerts, afterMs: number, count: number): Promise<Alert> {
    this.clock.nowMs += afterMs;
    this.count = count;
    await hub.tick();
    return (await hub.list())[0]!;
  }

  told(): string[] {
    return this.sent.map(({ event, count }) => `${event} ${count}`);
  }
}
