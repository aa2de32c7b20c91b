/** The help texts of the hub's commands. */

/** The help of one command; common options are added when it is printed. */
export interface CommandHelp {
  /** After "tailrace-hub"; the overview shows the first line up to its first option. */
  readonly usage: readonly string[];
  /** What the command does, lower case, without a full stop. */
  readonly summary: string;
  /** Further details. */
  readonly text?: string;
  /** One option per line: two spaces, the option padded to 20 columns, its meaning. */
  readonly options?: string;
  readonly example: string;
}

const JSON_OPTION = `
  --json              print JSON
`;

const ROLES = "admin, editor, viewer or ingest";

/** Help texts by the words of the command. */
export const COMMAND_HELP: Readonly<Record<string, CommandHelp>> = {
  run: {
    usage: ["run"],
    summary: "run the hub until SIGTERM or Ctrl-C (the default)",
    text: "A second Ctrl-C exits at once. Nothing is lost either way.",
    options: `
  --ready-json        print one line of JSON with all addresses on standard output when ready
`,
    example: "tailrace-hub run -c hub.yml -E http.port=9201",
  },
  search: {
    usage: ["search 'QUERY' [--index PATTERN] [--since TIME] [--until TIME] [--size N] [--json]"],
    summary: "print matching log lines, oldest first",
    text: "The query is written as in Discover. If the hub requires authentication, the API key is taken from TAILRACE_API_KEY.",
    options: `
  --index PATTERN     indices to search (logs-*)
  --since TIME        start: 15m, 6h or 2d ago, or a time: 2026-01-31T12:00 (15m)
  --until TIME        end, in the same form (now)
  --size N            maximum number of lines, the newest, 1 to 10000 (500)
  --json              print each line with all its fields as JSON
`,
    example: "tailrace-hub search 'log.level:error AND host.name:web-1' --since 6h",
  },
  tail: {
    usage: ["tail ['QUERY'] [--index PATTERN] [--last N] [--json]"],
    summary: "print log lines as they arrive, until Ctrl-C",
    text: "Lines are printed as they pass a pipeline; documents that clients write by _bulk are not.\nSkipped lines are counted on standard error. If the hub requires authentication, the API key is taken from\nTAILRACE_API_KEY.",
    options: `
  --index PATTERN     indices to follow (logs-*)
  --last N            number of stored lines printed first, 0 to 1000 (10)
  --json              print JSON
`,
    example: "tailrace-hub tail 'log.level:error' --last 0",
  },
  journal: {
    usage: ["journal [--json]"],
    summary: "print how full the log's streams are and how far each agent is behind",
    text: "If the hub requires authentication, the API key is taken from TAILRACE_API_KEY.",
    options: JSON_OPTION,
    example: "tailrace-hub journal",
  },
  segment: {
    usage: ["segment [FILE|FOLDER] [--json]"],
    summary: "print the sizes of segment files by part and by field",
    text: "A folder is searched recursively; the default is path.data. No hub is needed.",
    options: JSON_OPTION,
    example: "tailrace-hub segment /var/lib/tailrace/hub --json",
  },
  "pipeline check": {
    usage: ["pipeline check FILE…"],
    summary: "check the files of a pipeline; report each error with its position and a hint",
    text: "Several files form one pipeline, as the hub reads them. No hub is needed. Exits with 1 if there is an error.",
    example: "tailrace-hub pipeline check pipelines/*.conf",
  },
  "pipeline run": {
    usage: ["pipeline run FILE… --input SAMPLE [--json]"],
    summary: "run a pipeline on the lines of a file and print the events as JSON lines",
    text: "Nothing is sent to outputs. No hub is needed.",
    options: `
  --input SAMPLE      file with lines; - reads standard input
  --json              each line is an event as JSON, not a message
`,
    example: "tail -n 20 access.log | tailrace-hub pipeline run access.conf --input -",
  },
  "pipeline test": {
    usage: ["pipeline test DIR [--update]"],
    summary: "run the cases (*.test.yml) of a folder",
    text: "No hub is needed. Exits with 1 if a case fails.",
    options: `
  --update            replace the expected results by the current ones
`,
    example: "tailrace-hub pipeline test pipelines/",
  },
  "pipeline plugins": {
    usage: ["pipeline plugins [NAME]"],
    summary: "print all plugins with every option, its default and meaning",
    example: "tailrace-hub pipeline plugins grok",
  },
  "user add": {
    usage: ["user add NAME [--role ROLE] [--index PATTERN …]"],
    summary: "add an account",
    text: "Asks for the password; in scripts it is the first line of standard input.",
    options: `
  --role ROLE         ${ROLES} (viewer)
  --index PATTERN     indices it may access, with all rights of its role or those
                      named: 'logs-*:read+write' (also manage, delete);
                      repeatable (*)
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
    summary: "remove an account with its sessions and grants",
    options: JSON_OPTION,
    example: "tailrace-hub user remove ada",
  },
  "api-key add": {
    usage: ["api-key add NAME [--role ROLE] [--index PATTERN …] [--expires TIME]"],
    summary: "create an API key and print it, once",
    text: "Programs send it as a Bearer token; commands take it from TAILRACE_API_KEY.",
    options: `
  --role ROLE         ${ROLES} (viewer)
  --index PATTERN     indices it may access, with all rights of its role or those
                      named: 'logs-*:read+write' (also manage, delete);
                      repeatable (*)
  --expires TIME      lifetime such as 12h or 90d (unlimited)
  --json              print JSON
`,
    example: "tailrace-hub api-key add reports --index 'logs-*' --expires 90d",
  },
  "api-key list": {
    usage: ["api-key list"],
    summary: "print the API keys: ids, names, roles, expiry",
    options: JSON_OPTION,
    example: "tailrace-hub api-key list",
  },
  "api-key revoke": {
    usage: ["api-key revoke ID"],
    summary: "revoke an API key at once",
    options: JSON_OPTION,
    example: "tailrace-hub api-key revoke 0f3a5c7d9e1b2d4f60",
  },
  "client add": {
    usage: ["client add NAME --redirect-uri URI … [--kind KIND] [--scope URL …]"],
    summary: "register an OAuth client and print its client_id and client_secret, once",
    options: `
  --redirect-uri URI  exact redirect URI; repeatable
  --kind KIND         confidential, public or resource_server (confidential)
  --scope URL         a scope that it may request; repeatable
  --json              print JSON
`,
    example: "tailrace-hub client add wiki --redirect-uri https://wiki.example.net/callback",
  },
  "client rotate": {
    usage: ["client rotate ID"],
    summary: "create another client_secret; the previous one stays valid until the next rotation",
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
    summary: "print the command that connects the agent of another machine; valid once",
    options: `
  --expires TIME      validity (24h)
  --json              print JSON
`,
    example: "tailrace-hub agent invite --expires 1h",
  },
  "agent add": {
    usage: ["agent add NAME [--id UUID]"],
    summary: "create credentials for an agent manually: print the seed for its nkey_seed_file, once",
    options: `
  --id UUID           id of an existing agent
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
    summary: "revoke an agent's credentials and close its connection",
    options: JSON_OPTION,
    example: "tailrace-hub agent revoke web-1",
  },
  "keystore create": {
    usage: ["keystore create"],
    summary: "create the keystore for the secrets of pipelines",
    example: "tailrace-hub keystore create",
  },
  "keystore add": {
    usage: ["keystore add NAME"],
    summary: "add a secret, from the prompt or the first line of standard input",
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
  "import cluster": {
    usage: ["import cluster URL [--index PATTERN …] [--only PART …] [--rate N] [--parallel N] [--user NAME]"],
    summary: "import a running search cluster of version 6, 7 or 8, or another hub",
    text: "An interrupted import is continued by the same command; a later one adds what was written since. Prints the counts\nof both sides, and exits with 1 unless everything is in the hub. The source's credentials are taken from\nTAILRACE_SOURCE_API_KEY, or from TAILRACE_SOURCE_PASSWORD with --user; the hub's key from TAILRACE_API_KEY.",
    options: `
  --index PATTERN     indices to import; repeatable (all but those of the cluster's own programs)
  --only PART         pipelines, templates, indices (without documents) or documents; repeatable (all)
  --rate N            maximum number of documents per second (unlimited)
  --parallel N        shards read at a time, 1 to 16 (2)
  --user NAME         user of the source
`,
    example: "tailrace-hub import cluster http://old.example:9200 --index 'logs-*' --rate 5000",
  },
  "import kibana": {
    usage: ["import kibana FILE|URL [--user NAME]"],
    summary: "import searches, visualisations and dashboards of Kibana 6.5 to 7.17",
    text: "FILE is an export of Management, Saved Objects (NDJSON or JSON), URL the address of Kibana. Objects of the same id are\nreplaced. Prints a line for each object, which names what can't be carried over, and exits with 1 unless everything\nwas imported. Credentials of Kibana are taken from TAILRACE_SOURCE_API_KEY, or from TAILRACE_SOURCE_PASSWORD with --user;\nthe hub's key from TAILRACE_API_KEY.",
    options: `
  --user NAME         user of Kibana
`,
    example: "tailrace-hub import kibana export.ndjson",
  },
  "import config": {
    usage: ["import config FILE"],
    summary: "print settings of the agent made from a configuration of Filebeat or Promtail",
    text: "Settings without a counterpart become comments in their place.",
    example: "tailrace-hub import config /etc/promtail/config.yml",
  },
  "snapshot create": {
    usage: ["snapshot create DIR|s3://BUCKET/PREFIX [--name NAME]"],
    summary: "back up all data of a hub, which may be running",
    text: "Data of earlier snapshots in the same location is not copied again. Keys for a bucket are taken from AWS_ACCESS_KEY_ID,\nAWS_SECRET_ACCESS_KEY and AWS_REGION; AWS_ENDPOINT_URL names another server.",
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
    summary: "restore a snapshot into an empty data folder",
    options: `
  --name NAME         name of the snapshot (the newest)
`,
    example: "tailrace-hub snapshot restore /srv/copies --path.data /srv/tailrace",
  },
};
