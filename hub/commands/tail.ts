/** `tailrace-hub tail ['QUERY']`: prints log lines as they arrive, over the dashboard's live socket. */

import WebSocket from "ws";
import { loadCommandSettings } from "#hub/node/settings/reach-file.ts";
import { systemClock } from "#proto/kit/clock.ts";
import { AppError } from "#proto/kit/errors.ts";
import { printable, printableJson } from "#proto/kit/printable.ts";
import { Backoff } from "#proto/kit/retry.ts";
import {
  CLOSE,
  type ClientMessage,
  type Cursor,
  FINAL_CLOSES,
  type HubMessage,
  LIVE_PATH,
  LIVE_PROTOCOL,
  START_CREDIT_ROWS,
  type TailGap,
  type TailRows,
  UsedCredit,
} from "#proto/live.ts";
import { overridesOf, PLACE_OPTIONS, parseOptions, usageError } from "./arguments.ts";
import { type AskedHub, addressOf, askedHub, credentials, refusal, unreachable } from "./running-hub.ts";
import { newestLines } from "./search.ts";

export interface TailCommand {
  readonly name: "tail";
  /** Query in query_string syntax; empty: every line. */
  readonly query: string;
  readonly index: string;
  /** Number of stored lines printed first. */
  readonly last: number;
  readonly json: boolean;
  readonly config: string | undefined;
  readonly overrides: readonly string[];
}

/** Output of a tail: lines for standard output, remarks for standard error. */
export interface TailOutput {
  line(text: string): void;
  remark(text: string): void;
}

const OPTIONS = {
  ...PLACE_OPTIONS,
  index: { type: "string" },
  last: { type: "string" },
  json: { type: "boolean" },
} as const;

const DEFAULT_LAST = "10";
const MAX_LAST = 1_000;
const SUB = 1;
const RETRY = { firstMs: 250, capMs: 15_000 };

/** Parses the arguments after `tail`. Throws usage_invalid. */
export function parseTailCommand(args: readonly string[]): TailCommand {
  const { values, positionals } = parseOptions(args, OPTIONS);
  const [query = "", extra] = positionals;
  if (extra !== undefined) throw usageError(`unexpected argument "${extra}"; quote the query`);
  const { last = DEFAULT_LAST, index = "logs-*" } = values;
  const count = Number(last);
  if (!Number.isInteger(count) || count < 0 || count > MAX_LAST)
    throw usageError(`--last ${last}: write a number from 0 to ${MAX_LAST}`);
  return {
    name: "tail",
    query,
    index,
    last: count,
    json: values.json === true,
    config: values.config,
    overrides: overridesOf(values),
  };
}

/**
 * Prints lines until `signal` is aborted; resumes after the last line when the connection breaks. Throws unavailable
 * if no hub answers the first time, unauthenticated, forbidden, or request_invalid for an invalid query.
 */
export async function runTailCommand(
  command: TailCommand,
  env: NodeJS.ProcessEnv,
  output: TailOutput,
  signal: AbortSignal,
): Promise<void> {
  const settings = loadCommandSettings({ file: command.config, overrides: command.overrides }, env);
  const url = `${addressOf(settings, "dashboard").replace(/^http/, "ws")}${LIVE_PATH}`;
  const { last, ...wanted } = command;
  if (last > 0) {
    const stored = await newestLines({ ...wanted, size: last }, {}, settings, env);
    for (const line of stored) output.line(line);
  }
  const tail = new Tail(command, url, askedHub(settings, env), output);
  const backoff = new Backoff(RETRY);
  while (!signal.aborted) {
    const opened = await tail.run(signal);
    if (signal.aborted) return;
    if (opened) backoff.reset();
    output.remark("the connection to the hub broke; reconnecting");
    await systemClock.sleep(backoff.next(), signal).catch(() => undefined);
  }
}

class Tail {
  readonly #command: TailCommand;
  readonly #url: string;
  readonly #hub: AskedHub;
  readonly #output: TailOutput;
  #cursor: Cursor | undefined;
  /** True once connected: from then on an unreachable hub is expected to come back. */
  #worked = false;
  readonly #credit = new UsedCredit();

  constructor(command: TailCommand, url: string, hub: AskedHub, output: TailOutput) {
    this.#command = command;
    this.#url = url;
    this.#hub = hub;
    this.#output = output;
  }

  /** Runs one connection to its end; resolves with whether it opened. */
  run(signal: AbortSignal): Promise<boolean> {
    const { promise, resolve, reject } = Promise.withResolvers<boolean>();
    const { env, trust } = this.#hub;
    const socket = new WebSocket(this.#url, LIVE_PROTOCOL, { headers: credentials(env), ...trust });
    const send = (message: ClientMessage): void => socket.send(JSON.stringify(message));
    const end = (): void => socket.close();
    signal.addEventListener("abort", end, { once: true });
    let opened = false;
    socket.on("open", () => {
      opened = this.#worked = true;
      this.#open(send);
    });
    socket.on("message", (data: Buffer) => {
      try {
        this.#take(JSON.parse(data.toString()) as HubMessage, send);
      } catch (error) {
        reject(error);
        socket.terminate();
      }
    });
    socket.on("unexpected-response", (request, { statusCode = 0 }) => {
      reject(refusal(statusCode, `status ${statusCode}`));
      request.destroy();
    });
    socket.on("error", (error) => {
      // An abort while the connection opens is a wanted end.
      if (!this.#worked && !signal.aborted) reject(unreachable(this.#url, error));
    });
    socket.on("close", (code, reason) => {
      signal.removeEventListener("abort", end);
      if (FINAL_CLOSES.has(code))
        reject(refusal(code === CLOSE.signedOut ? 401 : code % 1_000, reason.toString()));
      resolve(opened);
    });
    return promise;
  }

  #open(send: (message: ClientMessage) => void): void {
    const { index, query } = this.#command;
    this.#credit.reset();
    send({ t: "hello", v: 1 });
    send({
      t: "tail.open",
      sub: SUB,
      index: index.split(","),
      q: query,
      from: this.#cursor ?? { last: 0 },
      credit: START_CREDIT_ROWS,
    });
  }

  #take(message: HubMessage, send: (message: ClientMessage) => void): void {
    if (message.t === "tail.opened") this.#cursor ??= message.cursor;
    else if (message.t === "tail.rows") this.#takeRows(message, send);
    else if (message.t === "tail.gap") this.#output.remark(gapText(message));
    else if (message.t === "error")
      throw new AppError(
        "request_invalid",
        printable(`the hub refused: ${message.message}${hintOf(message.hint)}`),
      );
  }

  #takeRows({ cursor, rows, srcs }: TailRows, send: (message: ClientMessage) => void): void {
    for (const [id, timestampMs, , source, message] of rows) {
      const [index, host, path] = srcs[source] ?? ["", "", ""];
      const time = new Date(timestampMs).toISOString();
      this.#output.line(
        this.#command.json
          ? printableJson({ "@timestamp": time, _index: index, _id: id, host, path, message })
          : printable([time, host, message].filter((part) => part !== "").join(" ")),
      );
    }
    this.#cursor = cursor;
    const add = this.#credit.take(rows.length);
    if (add > 0) send({ t: "tail.credit", sub: SUB, add });
  }
}

function gapText({ n, why }: TailGap): string {
  return `${n === 0 ? "some" : n.toLocaleString("en")} lines were left out (${why.replaceAll("_", " ")})`;
}

function hintOf(hint: string | undefined): string {
  return hint === undefined ? "" : `; ${hint}`;
}
