/**
 * `npm start [-- FILE|GLOB …]`: NATS, hub and agent on this machine, reading the files given or the machine's own logs.
 * Prints the address of the lines and the progress; Ctrl-C stops everything and loses nothing.
 */

import { join, resolve } from "node:path";
import { AppError } from "#proto/kit/errors.ts";
import { openDataFolder } from "#proto/kit/files/data-folder.ts";
import { ignoreClosedOutput } from "#proto/kit/process/standard-output.ts";
import { follow } from "./progress.ts";
import { chooseSources } from "./sources.ts";
import { Stack } from "./stack.ts";
import { say } from "./terminal.ts";

const CHECKOUT = resolve(import.meta.dirname, "../..");
const DATA = resolve(process.env["TAILRACE_DATA"] ?? join(CHECKOUT, "data"));
/** Free on the disk of the data folder, or there is no start. */
const START_BYTES = 1 << 20;
const EXIT_USAGE = 2;
const HELP = `Usage: npm start [-- FILE|GLOB …]

Runs Tailrace on this machine and reads the files named, or without any the logs under /var/log and, where
no syslog file is written there, the systemd journal. Ctrl-C stops and loses nothing.

Data is kept in ./data (TAILRACE_DATA chooses another folder), settings in hub.yml and agent.yml in it.
Ports 4222, 9200, 9300 and 5601 must be free; hub.yml sets others: nats.port, http.port, transport.port,
dashboard.port.

Examples
  npm start
  npm start -- /var/log/nginx/access.log '/srv/app/logs/*.log'
`;

async function main(words: readonly string[]): Promise<void> {
  if (words.some((word) => word === "--help" || word === "-h")) {
    process.stdout.write(HELP);
    return;
  }
  const sources = chooseSources(words);
  openDataFolder(DATA, START_BYTES, "folder with TAILRACE_DATA");
  for (const note of sources.notes) say(note);
  say(`data in ${DATA}`);
  const stack = new Stack(CHECKOUT, DATA);
  process.on("SIGINT", () => void stack.stop());
  process.on("SIGTERM", () => void stack.stop());
  const hub = await stack.startHub();
  if (hub !== undefined) {
    say(`dashboard         ${hub.shown.dashboard}`);
    say(`search interface  ${hub.shown.http}`);
    await follow(hub, stack, sources);
  }
  await stack.ended;
}

ignoreClosedOutput();
main(process.argv.slice(2)).catch((error: unknown) => {
  if (!(error instanceof AppError)) throw error;
  process.stderr.write(`tailrace: ${error.message}\n`);
  process.exitCode = EXIT_USAGE;
});
