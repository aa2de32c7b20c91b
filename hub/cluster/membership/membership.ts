/**
 * This hub as a member: joins, renews its record by compare-and-set, and computes on its own clock until when it may work.
 * README.md has the rules and the failure cases.
 */

import { randomBytes } from "node:crypto";
import { RENEWALS } from "#hub/journal/buckets/lease.ts";
import type { Clock } from "#proto/kit/clock.ts";
import { AppError, toAppError } from "#proto/kit/errors.ts";
import type { Component } from "#proto/kit/lifecycle.ts";
import type { Logger } from "#proto/kit/log.ts";
import type { StateBucket, StateEntry } from "#proto/kit/state-bucket.ts";
import type { MemberDirectory } from "./member-directory.ts";
import {
  encodeMember,
  MEMBER_LEASE_MS,
  type MemberFacts,
  type MemberProgress,
  type MemberRecord,
  memberKey,
  readMember,
} from "./member-record.ts";

/** Wait after a renewal that failed. */
const RETRY_MS = 250;
/** Attempts to join against others that change the same record. */
const JOIN_TRIES = 5;

export interface MembershipOptions {
  readonly bucket: StateBucket;
  readonly directory: MemberDirectory;
  readonly facts: MemberFacts;
  readonly progress: () => MemberProgress;
  readonly durationMs?: number;
  readonly clock: Clock;
  readonly log: Logger;
}

export class Membership implements Component {
  /** Random name of this process. */
  readonly process = randomBytes(12).toString("base64url");
  readonly #options: MembershipOptions;
  readonly #durationMs: number;
  readonly #listeners = new Set<() => void>();
  readonly #abort = new AbortController();
  #session = "";
  #joins = 0;
  #revision = 0;
  #validUntil = 0;
  #wasValid = false;
  #displaced = false;
  #epochs = { adopted: 0, active: 0 };
  #accepting = false;
  #writes: Promise<void> = Promise.resolve();
  #running: Promise<unknown> = Promise.resolve();

  constructor(options: MembershipOptions) {
    this.#options = options;
    this.#durationMs = options.durationMs ?? MEMBER_LEASE_MS;
  }

  /** Joins. Throws settings_invalid if another live hub has the same name, unavailable, timeout. */
  async start(): Promise<void> {
    await this.#refuseTakenName();
    await this.#join();
    this.#running = Promise.all([this.#renewNowAndThen(), this.#watchExpiry()]);
  }

  /** Leaves, so that others take over the work at once. All work under the membership must have stopped. */
  async stop(): Promise<void> {
    this.#abort.abort();
    await this.#running;
    await this.#writes;
    if (!this.isValid) return;
    this.#validUntil = 0;
    try {
      await this.#options.bucket.delete(memberKey(this.#options.facts.id), this.#revision);
    } catch (error) {
      this.#options.log.debug({ err: toAppError(error) }, "the hub couldn't leave; its membership expires");
    }
  }

  get id(): string {
    return this.#options.facts.id;
  }

  /** New each time this hub joins. */
  get session(): string {
    return this.#session;
  }

  /** True as long as no other hub can have taken over this one's work. Cheap: called before each write with a side effect. */
  get isValid(): boolean {
    return this.#options.clock.monotonic() < this.#validUntil;
  }

  /** True if another process uses this hub's identity; this process never becomes a member again. */
  get isDisplaced(): boolean {
    return this.#displaced;
  }

  /** Calls `listener` when `isValid` or `session` changes. */
  onChange(listener: () => void): void {
    this.#listeners.add(listener);
  }

  /** Publishes how far this hub follows the table of partitions; resolves when that is stored, or throws. */
  async report(epochs: { readonly adopted: number; readonly active: number }): Promise<void> {
    this.#epochs = epochs;
    await this.#write(() => this.#renew());
  }

  /** Publishes whether this hub takes partitions; resolves when that is stored, or throws. */
  async accept(accepting: boolean): Promise<void> {
    if (accepting === this.#accepting) return;
    this.#accepting = accepting;
    try {
      await this.#write(() => this.#renew());
    } catch (error) {
      this.#accepting = !accepting;
      throw error;
    }
  }

  async #join(): Promise<void> {
    const { bucket, facts, clock } = this.#options;
    const key = memberKey(facts.id);
    for (let tries = 1; ; tries++) {
      const entry = await bucket.get(key);
      this.#session = `${this.process}.${++this.#joins}`;
      const takenMs = clock.monotonic(); // before the call: the others' clocks start when it is stored
      try {
        this.#revision = await this.#store(entry);
        this.#setValidUntil(takenMs + this.#durationMs);
        return;
      } catch (error) {
        if (toAppError(error).code !== "journal_conflict" || tries === JOIN_TRIES) throw error;
      }
    }
  }

