/**
 * Turns of the searches of this thread: one continues in each turn of the event loop. Between two slices of searches
 * everything else is served, however many searches there are: messages of the log, other calls, timers. A slice ends early
 * when a few documents come, whose writer waits for them. The search that has used the least of the thread goes first, so
 * that a short one doesn't wait for long ones; now and then it is the one that has waited longest.
 *
 * While documents are written and the machine has more work than CPUs, long searches rest, so that the threads that write
 * documents get the CPU. Each time long searches have used WRITING_SLICE_MS together, a single one rests for as long as
 * it ran, several for three times as long: a single one uses at most half of the thread, several a quarter. A search is
 * long once it has used its part of LONG_MS, which all waiting searches share: otherwise many short searches would never
 * rest.
 */

import { ThreadContention } from "./thread-contention.ts";

/** How long a search keeps the thread at a time, ms. */
const SLICE_MS = 8;
/** The same while documents are written: each message of the log waits for the slice under way. */
const WRITING_SLICE_MS = 2;
/** A search keeps the thread for this long at least, so that it ends while documents come without end. */
const LEAST_SLICE_MS = 0.25;
/** Time, ms, after the last message for which documents count as being written. */
const WRITING_MS = 500;
/** Every this many turns the one that has waited longest is next, whatever it has used. */
const OLDEST_EVERY = 4;

/**
 * Time, ms, that the waiting searches may use together before they may have to rest; each has an equal part. A panel of a
 * dashboard takes less. With 250, eight hostile viewers left a writer of small requests 0.45 of its speed, with this 0.54.
 */
const LONG_MS = 60;
/** Longest rest, ms; several searches rest so many times as long. */
const REST_MS = 8;
/** Rest of several searches, in times of their slices. With 1, eight hostile viewers left a writer 0.42 of its speed. */
const SEVERAL_RESTS = 3;
/** A search that has used less holds little memory, ms. */
const SHORT_MS = 50;

/** A search that waits for its turn. */
export interface Turn {
  /** Time that it has had the thread for, ms. */
  readonly usedMs: number;
  /** It was cancelled, or its time is over: it only has to end. */
  readonly isOver: boolean;
}

interface Waiting {
  readonly turn: Turn;
  readonly resume: () => void;
}

/** The search that has the thread, with what it had used before. */
interface Resumed {
  readonly turn: Turn;
  readonly usedMs: number;
}

const FIRST: Turn = { usedMs: 0, isOver: false };
/** In the order in which they paused. */
const waiting: Waiting[] = [];
let turns = 0;
let isMemoryTight = false;
const contention = new ThreadContention();
let isContended = (): boolean => contention.isContended;
let resumed: Resumed | undefined;
/** What searches that have used much have had since their last rest began, ms. */
let owedMs = 0;
/** The end of that rest; others may have the thread until then. */
let restEndMs = Number.NEGATIVE_INFINITY;
let resting: NodeJS.Timeout | undefined;
let restedMs = 0;
let writtenAtMs = Number.NEGATIVE_INFINITY;
let areDocumentsComing = (): boolean => false;

/** Resolves when it is the caller's turn. */
export function nextTurn(turn: Turn = FIRST): Promise<void> {
  return new Promise((resume) => {
    waiting.push({ turn, resume });
    if (turn === resumed?.turn && isLong(turn)) owedMs += turn.usedMs - resumed.usedMs;
    resumed = undefined;
    if (resting !== undefined && !isLong(turn)) wake();
    else if (waiting.length === 1) setImmediate(continueOne);
  });
}

/** Returns the sum of all rests of searches on this thread, ms. */
export function searchRestMs(): number {
  return restedMs;
}

/** Records that the thread got documents to write, which searches must not delay. */
export function noteWriting(nowMs = performance.now()): void {
  writtenAtMs = nowMs;
}

/**
 * Sets how to see whether documents are in transit to this thread, before it takes the message: a search then leaves
 * the thread to them.
 */
