/**
 * The live socket: message types, limits and close codes that hub and dashboard agree on. JSON text frames over one
 * WebSocket per tab at LIVE_PATH with the subprotocol LIVE_PROTOCOL; names are short because they are sent over the
 * wire. It carries live lines, requests of the HTTP interface (calls), searches with partial results, and answers that
 * are sent again whenever they change (watches).
 */

export const LIVE_PATH = "/api/live";
export const LIVE_PROTOCOL = "tailrace.v1";

/** Opaque: the position of an event in the sequence of one hub. `tail.open` takes it to continue after that event. */
export type Cursor = string;

/** 0 unknown, 1 trace, 2 debug, 3 info, 4 warn, 5 error, 6 fatal. */
export type Level = 0 | 1 | 2 | 3 | 4 | 5 | 6;

/** Bit 0 of a row's flags: the message was cut at `LiveLimits.messageSize`. */
export const ROW_TRUNCATED = 1;

/**
 * One line: document id, @timestamp in ms since 1970, level, number of its source in the batch's `srcs`, message,
 * the requested fields (null: none), flags (a sum of ROW_…).
 */
export type Row = [
  id: string,
  ts: number,
  level: Level,
  src: number,
  msg: string,
  extra: Readonly<Record<string, unknown>> | null,
  flags: number,
];

/** Where lines come from; each may be empty if the document doesn't say. */
export type RowSource = [index: string, host: string, path: string];

/** Why rows were left out. */
export type GapReason = "slow_client" | "rate_cap" | "paused" | "reconnect" | "hub_restart" | "other_hub";

export interface LiveLimits {
  /** Largest message from a client, bytes. */
  readonly inboundSizeBytes: number;
  /** A batch leaves when its first row is so old, ms … */
  readonly batchDelayMs: number;
  /** … or holds this many rows … */
  readonly batchRows: number;
  /** … or this many bytes. */
  readonly batchSizeBytes: number;
  /** Longer message texts are cut, characters. */
  readonly messageSize: number;
  /** Rows a subscription may hold at the hub. */
  readonly ringRows: number;
  /** Bytes a subscription may hold at the hub. */
  readonly ringSizeBytes: number;
  /** Most rows a client may have on credit. */
  readonly creditRows: number;
  /** Nothing is sent while this many bytes wait in the socket. */
  readonly bufferedStopBytes: number;
  /** A socket stopped for this long is closed, ms. */
  readonly slowCloseMs: number;
  /** Rows per second where the client requests no other rate. */
  readonly defaultRate: number;
  /** Highest rate a client may ask for, rows per second. */
  readonly maxRate: number;
  readonly subscriptionsPerSocket: number;
  readonly socketsPerViewer: number;
  readonly tailsPerHub: number;
  /** Messages per second a client may send, with bursts of twice as many. */
  readonly inboundRate: number;
  /** Between two pings of the hub, ms; two unanswered end the socket. */
  readonly heartbeatMs: number;
  /** Calls and searches that a socket may have under way. */
  readonly callsPerSocket: number;
  /** Largest answer to a call, bytes; a larger one is for HTTP. */
  readonly answerSizeBytes: number;
  readonly watchesPerSocket: number;
  /** Shortest interval in which a watched answer is looked at, ms. */
  readonly watchMinMs: number;
  /** Shortest time between two parts of a search, ms. */
  readonly partMinMs: number;
}

export const DEFAULT_LIMITS: LiveLimits = {
  inboundSizeBytes: 64 * 1024,
  batchDelayMs: 50,
  batchRows: 500,
  batchSizeBytes: 256 * 1024,
  messageSize: 8 * 1024,
  ringRows: 5_000,
  ringSizeBytes: 2 * 1024 * 1024,
  creditRows: 20_000,
  bufferedStopBytes: 512 * 1024,
  slowCloseMs: 30_000,
  defaultRate: 2_000,
  maxRate: 20_000,
  subscriptionsPerSocket: 8,
  socketsPerViewer: 50,
  tailsPerHub: 1_000,
  inboundRate: 200,
  heartbeatMs: 15_000,
  callsPerSocket: 16,
  answerSizeBytes: 2 * 1024 * 1024,
  watchesPerSocket: 8,
  watchMinMs: 1_000,
  partMinMs: 120,
};

/** Status of the answer to a call that only HTTP can answer: it is too large, or calls aren't offered. */
export const USE_HTTP_STATUS = 505;

/** Credit a client starts a tail with; topped up when half of it is used. */
export const START_CREDIT_ROWS = 5_000;

/** What a client has used of its credit. */
export class UsedCredit {
  #rows = 0;

