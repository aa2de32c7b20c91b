/** The audit log: security events as documents of an internal index that only administrators can read. */

import { randomUUID } from "node:crypto";
import type { WriteItem } from "#hub/api/ports/documents.ts";
import type { AuditEvent, AuditSink } from "#hub/auth/audit/audit.ts";
import { INTERNAL_PREFIX } from "#hub/cluster/catalog/index-names.ts";
import type { WriteOptions, WriteResult } from "#hub/cluster/writes/writes.ts";
import type { Clock } from "#proto/kit/clock.ts";
import type { Component } from "#proto/kit/lifecycle.ts";
import type { Logger } from "#proto/kit/log.ts";
import type { Counter, Metrics } from "#proto/kit/metrics.ts";
import { Backoff } from "#proto/kit/retry.ts";

export interface AuditLogOptions {
  readonly documents: {
    write(items: readonly WriteItem[], options: WriteOptions): Promise<WriteResult[]>;
  };
  /** Name of the hub, stored in each entry. */
  readonly node: string;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
}

type Waiting = WriteItem & { readonly kind: "create"; readonly id: string };

/** Maximum pending entries: an hour of password guessing; more go to the hub's own log. */
const MAX_WAITING = 10_000;
const MAX_BATCH = 500;
const WRITE_TIMEOUT_MS = 10_000;
const RETRY = { firstMs: 100, capMs: 10_000 };
/** Time for a last attempt to write pending entries at a stop. */
const LAST_WRITE_MS = 3_000;

export class AuditLog implements Component {
  readonly #options: AuditLogOptions;
  readonly #waiting: Waiting[] = [];
  readonly #stopping = new AbortController();
  readonly #backoff = new Backoff(RETRY);
  readonly #lost: Counter;
  #writing: Promise<void> | undefined;

  constructor(options: AuditLogOptions) {
    this.#options = options;
    this.#lost = options.metrics.counter(
      "tailrace_auth_audit_lost_total",
      "Entries of the audit log that are only in the hub's own log.",
    );
  }

  /** Queues an entry; it is written in the background. */
  readonly record: AuditSink = (event) => {
    if (this.#waiting.length >= MAX_WAITING || this.#stopping.signal.aborted) {
      this.#giveUp(this.#documentOf(event), "too many entries are pending");
      return;
    }
    this.#waiting.push(this.#itemOf(event));
    this.#writing ??= this.#writeAll().finally(() => {
      this.#writing = undefined;
    });
  };

  start(): Promise<void> {
    return Promise.resolve();
  }

  /** Writes pending entries; entries that can't be written go to the hub's own log. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#writing;
    const signal = AbortSignal.timeout(LAST_WRITE_MS);
    while (this.#waiting.length > 0 && (await this.#writeSome(signal)));
    for (const { source } of this.#waiting.splice(0)) this.#giveUp(source, "the hub is stopping");
  }

  async #writeAll(): Promise<void> {
    const { signal } = this.#stopping;
    // Entries of one operation are written together.
    await Promise.resolve();
    while (this.#waiting.length > 0 && !signal.aborted) {
      if (await this.#writeSome(signal)) this.#backoff.reset();
      else await this.#options.clock.sleep(this.#backoff.next(), signal);
    }
  }

  /** Writes the oldest entries; returns false if they must be retried. */
  async #writeSome(signal: AbortSignal): Promise<boolean> {
    const batch = this.#waiting.slice(0, MAX_BATCH);
    let results: WriteResult[];
    try {
      results = await this.#options.documents.write(batch, {
        refresh: "false",
        timeoutMs: WRITE_TIMEOUT_MS,
        signal,
      });
    } catch (err) {
      if (!signal.aborted) this.#options.log.warn({ err }, "the audit log cannot be written; retrying");
      return false;
    }
    this.#waiting.splice(0, batch.length);
    for (const [position, result] of results.entries()) this.#handleResult(batch[position]!, result);
    return true;
  }

  /** A conflict means that an earlier attempt wrote the entry. */
  #handleResult(item: Waiting, result: WriteResult): void {
    if (!("error" in result) || result.error.code === "version_conflict") return;
    if (result.error.retryable) this.#waiting.push(item);
    else this.#giveUp(item.source, result.error.message);
  }

  #giveUp(document: Uint8Array, reason: string): void {
    this.#lost.inc();
    const entry: unknown = JSON.parse(Buffer.from(document).toString());
    this.#options.log.warn({ audit: entry, reason }, "an entry of the audit log is only in this log");
  }

  #itemOf(event: AuditEvent): Waiting {
    const month = new Date(this.#options.clock.now()).toISOString().slice(0, 7).replace("-", ".");
    return {
      kind: "create",
      index: `${INTERNAL_PREFIX}audit-${month}`,
      id: randomUUID(),
      source: this.#documentOf(event),
    };
  }

  #documentOf({ action, outcome, actor, ip, subject, reason }: AuditEvent): Uint8Array {
    const document = {
      "@timestamp": new Date(this.#options.clock.now()).toISOString(),
      event: {
        action,
        outcome: outcome === "ok" ? "success" : "failure",
        ...(reason !== undefined && { reason }),
      },
      user: { name: actor },
      ...(ip !== undefined && { source: { ip } }),
      ...(subject !== undefined && { subject }),
      node: { name: this.#options.node },
    };
    return Buffer.from(JSON.stringify(document));
  }
}
