/**
 * Forwards the lines that nats-server prints to the hub's log, and reads from them how many messages each stream had at the
 * start.
 */

import type { Readable } from "node:stream";
import type { Logger } from "#proto/kit/log.ts";

/** A line as `[pid] [LEVEL] text`. */
const LINE = /^(?:\[\d+\] )?(?:\S+ \S+ )?\[(INF|WRN|ERR|FTL|DBG|TRC)\] (.*)$/;

/** Longer lines are cut: the server quotes what clients send. */
const MAX_LINE_CHARACTERS = 2_000;

/** Lines kept to explain a failed start. */
const KEPT_LINES = 5;

/** Warnings that need no action: the configuration, which contains the hub's password, is readable only by its user. */
const HARMLESS = /^Plaintext passwords detected/;

/**
 * The server prints this for each stream before it accepts connections, 2.9 to 2.12: "Restored 1,234 messages for stream 'A
 * > B'".
 */
const RESTORED = /^\s*Restored ([\d,]+) messages for stream '(?:[^']* > )?([^'>\s]+)'/;

/** First line of what the Go runtime prints when a program ends by a fault of its own. */
const CRASH = /^(?:panic|fatal error): /;

/** Logs every line of `output`; keeps the last ones for error messages. */
export class ServerLog {
  /** Messages that each stream had when the server started, by its name. */
  readonly restored = new Map<string, number>();
  readonly #log: Logger;
  #rest = "";
  #last: string[] = [];
  #crash = "";

  /** `output`: undefined for a server that couldn't be started. */
  constructor(output: Readable | undefined, log: Logger) {
    this.#log = log;
    output?.setEncoding("utf8");
    output?.on("data", (text: string) => this.#take(text));
    output?.on("end", () => this.#take("\n"));
  }

  /** The last warnings and errors, joined on one line. */
  get tail(): string {
    return this.#last.join("; ");
  }

  /** Why the server ended by a fault of its own; empty: it didn't. */
  get crash(): string {
    return this.#crash;
  }

  #take(text: string): void {
    const lines = (this.#rest + text).split("\n");
    this.#rest = lines.pop()!.slice(0, MAX_LINE_CHARACTERS);
    for (const line of lines) this.#print(line.slice(0, MAX_LINE_CHARACTERS));
  }

  #print(line: string): void {
    if (line.trim() === "") return;
    const [, level = "WRN", text = line] = LINE.exec(line) ?? [];
    const [, messages, stream] = RESTORED.exec(text) ?? [];
    if (stream !== undefined) this.restored.set(stream, Number(messages!.replaceAll(",", "")));
    if (level === "INF" || level === "DBG" || level === "TRC" || HARMLESS.test(text)) {
      this.#log.debug({ server: "nats" }, text);
      return;
    }
    this.#last = [...this.#last, text].slice(-KEPT_LINES);
    if (CRASH.test(text)) this.#crash ||= text;
    if (level === "WRN") this.#log.warn({ server: "nats" }, text);
    else this.#log.error({ server: "nats" }, text);
  }
}
