/** Parses the hub's command line. */

import {
  type AgentCommand,
  type ApiKeyCommand,
  type ClientCommand,
  parseAgentCommand,
  parseApiKeyCommand,
  parseClientCommand,
  parseUserCommand,
  type UserCommand,
} from "#hub/commands/admin-arguments.ts";
import {
  overridesOf,
  PLACE_OPTIONS,
  parseOptions,
  parseSegmentCommand,
  parseSnapshotCommand,
  type SegmentCommand,
  type SnapshotCommand,
  usageError,
} from "#hub/commands/arguments.ts";
import { type ImportCommand, parseImportCommand } from "#hub/commands/import-arguments.ts";
import { type JournalCommand, parseJournalCommand } from "#hub/commands/journal.ts";
import { type KeystoreCommand, parseKeystoreCommand } from "#hub/commands/keystore.ts";
import { type PipelineCommand, parsePipelineCommand } from "#hub/commands/pipeline.ts";
import { parseSearchCommand, type SearchCommand } from "#hub/commands/search.ts";
import { parseTailCommand, type TailCommand } from "#hub/commands/tail.ts";
import { didYouMean } from "#proto/kit/nearest.ts";

export type HubCommand =
  | UserCommand
  | ClientCommand
  | AgentCommand
  | SearchCommand
  | TailCommand
  | JournalCommand
  | PipelineCommand
  | KeystoreCommand
  | SegmentCommand
  | SnapshotCommand
  | ImportCommand
  | ApiKeyCommand
  | { readonly name: "version" | "print-compatibility" | "print-schema" | "print-settings" }
  | {
      readonly name: "help";
      /** Words of the command; none: the program. */
      readonly words: readonly string[];
    }
  | {
      readonly name: "run";
      readonly config: string | undefined;
      readonly overrides: readonly string[];
      readonly readyJson: boolean;
    };

const OPTIONS = {
  ...PLACE_OPTIONS,
  "ready-json": { type: "boolean" },
  "print-compatibility": { type: "boolean" },
  "print-schema": { type: "boolean" },
  "print-settings": { type: "boolean" },
  version: { type: "boolean" },
} as const;

const PARSERS: Readonly<Record<string, (args: readonly string[]) => HubCommand>> = {
  pipeline: parsePipelineCommand,
  search: parseSearchCommand,
  tail: parseTailCommand,
  journal: parseJournalCommand,
  user: parseUserCommand,
  "api-key": parseApiKeyCommand,
  client: parseClientCommand,
  agent: parseAgentCommand,
  keystore: parseKeystoreCommand,
  segment: parseSegmentCommand,
  snapshot: parseSnapshotCommand,
  import: parseImportCommand,
};
const COMMANDS = ["run", ...Object.keys(PARSERS)];

/** Parses `args` (without node and script). Throws usage_invalid. */
export function parseHubCommand(args: readonly string[]): HubCommand {
  const [first, ...rest] = args;
  if (first === "help") return { name: "help", words: rest.filter(isWord) };
  if (args.includes("--help") || args.includes("-h"))
    return { name: "help", words: first !== undefined && isWord(first) ? args.filter(isWord) : [] };
  const parse = first !== undefined && Object.hasOwn(PARSERS, first) ? PARSERS[first] : undefined;
  if (parse !== undefined) return parse(rest);
  const { values, positionals } = parseOptions(args, OPTIONS);
  if (values.version === true) return { name: "version" };
  if (values["print-schema"] === true) return { name: "print-schema" };
  if (values["print-settings"] === true) return { name: "print-settings" };
  if (values["print-compatibility"] === true) return { name: "print-compatibility" };
  const [command = "run", extra] = positionals;
  if (!COMMANDS.includes(command))
    throw usageError(`unknown command "${command}"${didYouMean(command, COMMANDS)}`);
  if (command !== "run") throw usageError(`write "${command}" first, its options behind it`);
  if (extra !== undefined) throw usageError(`unexpected argument "${extra}"`);
  return {
    name: "run",
    config: values.config,
    overrides: overridesOf(values),
    readyJson: values["ready-json"] === true,
  };
}

function isWord(argument: string): boolean {
  return !argument.startsWith("-");
}
