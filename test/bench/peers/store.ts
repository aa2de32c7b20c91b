/** A log store that takes the access logs and answers the questions of the benchmark `access`. */

import type { AccessCase } from "../access-cases.ts";

/** Documents as a store takes them: actions of a bulk request before them, or one JSON object a line. */
export type BodyFormat = "bulk" | "ndjson";

/** What a store answered: a total, the largest counts, or how many values there are; see `ExpectedAnswers`. */
export type Answer = unknown;

/** A question in the language of a store. */
export interface Question {
  /** Asks, and resolves with the whole answer, not yet read. This is what is measured. */
  readonly ask: () => Promise<string>;
  /** Reads it as `ExpectedAnswers` has it. May ask once more where the answer doesn't hold a total. */
  readonly read: (answer: string) => Promise<Answer>;
}

/** A store that runs on this machine. */
export interface Store {
  /** With its version: "Elasticsearch 6.5.4". */
  readonly name: string;
  readonly format: BodyFormat;
  /** Its processes here; none where they can't be found: then there is no CPU and no memory of it. */
  readonly pids: () => readonly number[];
  /** Makes the empty index or table; removes an old one of this benchmark. */
  readonly create: () => Promise<void>;
  /** Sends documents; resolves when the store has taken them. Throws where it refused one. */
  readonly send: (body: string) => Promise<void>;
  /** Resolves when everything that was sent is found. */
  readonly refresh: () => Promise<void>;
  /** What its files take, bytes; undefined where it doesn't say. */
  readonly diskBytes: () => Promise<number | undefined>;
  readonly question: (about: AccessCase) => Question;
  /** Ends what was started; removes what was made in a store that runs on. */
  readonly close: () => Promise<void>;
}

/** The index or table that the benchmark makes, and removes, in a store. */
export const INDEX = "tailrace_bench_access";