export function expectDocuments(look: () => boolean): void {
  areDocumentsComing = look;
}

/** Returns whether a search that has the thread since `sinceMs` should leave it to documents. */
export function mustYield(nowMs: number, sinceMs: number): boolean {
  return nowMs - sinceMs >= LEAST_SLICE_MS && areDocumentsComing();
}

/** Replaces the measurement whether this thread has to wait for a processor; for tests. */
export function measureContention(measure: () => boolean): void {
  isContended = measure;
}

/**
 * Sets whether memory is tight. If it is, the search that has used most goes first, except for short ones: it is the next to
 * end and release its memory, while concurrent searches would all grow to their full size.
 */
export function endFirst(isTight: boolean): void {
  isMemoryTight = isTight;
}

/** Returns how long a search may keep the thread now, ms. */
export function sliceMs(nowMs = performance.now()): number {
  return isWriting(nowMs) ? WRITING_SLICE_MS : SLICE_MS;
}

/** Returns whether no search that waits has used more of the thread. */
export function hasUsedMost({ usedMs }: Turn): boolean {
  return waiting.every(({ turn }) => turn.usedMs <= usedMs);
}

let turnStartMs = -1;

/**
 * Returns how long the searches of this turn have had the thread, ms. A request of many short searches, none of which
 * waits for anything, is one turn.
 */
export function turnMs(nowMs = performance.now()): number {
  if (turnStartMs < 0) {
    turnStartMs = nowMs;
    setImmediate(endTurn);
  }
  return nowMs - turnStartMs;
}

function endTurn(): void {
  turnStartMs = -1;
}

function continueOne(): void {
  let at = chosen();
  const restMs = restOf(waiting[at]);
  if (restMs > 0) {
    const short = waiting.findIndex(({ turn }) => !isLong(turn));
    if (short < 0) {
      resting = setTimeout(wake, Math.ceil(restMs));
      return;
    }
    at = short;
  }
  const [next] = waiting.splice(at, 1);
  // What it does next happens before the next turn.
  if (waiting.length > 0) setImmediate(continueOne);
  if (next === undefined) return;
  resumed = { turn: next.turn, usedMs: next.turn.usedMs };
  next.resume();
}

/** Looks again which search is next: a rest is over, or one came that needn't rest. */
function wake(): void {
  clearTimeout(resting);
  resting = undefined;
  setImmediate(continueOne);
}

/** Returns how long the thread is left to others before a search continues, ms. */
function restOf(next: Waiting | undefined): number {
  if (next === undefined || !isLong(next.turn)) return 0;
  const nowMs = performance.now();
  if (owedMs >= WRITING_SLICE_MS) {
    const mustRest = isWriting(nowMs) && isContended();
    if (mustRest) rest(nowMs, restTimes() * Math.min(REST_MS, owedMs));
    owedMs = 0;
  }
  return restEndMs - nowMs;
}

function rest(nowMs: number, ms: number): void {
  restEndMs = nowMs + ms;
  restedMs += ms;
}

/** Returns how many times as long as its slices the searches that have used much rest. */
function restTimes(): number {
  return waiting.filter(({ turn }) => isLong(turn)).length > 1 ? SEVERAL_RESTS : 1;
}

function isLong({ usedMs, isOver }: Turn): boolean {
  return usedMs * waiting.length > LONG_MS && !isOver;
}

function isWriting(nowMs: number): boolean {
  return nowMs - writtenAtMs < WRITING_MS;
}

function chosen(): number {
  const over = waiting.findIndex(({ turn }) => turn.isOver);
  if (over >= 0) return over;
  if (++turns % OLDEST_EVERY === 0) return 0;
  const used = waiting.map(({ turn }) => turn.usedMs);
  const least = Math.min(...used);
  return used.indexOf(isMemoryTight && least > SHORT_MS ? Math.max(...used) : least);
}
