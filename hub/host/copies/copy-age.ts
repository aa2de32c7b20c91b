/**
 * Determines whether searches of this hub's copies find the writes of other hubs. Reads the end of the log regularly; the copies
 * are as old as the last such check whose end they have reached. Copies that were behind also need a refresh then: while they
 * caught up, a search found what they had at the refresh before, however old.
 */

import type { Clock } from "#proto/kit/clock.ts";
import { AppError, toAppError } from "#proto/kit/errors.ts";
import { BackgroundTask, type Component } from "#proto/kit/lifecycle.ts";
import type { Logger } from "#proto/kit/log.ts";
import { comparePositions, type Position } from "#proto/position.ts";

const LOOK_MS = 1_000;
/** Older copies may lack writes: a check, a report of the threads and a refresh take some 2 s together. */
const MAX_AGE_MS = 5_000;
/** Maximum of checks whose ends aren't reached yet. With more, the copies are too old in any case. */
const MAX_LOOKS = 32;

/** Why the copies may lack writes. */
export interface CopiesBehind {
  readonly error: AppError;
  /** True if the log can be read: the other hubs may have the missing writes. */
  readonly othersAnswer: boolean;
}

export interface CopyAgeOptions {
  /** Returns the position of the last message of DOC. Throws unavailable or timeout. */
  readonly logEnd: () => Promise<Position>;
  /** Returns the position up to which everything is applied. */
  readonly applied: () => Position;
  /** True if other hubs may write, whether they can be reached or not. */
  readonly isShared: () => boolean;
  /** Makes searches find what is applied. */
  readonly refresh: () => Promise<unknown>;
  readonly clock: Clock;
  readonly log: Logger;
}

interface Look {
  readonly end: Position;
  /** When it began, monotonic ms. */
  readonly atMs: number;
}

export class CopyAge implements Component {
  readonly #options: CopyAgeOptions;
  readonly #task = new BackgroundTask();
  readonly #looks: Look[] = [];
  /** Start of the last successful check, and of the last check whose end was reached; monotonic ms. */
  #lookedMs = Number.NEGATIVE_INFINITY;
  #wholeMs = Number.NEGATIVE_INFINITY;
  /** The copies were too old, and weren't refreshed since they caught up. */
  #isLate = true;
  /** They were too old while they were being refreshed. */
  #isLateAgain = false;
  #refreshing: Promise<void> | undefined;
  /** Why they couldn't be refreshed; empty: nothing. */
  #refreshFault = "";

  constructor(options: CopyAgeOptions) {
    this.#options = options;
  }

  start(): Promise<void> {
    this.#task.start((signal) => this.#run(signal));
    return Promise.resolve();
  }

  async stop(): Promise<void> {
    await this.#task.stop(); // a refresh ends with the threads
  }

  /** Records that the copies have everything that was in the log at `atMs`, monotonic. */
  reached(atMs: number): void {
    this.#noteLate();
    this.#lookedMs = Math.max(this.#lookedMs, atMs);
    this.#wholeMs = Math.max(this.#wholeMs, atMs);
  }

  /** Returns why a search of the copies may miss writes; undefined if it doesn't. */
  behind(): CopiesBehind | undefined {
    const { clock, isShared } = this.#options;
    const nowMs = clock.monotonic();
    if (!isShared()) return undefined;
    this.#dropReached();
    this.#noteLate();
    if (!this.#isLate) return undefined;
    const othersAnswer = !this.#isOld(this.#lookedMs);
    const since = Number.isFinite(this.#wholeMs)
      ? `in the last ${Math.round((nowMs - this.#wholeMs) / 1_000)} s`
      : "before it started";
    const text = `the copies of this hub may lack what other hubs wrote ${since}: ${this.#whyLate()}`;
    return { error: new AppError("unavailable", text), othersAnswer };
  }

  #whyLate(): string {
    if (this.#refreshFault !== "") return `they can't be refreshed: ${this.#refreshFault}`;
    if (this.#isOld(this.#lookedMs)) return "the end of the log can't be read";
    return this.#isOld(this.#wholeMs) ? "it is still reading the log" : "they aren't refreshed yet";
  }

  async #run(signal: AbortSignal): Promise<void> {
    const { clock, isShared, log } = this.#options;
    while (!signal.aborted) {
      try {
        if (isShared()) await this.#look();
        else this.#noteAlone();
      } catch (error) {
        log.debug({ err: toAppError(error) }, "the end of the log can't be read now");
      }
      this.#refreshLate();
      await clock.sleep(LOOK_MS, signal);
    }
  }

  /** This hub is the only writer, so it has all writes. */
  #noteAlone(): void {
    this.#wholeMs = this.#options.clock.monotonic();
    this.#isLate = false;
  }

  async #look(): Promise<void> {
    const { clock, logEnd } = this.#options;
    const atMs = clock.monotonic();
    const end = await logEnd();
    this.#lookedMs = atMs;
    this.#looks.push({ end, atMs });
    this.#dropReached();
    if (this.#looks.length > MAX_LOOKS) this.#looks.shift();
  }

  /** Begins a refresh of copies that were too old and have caught up. The regular ones follow those that aren't. */
  #refreshLate(): void {
    if (!this.#isLate || this.#isOld(this.#wholeMs) || this.#refreshing !== undefined) return;
    this.#refreshing = this.#refresh().finally(() => (this.#refreshing = undefined));
  }

  async #refresh(): Promise<void> {
    this.#isLateAgain = false;
    try {
      await this.#options.refresh();
    } catch (thrown) {
      const error = toAppError(thrown);
      if (this.#refreshFault !== error.message)
        this.#options.log.warn({ err: error }, "copies of this hub that have caught up can't be refreshed");
      this.#refreshFault = error.message;
      return;
    }
    this.#refreshFault = "";
    this.#isLate = this.#isLateAgain;
  }

  #noteLate(): void {
    if (this.#isOld(this.#wholeMs)) this.#isLate = this.#isLateAgain = true;
  }

  #isOld(ms: number): boolean {
    return this.#options.clock.monotonic() - ms > MAX_AGE_MS;
  }

  /** Drops the checks whose ends are reached. */
  #dropReached(): void {
    const applied = this.#options.applied();
    for (let [look] = this.#looks; look !== undefined; [look] = this.#looks) {
      if (comparePositions(applied, look.end) < 0) return;
      this.reached(look.atMs);
      this.#looks.shift();
    }
  }
}
