/**
 * The agent's command line: parses it, and prints what --help shows of the program or of one of its commands.
 */

import { parseArgs } from "node:util";
import { installedDataFolder, usualSettingsFile } from "#agent/settings/config.ts";
import { AppError } from "#proto/kit/errors.ts";
import { didYouMean } from "#proto/kit/nearest.ts";
import { VERSION } from "./version.ts";

/** The options that most commands take; `@file` and `@data` are replaced by the defaults. */
const COMMON = `  -c, --config FILE       settings file (default: @file)
  -E KEY=VALUE            set one setting, for example -E output.pipeline.servers='["nats://hub:4222"]'
      --path.data DIR     folder of the registry, as -E path.data=DIR (default: @data)
      --strict.perms=false  accept a settings file that other users own or may write
`;
const OVERVIEW = `tailrace-agent ${VERSION}: ships log lines to a Tailrace hub, none lost.

usage: tailrace-agent [run] -c agent.yml     read and ship until SIGTERM or Ctrl-C
       tailrace-agent test config            check the settings and exit
       tailrace-agent test output            check that the output can be reached
       tailrace-agent enroll URL TOKEN       make this machine an agent of the hub at URL; writes agent.yml
       tailrace-agent setup                  load index template and searches through the dashboard
       tailrace-agent registry [--json]      show how far each file is sent and committed
       tailrace-agent registry export        print it in a form that import takes
       tailrace-agent registry import PATH   take over an export, or a registry of Filebeat 6 or 7
       tailrace-agent registry reset FILE    forget a file, by path or key: it is read from its start
       tailrace-agent COMMAND --help         explain a command, its options, with an example
       tailrace-agent --print-schema         print the settings' schema as JSON
       tailrace-agent --print-settings       print the settings reference as Markdown
       tailrace-agent --version

options:
${COMMON}  -h, --help

The smallest agent.yml:
  shipper.inputs:
    - type: log
      paths: ["/var/log/*.log"]
  output.pipeline.servers: ["nats://hub.example:4222"]

exit status: 0 done, 1 failed, 2 wrong usage or settings
`;
/** By command: usage and meaning, options of its own, an example. */
const COMMAND_HELP: Readonly<Record<string, string>> = {
  run: `usage: tailrace-agent [run] [-c agent.yml] [options]

Reads what shipper.inputs names and ships it until SIGTERM or Ctrl-C; a second signal ends it at once. SIGHUP applies
changed settings. A restart continues where the agent stopped, and resends what wasn't acknowledged.

options:
${COMMON}      --ready-json        print {"ready":true,...} on standard output once it runs

example: tailrace-agent -c agent.yml -E logging.level=debug
`,
  test: `usage: tailrace-agent test config [options]     report what is wrong with the settings, where, and what to write
       tailrace-agent test output [options]     connect to the output and report what prevents it

options:
${COMMON}
example: tailrace-agent test output -c agent.yml
`,
  registry: `usage: tailrace-agent registry [--json] [options]        show how far each file is sent and committed
       tailrace-agent registry export [options]          print it in a form that import takes
       tailrace-agent registry import PATH [options]     take over an export, or a registry of Filebeat 6 or 7
       tailrace-agent registry reset FILE [options]      forget a file, by path or key: it is read from its start

Showing works while the agent runs; for import and reset stop it, and run them as its user.

options:
      --json              show it as JSON
${COMMON}
example: tailrace-agent registry reset /var/log/app.log
`,
  setup: `usage: tailrace-agent setup [options]

Loads the index template of shipped lines, sample searches and dashboards through setup.dashboard.host. Existing
objects are kept. If sign-in is required, it takes an administrator's API key from setup.dashboard.api_key.

options:
${COMMON}
example: tailrace-agent setup -E setup.dashboard.host=https://hub.example.net:5601
`,
  enroll: `usage: tailrace-agent enroll URL TOKEN [options]

Makes this machine an agent of the hub whose dashboard is at URL: generates a key, sends its public half with the one-time
token, and writes the settings. The page "Connect servers" and "tailrace-hub agent invite" print the whole command.

options:
  -c, --config FILE       settings file to write; the key goes beside it (default: @file)
      --name NAME         name of the agent (default: the host's)
      --ca-fingerprint SHA256  the hub's certificate or its authority's, if no system authority signed it
      --force             replace existing settings

example: tailrace-agent enroll https://hub.example.net:5601 TOKEN --name web-1
`,
};

/** All commands. */
export const COMMANDS = ["run", "test", "registry", "setup", "enroll"];
/** Commands with a word after them, and those with two. */
const WITH_ARGUMENT = ["test", "registry", "enroll"];
const WITH_OPERAND = ["registry", "enroll"];

/** A command with its options. */
export interface Options {
  readonly command: string;
  readonly argument: string;
  /** Further words, for `registry`. */
  readonly operand: string;
  /** Settings file. */
  readonly config: string;
  readonly overrides: readonly string[];
  readonly strictPermissions: boolean;
  readonly json: boolean;
  readonly readyJson: boolean;
  /** All options as they were written. */
  readonly values: ReturnType<typeof parse>["values"];
}

/** Reads the command line. Throws usage_invalid. */
export function parseOptions(args: readonly string[], env: NodeJS.ProcessEnv): Options {
  const { values, positionals } = parse(args);
  const [command = "run", argument = "", ...rest] = positionals;
  const [operand = "", ...more] = rest;
  const further = WITH_OPERAND.includes(command) ? more : rest;
  if (!COMMANDS.includes(command)) {
    throw unknownCommand(command);
  }
  if (further.length > 0 || (argument !== "" && !WITH_ARGUMENT.includes(command))) {
    throw new AppError(
      "usage_invalid",
      `"${[argument, ...further].at(-1)}" is unexpected; tailrace-agent --help shows the commands`,
    );
  }
  const pathData = values["path.data"];
  return {
    command,
    argument,
    operand,
    config: values.config ?? usualSettingsFile(env),
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

function unknownCommand(command: string): AppError {
  return new AppError(
    "usage_invalid",
    `unknown command "${command}"${didYouMean(command, COMMANDS)}; there are ${COMMANDS.join(", ")}`,
  );
}

function parse(args: readonly string[]) {
  try {
    return parseWords(args);
  } catch (error) {
    throw new AppError(
      "usage_invalid",
      `${(error as Error).message}; tailrace-agent --help lists the options`,
      { cause: error },
    );
  }
}

function parseWords(args: readonly string[]) {
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

/** Returns the help for the command among `args`, or of the program if there is none. Throws usage_invalid for an unknown one. */
export function helpText(args: readonly string[], env: NodeJS.ProcessEnv): string {
  const command = args.find((word) => word !== "help" && !word.startsWith("-"));
  const isHelp = args[0] === "help" || command === args[0];
  const text = command === undefined || !isHelp ? OVERVIEW : COMMAND_HELP[command];
  if (text === undefined) throw unknownCommand(command!);
  return text
    .replaceAll("@file", usualSettingsFile(env))
    .replaceAll("@data", installedDataFolder(env) ?? "./data/agent");
}
