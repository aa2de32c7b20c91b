/**
 * `deploy/preflight [-c hub.yml] [-E key=value …] [--path.data DIR]`: runs the hub's bootstrap checks without
 * starting it. Exit status: 0 it may start, 1 it would refuse, 2 wrong usage or settings.
 */

import { bootstrapFindings, checkedSettings } from "#hub/node/checks/bootstrap-checks.ts";
import { readMachineLimits } from "#hub/node/checks/machine-limits.ts";
import { loadHubSettings } from "#hub/node/settings/hub-settings.ts";
import { unusedSettings } from "#hub/node/settings/unused-settings.ts";
import { AppError } from "#proto/kit/errors.ts";
import { StandardOutput } from "#proto/kit/process/standard-output.ts";
import { parseHubCommand } from "./cli.ts";

const MAY_START = 0;
const REFUSED = 1;
const WRONG_SETTINGS = 2;

const HELP = `Usage: deploy/preflight [-c hub.yml] [-E key=value …] [--path.data DIR]

Checks ahead whether a hub with these settings may start on this machine: vm.max_map_count, open files, memory,
authentication and TLS beyond loopback, where the data lies. Run it as the user and with the limits of the hub.

Exit status: 0 it may start, 1 it would refuse, 2 wrong usage or settings.
`;

function preflight(args: readonly string[]): number {
  const command = parseHubCommand(args);
  if (command.name !== "run") {
    process.stdout.write(HELP);
    return MAY_START;
  }
  const settings = loadHubSettings({ file: command.config, overrides: command.overrides }, process.env);
  const checked = checkedSettings(settings);
  const findings = bootstrapFindings(checked, readMachineLimits(checked.dataFolder));
  const messages = new Set(
    findings.map(({ refused, message }) => `${refused ? "refused" : "warning"}: ${message}`),
  );
  for (const message of messages) process.stdout.write(`preflight: ${message}\n`);
  for (const unused of unusedSettings(settings))
    process.stdout.write(`preflight: warning: setting without effect: ${unused}\n`);
  if (findings.some(({ refused }) => refused)) return REFUSED;
  process.stdout.write("preflight: the hub may start here\n");
  return MAY_START;
}

if (import.meta.main) {
  const output = new StandardOutput("preflight");
  let status = WRONG_SETTINGS;
  try {
    status = preflight(process.argv.slice(2));
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    process.stderr.write(`preflight: ${error.message}\n`);
  }
  process.exitCode = await output.finish(status);
}