  /** Counts received rows; returns how much credit to grant again, 0: none yet. */
  take(rows: number): number {
    this.#rows += rows;
    if (this.#rows < START_CREDIT_ROWS / 2) return 0;
    const used = this.#rows;
    this.#rows = 0;
    return used;
  }

  /** Resets the count, for another `tail.open`. */
  reset(): void {
    this.#rows = 0;
  }
}

/** Close codes of the hub beside those of RFC 6455 (1001 going away, 1009 too big). */
export const CLOSE = {
  goingAway: 1001,
  tooBig: 1009,
  badMessage: 4400,
  signedOut: 4401,
  forbidden: 4403,
  tooSlow: 4408,
  tooMany: 4409,
  tooFast: 4429,
} as const;

/** After these closes another try would end the same. */
export const FINAL_CLOSES: ReadonlySet<number> = new Set([
  CLOSE.badMessage,
  CLOSE.signedOut,
  CLOSE.forbidden,
]);

export interface TailOpen {
  t: "tail.open";
  /** Number the client gives this tail, unique on its socket. */
  sub: number;
  /** Index names and patterns; `-pattern` leaves out. Empty: all. */
  index: string[];
  /** The filter; empty: everything. */
  q: string;
  /** Further fields to send in each row. */
  fields?: string[];
  /** Continue after a cursor, or begin with the last matching lines, this many of those that the hub still holds. */
  from?: Cursor | { last: number };
  /** Rows per second at most. */
  maxRate?: number;
  /** Rows the client is ready to take. */
  credit: number;
}

/** A request of the HTTP interface: below `/api/`, without the sign-in, or below `/es/`. */
export interface Call {
  t: "call";
  /** Number the client gives it, unique on its socket. Searches and calls share their numbers. */
  id: number;
  method: "GET" | "POST" | "PUT" | "DELETE";
  path: string;
  /** JSON text. */
  body?: string;
}

/** A search whose parts are sent as they come, the newest indices first. */
export interface SearchCall {
  t: "search";
  id: number;
  /** An index expression. */
  index: string;
  /** JSON text of the search's body. */
  body: string;
}

/** A GET whose answer is sent now, and again whenever it has changed. */
export interface WatchOpen {
  t: "watch.open";
  sub: number;
  path: string;
  /** Interval of the looks at it, ms. */
  everyMs: number;
}

export type ClientMessage =
  | { t: "hello"; v: 1 }
  | Call
  | SearchCall
  | { t: "call.cancel"; id: number }
  | WatchOpen
  | { t: "watch.close"; sub: number }
  | TailOpen
  | { t: "tail.credit"; sub: number; add: number }
  | { t: "tail.pause" | "tail.resume" | "tail.close"; sub: number }
  | { t: "ping"; n: number };

export interface TailRows {
  t: "tail.rows";
  sub: number;
  /** Counts the batches of a tail, from 1. */
  seq: number;
  cursor: Cursor;
  srcs: RowSource[];
  rows: Row[];
}

export interface TailGap {
  t: "tail.gap";
  sub: number;
  /** Rows left out here; 0: unknown how many. */
  n: number;
  /** Range of their @timestamp, ms since 1970; 0: unknown. */
  fromTs: number;
  toTs: number;
  why: GapReason;
}

export interface TailStats {
  t: "tail.stats";
  sub: number;
  /** Since the tail was opened: rows that matched, were sent, were left out. */
  matched: number;
  sent: number;
  dropped: number;
  /** Age of the oldest row that waits at the hub, ms. */
  lagMs: number;
}

export interface LiveError {
  t: "error";
  sub?: number;
  code: string;
  message: string;
  /** Where in the filter: from and to, characters. */
  at?: [number, number];
  hint?: string;
}

/**
 * The head of a frame whose JSON body follows a line feed, as the hub made it: the answer to a call, the parts of a
 * search so far, or what a watch shows now.
 */
export type BodyHead =
  | { t: "answer"; id: number; status: number }
  | {
      t: "part";
      id: number;
      /** Indices that were searched, of all that are meant. */
      done: number;
      of: number;
    }
  | { t: "watched"; sub: number; status: number };

export type HubMessage =
  | {
      t: "welcome";
      v: 1;
      session: string;
      limits: LiveLimits;
      serverTime: number;
      /** False where the socket carries live lines only. */
      calls: boolean;
    }
  | BodyHead
  | { t: "tail.opened"; sub: number; cursor: Cursor }
  | TailRows
  | TailGap
  | TailStats
  | LiveError
  | { t: "bye"; reason: string; retryAfterMs: number }
  | { t: "pong"; n: number };

/** Names of the levels by their number; unknown has none. */
export const LEVEL_NAMES = ["", "trace", "debug", "info", "warn", "error", "fatal"] as const;

const LEVEL_WORDS: Readonly<Record<1 | 2 | 3 | 4 | 5 | 6, string>> = {
  1: "trace finest verbose",
  2: "debug fine",
  3: "info information notice",
  4: "warn warning",
  5: "error err severe",
  6: "fatal critical crit alert emerg emergency panic",
};

const LEVELS: ReadonlyMap<string, Level> = new Map(
  Object.entries(LEVEL_WORDS).flatMap(([level, words]) =>
    words.split(" ").map((word): [string, Level] => [word, Number(level) as Level]),
  ),
);

/** Returns the level that a document's word for it means, in any case; 0 if it means none. */
export function levelOf(word: unknown): Level {
  if (typeof word !== "string") return 0;
  return LEVELS.get(word.toLowerCase()) ?? 0;
}
