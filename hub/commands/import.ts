/**
 * `tailrace-hub import`: imports a search cluster, Kibana objects or a shipper's settings into a hub. It shows progress
 * on standard error: a bar on a terminal, otherwise a line at intervals.
 */

import { readFileSync } from "node:fs";
import { ClusterClient } from "#hub/import/cluster-client.ts";
import { importCluster } from "#hub/import/import-cluster.ts";
import { importShipperConfig } from "#hub/import/import-config.ts";
import { convertKibana, fetchKibanaObjects, saveImported } from "#hub/import/import-kibana.ts";
import { isComplete, reportOf } from "#hub/import/import-report.ts";
import { type KibanaObject, readExport } from "#hub/import/kibana/exported-objects.ts";
import { loadCommandSettings } from "#hub/node/settings/reach-file.ts";
import { type Clock, systemClock } from "#proto/kit/clock.ts";
import { AppError } from "#proto/kit/errors.ts";
import { printable } from "#proto/kit/printable.ts";
import { systemReason } from "#proto/kit/system-reason.ts";
import type { ImportCommand } from "./import-arguments.ts";
import { addressOf, askedHub, credentials } from "./running-hub.ts";
import { table } from "./terminal.ts";

/** Where progress is written. */
interface ProgressOutput {
  readonly isTTY?: boolean | undefined;
  write(text: string): unknown;
}

const BAR_WIDTH = 30;
/** Time between two updates, ms: of the bar, and of the lines. */
const BAR_MS = 200;
const LINE_MS = 10_000;

export class ImportProgress {
  readonly #output: ProgressOutput;
  readonly #clock: Clock;
  readonly #startMs: number;
  #shownMs: number;
  #hasBar = false;

  constructor(output: ProgressOutput, clock: Clock) {
    this.#output = output;
    this.#clock = clock;
    this.#startMs = clock.monotonic();
    this.#shownMs = this.#startMs;
  }

  /** Shows `done` of `total` documents, unless the last update was too recent. */
  update(done: number, total: number): void {
    const nowMs = this.#clock.monotonic();
    const isTerminal = this.#output.isTTY === true;
    if (nowMs - this.#shownMs < (isTerminal ? BAR_MS : LINE_MS)) return;
    this.#shownMs = nowMs;
    const perSecond = Math.round(done / Math.max(0.001, (nowMs - this.#startMs) / 1000));
    const text = `${done} of ${total} documents, ${perSecond} a second`;
    if (!isTerminal) this.#output.write(`${text}\n`);
    else this.#output.write(`\r[${bar(done, total)}] ${text}\u001b[K`);
    this.#hasBar = isTerminal;
  }

  /** Ends the line of the bar. */
  end(): void {
    if (this.#hasBar) this.#output.write("\n");
    this.#hasBar = false;
  }
}

/** Variables for the credentials of the source: on the command line other users could see them. */
const PASSWORD_VARIABLE = "TAILRACE_SOURCE_PASSWORD";
const KEY_VARIABLE = "TAILRACE_SOURCE_API_KEY";

export interface ImportSurroundings {
  readonly env: NodeJS.ProcessEnv;
  /** Where progress is written. */
  readonly progress: ProgressOutput;
  readonly signal: AbortSignal;
}

export interface ImportOutcome {
  readonly output: string;
  /** True: everything is in the hub. */
  readonly isOk: boolean;
}

/** Runs the command. Throws unavailable, unauthenticated, request_invalid. */
export async function runImportCommand(
  command: ImportCommand,
  surroundings: ImportSurroundings,
): Promise<ImportOutcome> {
  switch (command.action) {
    case "cluster":
      return clusterImport(command, surroundings);
    case "kibana":
      return kibanaImport(command, surroundings);
    case "config":
      return { output: importShipperConfig(fileText(command.from), command.from), isOk: true };
  }
}

function fileText(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw new AppError("request_invalid", `${file} can't be read: ${systemReason(error)}`, {
      cause: error,
    });
  }
}

async function kibanaImport(
  command: ImportCommand,
  { env, signal }: ImportSurroundings,
): Promise<ImportOutcome> {
  const found = convertKibana(await kibanaObjects(command, env, signal));
  const settings = loadCommandSettings({ file: command.config, overrides: command.overrides }, env);
  const { trust } = askedHub(settings, env);
  const hub = new ClusterClient({
    url: addressOf(settings, "dashboard"),
    headers: credentials(env),
    trust,
    signal,
  });
  try {
    const { lines, isWhole } = await saveImported(found, hub);
    return { output: lines.map((each) => `${printable(each)}\n`).join(""), isOk: isWhole };
  } finally {
    hub.close();
  }
}

async function kibanaObjects(
  command: ImportCommand,
  env: NodeJS.ProcessEnv,
  signal: AbortSignal,
): Promise<KibanaObject[]> {
  if (!/^https?:\/\//.test(command.from)) return readExport(fileText(command.from));
  // Kibana refuses API requests without this header.
  const headers = { ...sourceCredentials(command, env), "kbn-xsrf": "tailrace" };
  const kibana = new ClusterClient({ url: command.from, headers, signal });
  try {
    return await fetchKibanaObjects(kibana);
  } finally {
    kibana.close();
  }
}

async function clusterImport(
  command: ImportCommand,
  { env, progress, signal }: ImportSurroundings,
): Promise<ImportOutcome> {
  const settings = loadCommandSettings({ file: command.config, overrides: command.overrides }, env);
  const { trust } = askedHub(settings, env);
  const hub = new ClusterClient({
    url: addressOf(settings, "http"),
    headers: credentials(env),
    trust,
    signal,
  });
  const source = new ClusterClient({ url: command.from, headers: sourceCredentials(command, env), signal });
  const bar = new ImportProgress(progress, systemClock);
  try {
    const { patterns, rate, parallel } = command;
    const report = await importCluster({
      source,
      hub,
      patterns,
      rate,
      parallel,
      signal,
      clock: systemClock,
      parts: new Set(command.parts),
      progress: (done, total) => bar.update(done, total),
    });
    const { rows, remarks } = reportOf(report);
    const head = ["INDEX", "IN THE HUB", "SOURCE DOCS", "HUB DOCS", "WRITTEN", "REFUSED"];
    const counts = rows.length === 0 ? "" : table(head, rows);
    return {
      output: `${counts}${remarks.map((each) => `${printable(each)}\n`).join("")}`,
      isOk: isComplete(report),
    };
  } finally {
    bar.end();
    source.close();
    hub.close();
  }
}

function sourceCredentials({ user }: ImportCommand, env: NodeJS.ProcessEnv): Record<string, string> {
  const key = env[KEY_VARIABLE] ?? "";
  if (key !== "") return { authorization: `ApiKey ${key}` };
  if (user === undefined) return {};
  const pair = Buffer.from(`${user}:${env[PASSWORD_VARIABLE] ?? ""}`).toString("base64");
  return { authorization: `Basic ${pair}` };
}

function bar(done: number, total: number): string {
  const share = total === 0 ? 1 : Math.min(1, done / total);
  return "#".repeat(Math.round(share * BAR_WIDTH)).padEnd(BAR_WIDTH, ".");
}
