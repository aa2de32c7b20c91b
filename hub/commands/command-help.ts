/** The help texts of the hub's commands. */

/** The help of one command; common options are added when it is printed. */
export interface CommandHelp {
  /** After "tailrace-hub"; the overview shows the first line up to its first option. */
  readonly usage: readonly string[];
  /** What it does, lower case, without a full stop. */
  readonly summary: string;
  /** Further details. */
  readonly text?: string;
  /** One option per line: two blanks, the option padded to 20 columns, its meaning. */
  readonly options?: string;
  readonly example: string;
}

const JSON_OPTION = `
  --json              print JSON
`;

const ROLES = "admin, editor, viewer or ingest";

/** By the words of the command. */
export const COMMAND_HELP: Readonly<Record<string, CommandHelp>> = {
  run: {
    usage: ["run"],
    summary: "work until SIGTERM or Ctrl-C (the default)",
    text: "A second Ctrl-C ends at once. Nothing is lost either way.",
    options: `
  --ready-json        print one line of JSON with all addresses on standard output when ready
`,
    example: "tailrace-hub run -c hub.yml -E http.port=9201",
  },
  search: {
    usage: ["search 'QUERY' [--index PATTERN] [--since TIME] [--until TIME] [--size N] [--json]"],
    summary: "print the log lines found, oldest first",
    text: "The query is written as in Discover. Where people sign in, an API key is taken from TAILRACE_API_KEY.",
    options: `
  --index PATTERN     indices to search (logs-*)
  --since TIME        how far back, such as 15m, 6h or 2d, or from when on: 2026-01-31T12:00 (15m)
  --until TIME        the end, written in the same ways (now)
  --size N            lines at most, the newest ones, 1 to 10000 (500)
  --json              print each line with all its fields as JSON
`,
    example: "tailrace-hub search 'log.level:error AND host.name:web-1' --since 6h",
  },
  tail: {
    usage: ["tail ['QUERY'] [--index PATTERN] [--last N] [--json]"],
    summary: "print log lines as they come in, until Ctrl-C",
    text: "Lines that were left out are counted on standard error. Where people sign in, an API key is taken from\nTAILRACE_API_KEY.",
    options: `
  --index PATTERN     indices to watch (logs-*)
  --last N            stored lines to begin with, 0 to 1000 (10)
  --json              print JSON
`,
    example: "tailrace-hub tail 'log.level:error' --last 0",
  },
  journal: {
    usage: ["journal [--json]"],
    summary: "print how full the log's streams are and how far each agent is behind",
    text: "Where people sign in, an API key is taken from TAILRACE_API_KEY.",
    options: JSON_OPTION,
    example: "tailrace-hub journal",
  },
  "pipeline check": {
    usage: ["pipeline check FILE…"],
    summary: "say what is wrong with the files of a pipeline, where, and what to write instead",
    text: "Several files are one pipeline, as the hub reads them. No hub is needed. Ends with 1 where there is an error.",
    example: "tailrace-hub pipeline check pipelines/*.conf",
  },
  "pipeline run": {
    usage: ["pipeline run FILE… --input SAMPLE [--json]"],
    summary: "print what a pipeline makes of the lines of a file, as JSON lines",
    text: "Outputs get nothing. No hub is needed.",
    options: `
  --input SAMPLE      file with lines; - reads standard input
  --json              each line is an event as JSON, not a message
`,
    example: "tail -n 20 access.log | tailrace-hub pipeline run access.conf --input -",
  },
  "pipeline test": {
    usage: ["pipeline test DIR [--update]"],
    summary: "run the cases (*.test.yml) of a folder",
    text: "No hub is needed. Ends with 1 where a case fails.",
    options: `
  --update            write down what the cases give now
`,
    example: "tailrace-hub pipeline test pipelines/",
  },
  "pipeline plugins": {
    usage: ["pipeline plugins [NAME]"],
    summary: "print what plugins there are, with every option, its default and meaning",
    example: "tailrace-hub pipeline plugins grok",
  },
  "user add": {
    usage: ["user add NAME [--role ROLE] [--index PATTERN …]"],
    summary: "add an account",
    text: "Asks for the password; in scripts it is the first line of standard input.",
    options: `
  --role ROLE         ${ROLES} (viewer)
  --index PATTERN     indices it reaches; may be given several times (*)
  --json              print JSON
`,
    example: "tailrace-hub user add ada --role editor --index 'logs-*'",
  },
  "user passwd": {
    usage: ["user passwd NAME"],
    summary: "set a new password, which ends the account's sessions",
    text: "Asks for the password; in scripts it is the first line of standard input.",
    options: JSON_OPTION,
    example: "tailrace-hub user passwd ada",
  },
  "user list": {
    usage: ["user list"],
    summary: "print the accounts with their roles",
    options: JSON_OPTION,
    example: "tailrace-hub user list",
  },
  "user remove": {
    usage: ["user remove NAME"],
    summary: "remove an account, its sessions and what was allowed in its name",
    options: JSON_OPTION,
    example: "tailrace-hub user remove ada",
  },
  "api-key add": {
    usage: ["api-key add NAME [--role ROLE] [--index PATTERN …] [--expires TIME]"],
    summary: "make an API key and print it, once",
    text: "Programs send it as a Bearer token; the commands of a terminal take it from TAILRACE_API_KEY.",
    options: `
  --role ROLE         ${ROLES} (viewer)
  --index PATTERN     indices it reaches; may be given several times (*)
  --expires TIME      its end from now on, such as 12h or 90d (none)
  --json              print JSON
`,
    example: "tailrace-hub api-key add reports --index 'logs-*' --expires 90d",
  },
  "api-key list": {
    usage: ["api-key list"],
    summary: "print the API keys: ids, names, roles, ends",
    options: JSON_OPTION,
    example: "tailrace-hub api-key list",
  },
  "api-key revoke": {
    usage: ["api-key revoke ID"],
    summary: "end an API key at once",
    options: JSON_OPTION,
    example: "tailrace-hub api-key revoke 0f3a5c7d9e1b2d4f60",
  },
  "client add": {
    usage: ["client add NAME --redirect-uri URI … [--kind KIND] [--scope URL …]"],
    summary: "register an OAuth client and print its client_id and client_secret, once",
    options: `
  --redirect-uri URI  where its users are sent back to, exactly; may be given several times
  --kind KIND         confidential, public or resource_server (confidential)
  --scope URL         a scope that it may ask for; may be given several times
  --json              print JSON
`,
    example: "tailrace-hub client add wiki --redirect-uri https://wiki.example.net/callback",
  },
  "client rotate": {
    usage: ["client rotate ID"],
    summary: "make a further client_secret; the one before stays good until the next rotation",
    options: JSON_OPTION,
    example: "tailrace-hub client rotate 0f3a5c7d9e1b2d4f60",
  },
  "client list": {
    usage: ["client list"],
    summary: "print the OAuth clients",
    options: JSON_OPTION,
    example: "tailrace-hub client list",
  },
  "client remove": {
    usage: ["client remove ID"],
    summary: "remove an OAuth client with everything issued to it",
    options: JSON_OPTION,
    example: "tailrace-hub client remove 0f3a5c7d9e1b2d4f60",
  },
  "agent invite": {
    usage: ["agent invite [--expires 24h]"],
    summary: "print the one line that is run on another machine to connect its agent; good once",
    options: `
  --expires TIME      how long it is good (24h)
  --json              print JSON
`,
    example: "tailrace-hub agent invite --expires 1h",
  },
  "agent add": {
    usage: ["agent add NAME [--id UUID]"],
    summary: "make credentials of an agent by hand: print the seed for its nkey_seed_file, once",
    options: `
  --id UUID           the id that the agent has already
  --json              print JSON
`,
    example: "tailrace-hub agent add web-1",
  },
  "agent list": {
    usage: ["agent list"],
    summary: "print the agents that have credentials",
    options: JSON_OPTION,
    example: "tailrace-hub agent list",
  },
  "agent revoke": {
    usage: ["agent revoke NAME"],
    summary: "end an agent's credentials and its connection",
    options: JSON_OPTION,
    example: "tailrace-hub agent revoke web-1",
  },
  "keystore create": {
    usage: ["keystore create"],
    summary: "make the store of secrets that pipelines name",
    example: "tailrace-hub keystore create",
  },
  "keystore add": {
    usage: ["keystore add NAME"],
    summary: "put a secret into it, from the prompt or the first line of standard input",
    example: "tailrace-hub keystore add DB_PASSWORD",
  },
  "keystore list": {
    usage: ["keystore list"],
    summary: "print the names of the secrets",
    example: "tailrace-hub keystore list",
  },
  "keystore remove": {
    usage: ["keystore remove NAME …"],
    summary: "remove secrets",
    example: "tailrace-hub keystore remove DB_PASSWORD",
  },
  "snapshot create": {
    usage: ["snapshot create DIR|s3://BUCKET/PREFIX [--name NAME]"],
    summary: "copy all data of a hub, which may run meanwhile",
    text: "What an earlier snapshot at the same place holds isn't copied again. A bucket's keys are taken from AWS_ACCESS_KEY_ID,\nAWS_SECRET_ACCESS_KEY and AWS_REGION; AWS_ENDPOINT_URL names another server.",
    options: `
  --name NAME         name of the snapshot (the time)
`,
    example: "tailrace-hub snapshot create /srv/copies",
  },
  "snapshot list": {
    usage: ["snapshot list DIR|s3://BUCKET/PREFIX"],
    summary: "print the names of the snapshots, the newest last",
    example: "tailrace-hub snapshot list /srv/copies",
  },
  "snapshot restore": {
    usage: ["snapshot restore DIR|s3://BUCKET/PREFIX [--name NAME]"],
    summary: "make an empty data folder of a snapshot; then start the hub on it",
    options: `
  --name NAME         name of the snapshot (the newest)
`,
    example: "tailrace-hub snapshot restore /srv/copies --path.data /srv/tailrace",
  },
};
