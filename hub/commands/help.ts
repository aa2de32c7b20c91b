/**
 * The output of `--help`: for the program, for a group of commands ("pipeline"), or for one command ("pipeline
 * check").
 */

import { CONFIG_VARIABLE, DATA_VARIABLE } from "#hub/node/settings/hub-settings.ts";
import { didYouMean } from "#proto/kit/nearest.ts";
import { usageError } from "./arguments.ts";
import { COMMAND_HELP, type CommandHelp } from "./command-help.ts";

const OVERVIEW = `Usage: tailrace-hub [run] [-c hub.yml] [-E key=value …]
       tailrace-hub COMMAND … [-c hub.yml] [-E key=value …]

Processes, indexes and serves logs: search interface on 9200, dashboard on 5601, agents on 4222.

Commands
@commands
  --print-settings    print every setting with its default and meaning, as Markdown
  --print-schema      print the settings' schema as JSON
  --print-compatibility  print options accepted without effect or refused by name, as Markdown
  --version           print the version
  --help              print this; COMMAND --help explains a command, its options, with an example

Options
  -c, --config FILE   settings file (default: @config)
  -E KEY=VALUE        set one setting, over the file; may be given several times
  --path.data DIR     same as -E path.data=DIR (default: @data)

Examples
  tailrace-hub                                  everything on this machine
  tailrace-hub -c /etc/tailrace/hub.yml         with a settings file
  tailrace-hub -E http.port=9201 --path.data /srv/tailrace
  tailrace-hub search 'log.level:error AND host.name:web-1' --since 6h
  tailrace-hub pipeline check pipelines/*.conf
  tailrace-hub user add ada --role admin        asks for the password; in scripts it is the first line of input

search, tail and journal use the running hub; user, api-key, client and agent use the hub that runs on path.data,
or its data if none runs.
Exit status: 0 done, 1 failed, 2 wrong usage or settings.
`;

const PLACE = `  -c, --config FILE   settings file (default: @config)
  -E KEY=VALUE        set one setting, over the file; may be given several times
  --path.data DIR     same as -E path.data=DIR (default: @data)
`;

/** Width of the name column in the overview. */
const NAME_WIDTH = 20;

/**
 * Returns the help for `words`, the command line without its options; without words, that of the program. Throws
 * usage_invalid for an unknown command.
 */
export function helpText(words: readonly string[], env: NodeJS.ProcessEnv): string {
  return textOf(words)
    .replaceAll("@config", env[CONFIG_VARIABLE] || "none: defaults hold, all on 127.0.0.1")
    .replaceAll("@data", env[DATA_VARIABLE] || "./data");
}

function textOf([first, second = ""]: readonly string[]): string {
  if (first === undefined) return OVERVIEW.replace("@commands", overview());
  const names = Object.keys(COMMAND_HELP);
  const exact = COMMAND_HELP[`${first} ${second}`] ?? COMMAND_HELP[first];
  if (exact !== undefined) return commandText(exact);
  const group = names.filter((name) => name.startsWith(`${first} `));
  if (group.length > 0) return groupText(group.map((name) => COMMAND_HELP[name]!));
  const groups = [...new Set(names.map((name) => name.split(" ", 1)[0]!))];
  throw usageError(`unknown command "${first}"${didYouMean(first, groups)}`);
}

function overview(): string {
  return Object.values(COMMAND_HELP)
    .map(({ usage, summary }) => {
      const name = usage[0]!.replace(/ \[(?!run).*$/, "");
      return name.length < NAME_WIDTH - 1
        ? `  ${name.padEnd(NAME_WIDTH)}${summary}`
        : `  ${name}\n${" ".repeat(NAME_WIDTH + 2)}${summary}`;
    })
    .join("\n");
}

function commandText({ usage, summary, text = "", options = "", example }: CommandHelp): string {
  const lines = usage.map((line, at) => `${at === 0 ? "Usage:" : "      "} tailrace-hub ${line} [options]`);
  const about = `${summary[0]!.toUpperCase()}${summary.slice(1)}.${text === "" ? "" : `\n${text.trim()}`}`;
  return `${lines.join("\n")}\n\n${about}\n\nOptions\n${options.replace(/^\n/, "")}${PLACE}\nExample\n  ${example}\n`;
}

function groupText(group: readonly CommandHelp[]): string {
  const usage = group.flatMap((each) => each.usage);
  const lines = usage.map((line, at) => `${at === 0 ? "Usage:" : "      "} tailrace-hub ${line}`);
  const about = group.map(({ usage: [first = ""], summary }) => {
    const [, action = ""] = first.split(" ");
    return `  ${action.padEnd(10)}${summary}`;
  });
  const name = usage[0]!.split(" ", 1)[0];
  const options = `\nOptions\n${PLACE}\ntailrace-hub ${name} ACTION --help shows the options of one, with an example.\n`;
  return `${lines.join("\n")}\n\n${about.join("\n")}\n${options}`;
}
