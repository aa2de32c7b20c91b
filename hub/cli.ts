/** The hub's command line: what was asked, or what to write instead. */

import { parseArgs } from "node:util";
import { AppError } from "#proto/kit/errors.ts";
import { didYouMean } from "#proto/kit/nearest.ts";

export const HELP = `Usage: tailrace-hub [run] [-c hub.yml] [-E key=value …]

Processes, indexes and serves logs: search interface on 9200, dashboard on 5601, agents on 4222.

Commands
  run                 work until SIGTERM or Ctrl-C (the default)
  --print-schema      print every setting with its default and meaning
  --version           print the version
  --help              print this

Options
  -c, --config FILE   settings file; without one the defaults hold (everything on 127.0.0.1)
  -E KEY=VALUE        set one setting, over the file; may be given several times
  --path.data DIR     same as -E path.data=DIR
  --ready-json        print one line of JSON with all addresses on standard output when ready

Examples
  tailrace-hub                                  everything on this machine, data in ./data
  tailrace-hub -c /etc/tailrace/hub.yml         with a settings file
  tailrace-hub -E http.port=9201 --path.data /srv/tailrace

Exit status: 0 done, 1 failed, 2 wrong usage or settings.
`;

export type HubCommand =
  | { readonly name: "help" | "version" | "print-schema" }
  | {
      readonly name: "run";
      readonly config: string | undefined;
      readonly overrides: readonly string[];
      readonly readyJson: boolean;
    };

const COMMANDS = ["run"];

/** Returns the command of `args` (without node and script). Throws usage_invalid. */
export function parseHubCommand(args: readonly string[]): HubCommand {
  const { values, positionals } = parse(args);
  if (values.help === true) return { name: "help" };
  if (values.version === true) return { name: "version" };
  if (values["print-schema"] === true) return { name: "print-schema" };
  const [command = "run", extra] = positionals;
  if (!COMMANDS.includes(command)) {
    throw new AppError(
      "usage_invalid",
      `unknown command "${command}"${didYouMean(command, COMMANDS)}; see tailrace-hub --help`,
    );
  }
  if (extra !== undefined)
    throw new AppError("usage_invalid", `"${extra}" is one argument too many; see tailrace-hub --help`);
  const overrides = [...(values.E ?? [])];
  if (values["path.data"] !== undefined) overrides.push(`path.data=${values["path.data"]}`);
  return { name: "run", config: values.config, overrides, readyJson: values["ready-json"] === true };
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        config: { type: "string", short: "c" },
        E: { type: "string", short: "E", multiple: true },
        "path.data": { type: "string" },
        "ready-json": { type: "boolean" },
        "print-schema": { type: "boolean" },
        version: { type: "boolean" },
        help: { type: "boolean", short: "h" },
      },
    });
  } catch (error) {
    throw new AppError(
      "usage_invalid",
      `${(error as Error).message.split(". ")[0]}; see tailrace-hub --help`,
      { cause: error },
    );
  }
}
