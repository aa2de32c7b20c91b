/** Requests of programs as rows, and what several of them send. */

/** One request. `at` names places in the answer ("a.b.0.c") with what has to stand there; a RegExp has to fit its text. */
export interface Ask {
  readonly ask: string;
  readonly body?: object | string;
  readonly status: number;
  readonly at?: Readonly<Record<string, unknown>>;
}

/** The requests of programs, by the program. */
export type Programs = Readonly<Record<string, readonly Ask[]>>;

export const NDJSON = (...lines: object[]): string =>
  lines.map((line) => `${JSON.stringify(line)}\n`).join("");
export const EVENT = {
  "@timestamp": "2026-01-02T03:04:05.678Z",
  message: "GET / 200",
  level: "info",
  took: 12,
};
