/** Entry point of the hub process: runs the command line and returns an exit status. */

import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import type { AdminCommand } from "#hub/commands/admin.ts";
import { helpText } from "#hub/commands/help.ts";
import type { ImportCommand } from "#hub/commands/import-arguments.ts";
import { runJournalCommand } from "#hub/commands/journal.ts";
import type { KeystoreCommand } from "#hub/commands/keystore.ts";
import { type PipelineCommand, runPipelineCommand } from "#hub/commands/pipeline.ts";
import { runSearchCommand, type SearchCommand } from "#hub/commands/search.ts";
import { runTailCommand, type TailCommand } from "#hub/commands/tail.ts";
import type { Hub } from "#hub/node/hub.ts";
import {
  type HubSettings,
  hubSchema,
  loadHubSettings,
  settingsReference,
} from "#hub/node/settings/hub-settings.ts";
import { AppError, toAppError } from "#proto/kit/errors.ts";
import { createLogger, type Logger } from "#proto/kit/log.ts";
import { printableLines } from "#proto/kit/printable.ts";
import { ServiceManager } from "#proto/kit/process/sd-notify.ts";
import { StandardOutput } from "#proto/kit/process/standard-output.ts";
import { HeapKeeper } from "#proto/kit/process/thread-heap.ts";
import { lowerV8ThreadPriority } from "#proto/kit/process/thread-priority.ts";
import { type HubCommand, parseHubCommand } from "./cli.ts";
import type { SegmentCommand, SnapshotCommand } from "./commands/arguments.ts";

const EXIT_FAILED = 1;
const EXIT_USAGE = 2;
const KEEP_PRIORITY =
  "threads that index and search keep the priority of the one that answers requests; where a service's filter of calls " +
  "forbids to lower it, add SystemCallFilter=setpriority behind the others of its unit";

async function main(): Promise<void> {
  const command = parseHubCommand(process.argv.slice(2));
  if (command.name === "help") process.stdout.write(helpText(command.words, process.env));
  else if (command.name === "version") process.stdout.write(`tailrace-hub ${version()}\n`);
  else if (command.name === "print-settings") process.stdout.write(settingsReference());
  else if (command.name === "print-compatibility") await printCompatibility();
  else if (command.name === "print-schema") process.stdout.write(`${JSON.stringify(hubSchema, null, 2)}\n`);
  else if (command.name === "run") await run(command);
  else if (command.name === "pipeline") await pipeline(command);
  else if (command.name === "search") await search(command);
  else if (command.name === "tail") await tail(command);
  else if (command.name === "journal") process.stdout.write(await runJournalCommand(command, process.env));
  else if (command.name === "segment") await segment(command);
  else if (command.name === "snapshot") await snapshot(command);
  else if (command.name === "import") await importFrom(command);
  else if (command.name === "keystore") await keystore(command);
  else if (isAdministration(command)) await administer(command);
}

async function printCompatibility(): Promise<void> {
  const { compatibilityPage } = await import("#hub/commands/compatibility-page.ts");
  process.stdout.write(await compatibilityPage());
}

async function segment(command: SegmentCommand): Promise<void> {
  const { runSegmentCommand } = await import("#hub/commands/segment.ts");
  process.stdout.write(runSegmentCommand(command, process.env));
}

function isAdministration(command: HubCommand): command is AdminCommand {
  return ["user", "api-key", "client", "agent"].includes(command.name);
}

async function administer(command: AdminCommand): Promise<void> {
  const { runAdminCommand } = await import("#hub/commands/admin.ts");
  process.stdout.write(await runAdminCommand(command, commandLog()));
}

async function search(command: SearchCommand): Promise<void> {
  const { output, remark } = await runSearchCommand(command, process.env, Date.now());
  process.stdout.write(output);
  if (remark !== "") process.stderr.write(printableLines(`tailrace-hub: ${remark}\n`));
}

/** Runs until Ctrl-C, or until the reader of the output is gone. */
async function tail(command: TailCommand): Promise<void> {
  const stopped = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => stopped.abort());
  process.stdout.once("error", () => stopped.abort());
  const output = {
    line: (text: string) => process.stdout.write(`${text}\n`),
    remark: (text: string) => process.stderr.write(printableLines(`tailrace-hub: ${text}\n`)),
  };
  await runTailCommand(command, process.env, output, stopped.signal);
}

async function keystore(command: KeystoreCommand): Promise<void> {
  const { runKeystoreCommand } = await import("#hub/commands/keystore.ts");
  process.stdout.write(await runKeystoreCommand(command, process.env));
}

async function snapshot(command: SnapshotCommand): Promise<void> {
  const { runSnapshotCommand } = await import("#hub/commands/snapshot.ts");
  await runSnapshotCommand(command, { log: commandLog(), version: version() });
}