  async #store(entry: Pick<StateEntry, "revision"> | null): Promise<number> {
    const { bucket, facts, directory } = this.#options;
    const [key, value] = [memberKey(facts.id), encodeMember(this.#record())];
    const { highest } = directory;
    const revision = await (entry === null
      ? bucket.create(key, value)
      : bucket.update(key, value, entry.revision));
    directory.stored(revision, highest);
    return revision;
  }

  #record(): MemberRecord {
    const { facts, progress } = this.#options;
    return {
      ...facts,
      ...progress(),
      ...this.#epochs,
      session: this.#session,
      process: this.process,
      state: "live",
      durationMs: this.#durationMs,
      accepting: this.#accepting,
    };
  }

  async #renewNowAndThen(): Promise<void> {
    const { clock, log } = this.#options;
    const { signal } = this.#abort;
    const intervalMs = this.#durationMs / RENEWALS;
    let waitMs = intervalMs;
    while (!signal.aborted) {
      await clock.sleep(waitMs, signal);
      if (signal.aborted) return;
      const startedMs = clock.monotonic();
      try {
        await this.#write(() => this.#renew());
        // A renewal counts from its beginning: after one that took long the next is due at once.
        waitMs = Math.max(0, intervalMs - (clock.monotonic() - startedMs));
      } catch (error) {
        log.debug({ err: toAppError(error) }, "the membership couldn't be renewed yet");
        waitMs = Math.min(RETRY_MS, intervalMs);
      }
    }
  }

  /** Runs one write after the other, so that each has the current revision. */
  #write(write: () => Promise<void>): Promise<void> {
    const done = this.#writes.then(write);
    this.#writes = done.catch(() => undefined);
    return done;
  }

  /** `isAgain`: the conflict that the renewal before met is settled; another one is thrown. */
  async #renew(isAgain = false): Promise<void> {
    const { clock } = this.#options;
    if (this.#displaced) throw new AppError("closed", "another process has this hub's identity");
    const startedMs = clock.monotonic();
    try {
      this.#revision = await this.#store({ revision: this.#revision });
      this.#setValidUntil(startedMs + this.#durationMs);
    } catch (error) {
      if (toAppError(error).code !== "journal_conflict" || isAgain) throw error;
      await this.#settleConflict();
    }
  }

  /** Finds out who changed the record: this process, whose answer was lost; another hub, which took over; a second process. */
  async #settleConflict(): Promise<void> {
    const { bucket, facts, log } = this.#options;
    const entry = await bucket.get(memberKey(facts.id));
    const found = readMember(entry);
    if (
      entry !== null &&
      found?.process === this.process &&
      found.state === "live" &&
      found.session === this.#session
    ) {
      this.#revision = entry.revision;
      await this.#renew(true); // when the one that was stored began isn't known
      return;
    }
    this.#setValidUntil(0);
    if (found !== undefined && found.process !== this.process) {
      this.#displaced = true;
      log.error(
        { node: facts.name, id: facts.id },
        "another process has joined with the identity of this hub: its data folder was copied. Stop one of them and remove cluster.json from the copy",
      );
      this.#notify();
      return;
    }
    log.warn(
      { node: facts.name, session: this.#session },
      "other hubs took this one for dead; it joins again",
    );
    this.#epochs = { adopted: 0, active: 0 };
    await this.#join();
    this.#notify();
  }

  async #watchExpiry(): Promise<void> {
    const { clock } = this.#options;
    const { signal } = this.#abort;
    while (!signal.aborted) {
      const leftMs = this.#validUntil - clock.monotonic();
      if (leftMs <= 0) this.#noteLapse();
      await clock.sleep(leftMs > 0 ? leftMs : this.#durationMs / RENEWALS, signal);
    }
  }

  #setValidUntil(ms: number): void {
    this.#noteLapse(); // without a timer that ran: whoever works under it must start again
    this.#validUntil = ms;
    this.#noteValidity();
  }

  #noteLapse(): void {
    if (this.isValid || !this.#wasValid) return;
    const text = "the membership couldn't be renewed in time: this hub stops processing until it can";
    this.#options.log.warn({}, text);
    this.#noteValidity();
  }

  #noteValidity(): void {
    if (this.isValid === this.#wasValid) return;
    this.#wasValid = this.isValid;
    this.#notify();
  }

  #notify(): void {
    for (const listener of this.#listeners) listener();
  }

  /** The record of a dead hub reserves its name until it is seen not to be renewed. */
  async #refuseTakenName(): Promise<void> {
    const { directory, facts, clock } = this.#options;
    const others = (): Map<string, number> =>
      new Map(
        directory
          .all()
          .filter(
            ({ record }) => record.id !== facts.id && record.name === facts.name && record.state === "live",
          )
          .map(({ record, revision }) => [record.id, revision]),
      );
    const before = others();
    if (before.size === 0) return;
    await clock.sleep((this.#durationMs / RENEWALS) * 1.5, this.#abort.signal);
    await directory.refresh();
    for (const [id, revision] of others()) {
      if (before.get(id) === revision) continue;
      throw new AppError(
        "settings_invalid",
        `a hub named "${facts.name}" is a member of this cluster already: give each hub a node.name of its own`,
      );
    }
  }
}
