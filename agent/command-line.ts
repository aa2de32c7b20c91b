/** What may stand on the agent's command line. */

import { parseArgs } from "node:util";
import { AppError } from "#proto/kit/errors.ts";
import { didYouMean } from "#proto/kit/nearest.ts";
import { VERSION } from "./version.ts";

const COMMANDS = ["run", "test", "registry", "setup", "enroll"];
/** Commands with a word after them, and those with two. */
const WITH_ARGUMENT = ["test", "registry", "enroll"];
const WITH_OPERAND = ["registry", "enroll"];

/** What `--help` prints. */
export const HELP = `tailrace-agent ${VERSION}: ships log lines to a Tailrace hub, none lost.

usage: tailrace-agent [run] -c agent.yml     read and ship until SIGTERM or Ctrl-C
       tailrace-agent test config            check the settings and end
       tailrace-agent test output            check that the output can be reached
       tailrace-agent enroll URL TOKEN       make this machine an agent of the hub at URL; writes agent.yml
       tailrace-agent setup                  load index template and searches through the dashboard
       tailrace-agent registry [--json]      show how far each file is sent and committed
       tailrace-agent registry export        print it in a form that import takes
       tailrace-agent registry import PATH   take over an export, or a registry of Filebeat 6 or 7
       tailrace-agent registry reset FILE    forget a file, by path or key: it is read from its start
       tailrace-agent --print-schema         print the settings' schema as JSON
       tailrace-agent --print-settings       print the settings reference as Markdown
       tailrace-agent --version

options:
  -c, --config FILE       settings file (default: agent.yml)
  -E KEY=VALUE            set one setting, for example -E output.pipeline.servers='["nats://hub:4222"]'
      --path.data DIR     folder of the registry, as -E path.data=DIR
      --strict.perms=false  accept a settings file that other users own or may write
      --name NAME         enroll: name of the agent (default: the host's)
      --ca-fingerprint SHA256  enroll: the hub's certificate or its authority's, where no system authority signed it
      --force             enroll: replace settings that are there
      --ready-json        print {"ready":true,...} on standard output once it runs
  -h, --help

The smallest agent.yml:
  shipper.inputs:
    - type: log
      paths: ["/var/log/*.log"]
  output.pipeline.servers: ["nats://hub.example:4222"]

exit status: 0 done, 1 failed, 2 wrong usage or settings
`;

/** A command with its options. */
export interface Options {
  readonly command: string;
  readonly argument: string;
  /** Further words, for `registry`. */
  readonly operand: string;
  readonly config: string;
  readonly overrides: readonly string[];
  readonly strictPermissions: boolean;
  readonly json: boolean;
  readonly readyJson: boolean;
  /** All of them as they were written. */
  readonly values: ReturnType<typeof parse>["values"];
}

/** Reads the command line. Throws usage_invalid. */
export function parseOptions(args: readonly string[]): Options {
  let parsed: ReturnType<typeof parse>;
  try {
    parsed = parse(args);
  } catch (error) {
    throw new AppError(
      "usage_invalid",
      `${(error as Error).message}; tailrace-agent --help shows what there is`,
      { cause: error },
    );
  }
  const { values, positionals } = parsed;
  const [command = "run", argument = "", ...rest] = positionals;
  const [operand = "", ...more] = rest;
  const further = WITH_OPERAND.includes(command) ? more : rest;
  if (!COMMANDS.includes(command)) {
    throw new AppError(
      "usage_invalid",
      `unknown command "${command}"${didYouMean(command, COMMANDS)}; there are ${COMMANDS.join(", ")}`,
    );
  }
  if (further.length > 0 || (argument !== "" && !WITH_ARGUMENT.includes(command))) {
    throw new AppError(
      "usage_invalid",
      `"${[argument, ...further].at(-1)}" is too much; tailrace-agent --help shows the commands`,
    );
  }
  const pathData = values["path.data"];
  return {
    command,
    argument,
    operand,
    config: values.config ?? "agent.yml",
    overrides: [
      ...(values.E ?? []),
      ...(pathData === undefined ? [] : [`path.data=${JSON.stringify(pathData)}`]),
    ],
    strictPermissions: values["strict.perms"] !== "false",
    json: values.json ?? false,
    readyJson: values["ready-json"] ?? false,
    values,
  };
}

function parse(args: readonly string[]) {
  return parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      config: { type: "string", short: "c" },
      E: { type: "string", short: "E", multiple: true },
      "path.data": { type: "string" },
      "strict.perms": { type: "string" },
      json: { type: "boolean" },
      "ready-json": { type: "boolean" },
      name: { type: "string" },
      "ca-fingerprint": { type: "string" },
      force: { type: "boolean" },
    },
  });
}
