/** The hub's command line: what was asked, or what to write instead. */

import { didYouMean } from "#proto/kit/nearest.ts";
import {
  type AgentCommand,
  type ClientCommand,
  parseAgentCommand,
  parseClientCommand,
  parseUserCommand,
  type UserCommand,
} from "./commands/admin-arguments.ts";
import { overridesOf, PLACE_OPTIONS, parseOptions, usageError } from "./commands/arguments.ts";
import { type JournalCommand, parseJournalCommand } from "./commands/journal.ts";
import { type KeystoreCommand, parseKeystoreCommand } from "./commands/keystore.ts";
import { type PipelineCommand, parsePipelineCommand } from "./commands/pipeline.ts";
import { parseSearchCommand, type SearchCommand } from "./commands/search.ts";
import { parseTailCommand, type TailCommand } from "./commands/tail.ts";
import { parseSnapshotCommand, type SnapshotCommand } from "./snapshot/arguments.ts";

export const HELP = `Usage: tailrace-hub [run] [-c hub.yml] [-E key=value …]
       tailrace-hub pipeline ACTION … | search 'QUERY' | tail ['QUERY'] | journal
       tailrace-hub user ACTION … | client ACTION … | agent ACTION … | keystore ACTION … | snapshot ACTION …

Processes, indexes and serves logs: search interface on 9200, dashboard on 5601, agents on 4222.

Commands
  run                 work until SIGTERM or Ctrl-C (the default)
  pipeline check FILE…
                      say what is wrong with the files of a pipeline, where, and what to write instead
  pipeline run FILE… --input SAMPLE [--json]
                      print what a pipeline makes of the lines (--json: events) of a file, as JSON lines; - reads
                      standard input
  pipeline test DIR [--update]
                      run the cases (*.test.yml) of a folder; --update writes down what they give now
  pipeline plugins [NAME]
                      print what plugins there are, with every option, its default and meaning
  search 'QUERY' [--index PATTERN] [--since 15m] [--size N] [--json]
                      print the log lines found, oldest first; an API key is taken from TAILRACE_API_KEY
  tail ['QUERY'] [--index PATTERN] [--last N] [--json]
                      print log lines as they come in, after the last N (10), until Ctrl-C
  journal [--json]    print how full the log's streams are and how far each agent is behind
  user add NAME [--role ROLE] [--index PATTERN …]
                      add an account (admin, editor, viewer or ingest; viewer without --role)
  user passwd NAME    set a new password, which ends the account's sessions
  user list | user remove NAME
  client add NAME --redirect-uri URI … [--kind confidential|public|resource_server] [--scope URL …]
                      register an OAuth client and print its client_id and client_secret, once
  client rotate ID    make a further client_secret; the one before stays good until the next rotation
  client list | client remove ID
  agent invite [--expires 24h]
                      print the one line that is run on another machine to connect its agent; good once
  agent add NAME [--id UUID]
                      make credentials of an agent by hand: print the seed for its nkey_seed_file, once
  agent list | agent revoke NAME
  keystore create | keystore list
                      make the store of secrets that pipelines name as \${NAME}, or print their names
  keystore add NAME   put a secret into it, from the prompt or the first line of standard input
  keystore remove NAME …
  snapshot create DIR|s3://BUCKET/PREFIX [--name NAME]
                      copy all data of a hub, which may run meanwhile; what an earlier snapshot there has isn't copied
  snapshot list DIR|s3://…
  snapshot restore DIR|s3://… [--name NAME] [--path.data DIR]
                      make an empty data folder of a snapshot (the newest without --name); then start the hub on it
  --print-settings    print every setting with its default and meaning, as Markdown
  --print-schema      print the settings' schema as JSON
  --version           print the version
  --help              print this

Options
  -c, --config FILE   settings file; without one the defaults hold (everything on 127.0.0.1)
  -E KEY=VALUE        set one setting, over the file; may be given several times
  --path.data DIR     same as -E path.data=DIR
  --json              search, user, client and agent: print JSON
  --ready-json        print one line of JSON with all addresses on standard output when ready

Examples
  tailrace-hub                                  everything on this machine, data in ./data
  tailrace-hub -c /etc/tailrace/hub.yml         with a settings file
  tailrace-hub -E http.port=9201 --path.data /srv/tailrace
  tailrace-hub search 'level:error AND host.name:web-1' --since 6h
  tailrace-hub pipeline check pipelines/*.conf
  tailrace-hub user add ada --role admin        asks for the password; in scripts it is the first line of input

user, client and agent work on the hub that runs on path.data, or on its data while none runs.
Exit status: 0 done, 1 failed, 2 wrong usage or settings.
`;

export type HubCommand =
  | UserCommand
  | ClientCommand
  | AgentCommand
  | SearchCommand
  | TailCommand
  | JournalCommand
  | PipelineCommand
  | KeystoreCommand
  | SnapshotCommand
  | { readonly name: "help" | "version" | "print-schema" | "print-settings" }
  | {
      readonly name: "run";
      readonly config: string | undefined;
      readonly overrides: readonly string[];
      readonly readyJson: boolean;
    };

const OPTIONS = {
  ...PLACE_OPTIONS,
  "ready-json": { type: "boolean" },
  "print-schema": { type: "boolean" },
  "print-settings": { type: "boolean" },
  version: { type: "boolean" },
  help: { type: "boolean", short: "h" },
} as const;

const PARSERS: Readonly<Record<string, (args: readonly string[]) => HubCommand>> = {
  pipeline: parsePipelineCommand,
  search: parseSearchCommand,
  tail: parseTailCommand,
  journal: parseJournalCommand,
  user: parseUserCommand,
  client: parseClientCommand,
  agent: parseAgentCommand,
  keystore: parseKeystoreCommand,
  snapshot: parseSnapshotCommand,
};
const COMMANDS = ["run", ...Object.keys(PARSERS)];

/** Returns the command of `args` (without node and script). Throws usage_invalid. */
export function parseHubCommand(args: readonly string[]): HubCommand {
  const [first, ...rest] = args;
  const wantsHelp = args.includes("--help") || args.includes("-h");
  const parse = first !== undefined && Object.hasOwn(PARSERS, first) ? PARSERS[first] : undefined;
  if (parse !== undefined && !wantsHelp) return parse(rest);
  const { values, positionals } = parseOptions(wantsHelp ? ["--help"] : args, OPTIONS);
  if (values.help === true) return { name: "help" };
  if (values.version === true) return { name: "version" };
  if (values["print-schema"] === true) return { name: "print-schema" };
  if (values["print-settings"] === true) return { name: "print-settings" };
  const [command = "run", extra] = positionals;
  if (!COMMANDS.includes(command))
    throw usageError(`unknown command "${command}"${didYouMean(command, COMMANDS)}`);
  if (command !== "run") throw usageError(`write "${command}" first, its options behind it`);
  if (extra !== undefined) throw usageError(`"${extra}" is one argument too many`);
  return {
    name: "run",
    config: values.config,
    overrides: overridesOf(values),
    readyJson: values["ready-json"] === true,
  };
}