/**
 * Exits with 1 unless everything was imported. Ctrl-C ends it, a second one at once; the next import continues from
 * there.
 */
async function importFrom(command: ImportCommand): Promise<void> {
  const { runImportCommand } = await import("#hub/commands/import.ts");
  const stopped = new AbortController();
  const stop = (): void =>
    stopped.abort(new AppError("cancelled", "the import was stopped; the same command continues from there"));
  // The end of a terminal comes as SIGHUP, and its output can't be written any more.
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, stop);
  process.stderr.on("error", () => undefined);
  const surroundings = { env: process.env, progress: process.stderr, signal: stopped.signal };
  const { output, isOk } = await runImportCommand(command, surroundings);
  process.stdout.write(output);
  if (!isOk) process.exitCode = EXIT_FAILED;
}

/** Exits with 1 if a pipeline has errors or a case fails. */
async function pipeline(command: PipelineCommand): Promise<void> {
  const { output, complaints, isOk } = await runPipelineCommand(command, process.env);
  process.stderr.write(complaints);
  process.stdout.write(output);
  if (!isOk) process.exitCode = EXIT_FAILED;
}

async function run(command: Extract<HubCommand, { name: "run" }>): Promise<void> {
  const settings = loadHubSettings({ file: command.config, overrides: command.overrides }, process.env);
  const log = createLogger({
    name: "hub",
    level: settings["logging.level"],
    pretty: process.stderr.isTTY === true,
  });
  const err = lowerV8ThreadPriority();
  if (err !== undefined) log.info({ err }, KEEP_PRIORITY);
  // The hub's modules are loaded only here: commands respond at once.
  const { Hub } = await import("#hub/node/hub.ts");
  const hub = new Hub({ settings, log, version: version() });
  const service = new ServiceManager({ env: process.env, log });
  const stopped = Promise.withResolvers<void>();
  let signals = 0;
  const stop = (signal: NodeJS.Signals): void => {
    if (signals++ > 0) process.exit(EXIT_FAILED);
    log.info({ signal }, "stopping; a second signal ends at once");
    service.stopping();
    stopped.resolve(hub.stop());
  };
  process.on("SIGTERM", stop);
  process.on("SIGINT", stop);
  service.starting();
  const isStarted = await hub.start().then(
    () => true,
    (error: unknown) => {
      if (signals === 0) throw error;
      log.debug({ err: toAppError(error) }, "the start was given up");
      return false;
    },
  );
  if (isStarted) {
    service.ready();
    log.info({ ...hub.addresses(), ...hub.advertisedAddresses() }, "the hub works");
    await announce(hub, settings, command.readyJson);
  }
  const memory = new HeapKeeper();
  if (isStarted) memory.start();
  await stopped.promise;
  memory.stop();
  await service.stop();
  log.info("hub stopped");
}

async function announce(hub: Hub, settings: HubSettings, readyJson: boolean): Promise<void> {
  const link = await hub.setupLink();
  if (readyJson) process.stdout.write(`${JSON.stringify(readiness(settings, hub))}\n`);
  if (link !== null)
    process.stdout.write(
      `Nobody can sign in yet. Make the first administrator, once and within a day, at\n  ${link}\n`,
    );
}

/** Returns what programs that start a hub need: local and advertised addresses, and the certificate to trust. */
function readiness(settings: HubSettings, hub: Hub): object {
  const certificate = settings["tls.certificate"];
  return {
    ready: true,
    ...hub.addresses(),
    shown: hub.advertisedAddresses(),
    certificate: certificate === "" ? "" : resolve(certificate),
    pid: process.pid,
  };
}

/** Logger of commands: they report on standard output; the log is for failures. */
function commandLog(): Logger {
  return createLogger({ name: "hub", level: "warn", pretty: process.stderr.isTTY === true });
}

function version(): string {
  const text = readFileSync(new URL("../package.json", import.meta.url), "utf8");
  return (JSON.parse(text) as { version: string }).version;
}

/** Reports what a command failed of and returns the exit status. */
function report(error: unknown): number {
  const { code, message, detail, cause } = toAppError(error);
  const stack = code === "internal" && cause instanceof Error ? `${cause.stack}\n` : "";
  const text = `tailrace-hub: ${message}${detail === undefined ? "" : ` (${detail})`}\n${stack}`;
  process.stderr.write(printableLines(text));
  const isUsage = error instanceof AppError && ["settings_invalid", "usage_invalid"].includes(code);
  return isUsage ? EXIT_USAGE : EXIT_FAILED;
}

const output = new StandardOutput("tailrace-hub");
const status = await main().then(() => Number(process.exitCode ?? 0), report);
process.exit(await output.finish(status));
