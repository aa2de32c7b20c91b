/** Options of output elasticsearch, by the names that existing pipelines use. */

import type { Static, TSchema } from "typebox";
import { TLS_CLIENT } from "#hub/pipeline/connections/tls.ts";
import type { Refusal } from "#hub/pipeline/plugins/output.ts";
import { type Event, isHash, valueText } from "#proto/event.ts";
import { fieldReference } from "#proto/field-reference.ts";
import { compileFormat } from "#proto/format.ts";
import { isLoopbackHost } from "#proto/kit/net/loopback.ts";
import {
  flag,
  list,
  oneOf,
  optional,
  options,
  refused,
  table,
  text,
  withoutEffect,
} from "#proto/kit/options.ts";
import { Type } from "#proto/kit/schema.ts";

/** Options that change nothing, with the reason. */
const WITHOUT_EFFECT = {
  absolute_healthcheck_path: "unreachable hosts are tried again, with waits that grow",
  dlq_on_failed_indexname_interpolation: "an event without a usable index name goes to the dead letters",
  document_type: "documents have one type",
  failure_type_logging_whitelist: "refused documents are counted and kept as dead letters",
  healthcheck_path: "unreachable hosts are tried again, with waits that grow",
  ilm_pattern: "this output creates no first index: create it with its alias beforehand",
  ilm_policy: "this output sets no policy: the index template names it in index.lifecycle.name",
  parent: "join fields aren't written",
  join_field: "join fields aren't written",
  pool_max: "connections are opened as needed",
  pool_max_per_route: "connections are opened as needed",
  resurrect_delay: "unreachable hosts are tried again, with waits that grow",
  retry_initial_interval: "unreachable hosts are tried again, with waits that grow",
  retry_max_interval: "unreachable hosts are tried again, with waits that grow",
  silence_errors_in_log: "refused documents are counted and kept as dead letters",
  sniffing: "only the hosts that are named are used",
  sniffing_delay: "only the hosts that are named are used",
  sniffing_path: "only the hosts that are named are used",
  ssl_keystore_type: "write ssl_certificate => and ssl_key => with PEM files",
  ssl_truststore_type: "write ssl_certificate_authorities => with PEM files",
  data_stream_sync_fields: "the event's fields data_stream.* are kept as they are",
  validate_after_inactivity: "connections are opened as needed",
} as const;

/** Options that can't be used, with what to write instead. */
const REFUSED = {
  cloud_id: "name the addresses: hosts => [...]",
  cloud_auth: "write user => and password =>, or api_key =>",
  proxy: "set HTTPS_PROXY and NODE_USE_ENV_PROXY=1 for the hub, or name the addresses behind it",
  ssl_keystore_path: "write ssl_certificate => and ssl_key => with PEM files",
  ssl_keystore_password: "write ssl_certificate => and ssl_key => with PEM files",
  ssl_truststore_path: "write ssl_certificate_authorities => with PEM files",
  ssl_truststore_password: "write ssl_certificate_authorities => with PEM files",
  ca_trusted_fingerprint: "write ssl_certificate_authorities => with the authority's PEM file",
  ilm_rollover_alias:
    "this output creates no rollover alias: write index => with the alias, and create it with its first index beforehand",
} as const;

function each<K extends string>(table: Readonly<Record<K, string>>, make: (reason: string) => TSchema) {
  const rows = Object.entries<string>(table).map(([name, reason]) => [name, make(reason)]);
  return Object.fromEntries(rows) as Record<K, ReturnType<typeof withoutEffect>>;
}

export const ELASTICSEARCH_OPTIONS = options({
  hosts: list(
    "addresses of the servers; none, or port 9200 of this machine: this installation, through its log; other addresses: over HTTP",
  ),
  remote: flag("always sends over HTTP to hosts", false),
  index: optional(text("index of the document, a format; default: logs-%{+yyyy.MM.dd}")),
  document_id: optional(
    text("id of the document, a format; empty: derived from the event's position in the log", ""),
  ),
  action: text(
    "a format: index replaces a document of the same id, create keeps it, update merges into it, delete removes it",
    "index",
  ),
  doc_as_upsert: flag("with update: creates the document from the event if there is none", false),
  upsert: text(
    "with update: the document to create if there is none, JSON; formats in its strings hold any text, others must be one JSON value each; over HTTP only",
    "",
  ),
  script: text(
    "with update: a script, or the id of a stored one, a format; a format in a script makes code of what events hold; over HTTP only",
    "",
  ),
  script_type: oneOf(
    ["inline", "indexed", "file"],
    "inline: script is the source; indexed: it is the id of a stored script; file is refused",
    "inline",
  ),
  script_lang: text("language of the script", "painless"),
  script_var_name: text("name of the event in the script", "event"),
  scripted_upsert: flag("the script also creates missing documents, from an empty one", false),
  retry_on_conflict: Type.Integer({
    default: 1,
    minimum: 0,
    description: "with update over HTTP: retries after version conflicts",
  }),
  routing: optional(text("routing value, a format; over HTTP only")),
  pipeline: optional(
    text(
      "ingest pipeline that processes the document, a format; sends over HTTP to hosts, even to port 9200 of this machine",
    ),
  ),
  version: optional(text("version of the document, a format; over HTTP only")),
  version_type: optional(
    oneOf(["internal", "external", "external_gt", "external_gte", "force"], "version type; over HTTP only"),
  ),
  data_stream: oneOf(["true", "false", "auto"], "true: the index is type-dataset-namespace", "auto"),
  data_stream_type: text("first part of the index name", "logs"),
  data_stream_dataset: text("second part of the index name", "generic"),
  data_stream_namespace: text("third part of the index name", "default"),
  data_stream_auto_routing: flag("the event's fields data_stream.* override these", true),
  user: optional(text("user name to send (Basic)")),
  password: optional(text("password to send")),
  api_key: optional(text("API key to send: id:key, or as one text in base64")),
  connection: optional(text("name of a connected account whose access token is sent")),
  path: text("path prefix of requests", ""),
  bulk_path: optional(text("path of bulk requests instead of PATH/_bulk")),
  parameters: table("query parameters of bulk requests"),
  custom_headers: table("headers of requests"),
  compression_level: Type.Integer({
    default: 1,
    minimum: 0,
    maximum: 9,
    description: "gzip level of requests; 0: no compression",
  }),
  http_compression: optional(flag("false is compression_level 0", true)),
  timeout: Type.Number({
    default: 60,
    exclusiveMinimum: 0,
    description: "timeout of a request, s",
  }),
  manage_template: flag("installs the template before the first document, if template names one", true),
  template: optional(text("file of an index template, JSON")),
  template_name: text("name of the template", "logstash"),
  template_overwrite: flag("overwrites an existing template of the same name", false),
  template_api: oneOf(["auto", "legacy", "composable"], "auto: composable from version 8 on", "auto"),
  dlq_custom_codes: Type.Array(Type.Integer(), {
    default: [],
    description: "statuses besides 400 and 404 with which a document becomes a dead letter",
  }),
  ilm_enabled: oneOf(
    ["true", "false", "auto"],
    "true is refused: this output creates no policy and no rollover alias",
    "auto",
  ),
  ssl: optional(flag("alias of ssl_enabled", false)),
  cacert: optional(text("like ssl_certificate_authorities with one file")),
  ssl_certificate_verification: optional(flag("false is ssl_verification_mode none", true)),
  ...each(REFUSED, refused),
  ...each(WITHOUT_EFFECT, (reason) => withoutEffect(reason)),
  ...TLS_CLIENT,
});

export type ElasticsearchOptions = Static<typeof ELASTICSEARCH_OPTIONS>;

const DEFAULT_PORT = "9200";

/** Returns the addresses of hosts, of which a text may hold several, as URLs, http and port 9200 where they don't say. Throws for what isn't an address. */
export function hostUrls({ hosts, ssl_enabled, ssl, path }: ElasticsearchOptions): URL[] {
  const each = hosts.flatMap((host) => host.split(/\s+/)).filter((host) => host !== "");
  return each.map((host) => {
    const hasScheme = /^https?:\/\//.test(host);
    const url = new URL(hasScheme ? host : `${ssl_enabled || ssl === true ? "https" : "http"}://${host}`);
    const authority = host.replace(/^https?:\/\//, "").split("/")[0]!;
    if (!/:\d+$/.test(authority)) url.port = DEFAULT_PORT;
    url.pathname = `${url.pathname.replace(/\/+$/, "")}${path === "" ? "" : `/${path.replaceAll(/^\/+|\/+$/g, "")}`}`;
    return url;
  });
}

/**
 * Returns whether documents go over HTTP: unless all hosts are this machine's port 9200. An ingest pipeline takes documents
 * that come over HTTP.
 */
export function isRemote(values: ElasticsearchOptions): boolean {
  const urls = hostUrls(values);
  return (
    urls.length > 0 &&
    (values.remote ||
      (values.pipeline ?? "") !== "" ||
      !urls.every(({ hostname, port }) => isLoopbackHost(hostname) && port === DEFAULT_PORT))
  );
}

/** Returns whether documents go over HTTP to a port of this machine without anything to sign in with. */
export function isAnonymousAt(values: ElasticsearchOptions, signInPort: number): boolean {
  const { user, api_key, connection, custom_headers } = values;
  const signsIn =
    [user, api_key, connection].some((each) => each !== undefined) ||
    Object.keys(custom_headers).some((name) => name.toLowerCase() === "authorization");
  if (signsIn || !isRemote(values)) return false;
  return hostUrls(values).some(
    ({ hostname, port, username }) =>
      username === "" && isLoopbackHost(hostname) && port === String(signInPort),
  );
}

/** Longer ids are refused by the servers. Bytes. */
const MAX_ID_BYTES = 512;

const ACTIONS = ["index", "create", "update", "delete"] as const;

const DATA_STREAM = fieldReference("[data_stream]");

/** The line before a document. */
export interface BulkAction {
  readonly name: (typeof ACTIONS)[number];
  readonly index: string;
  /** Empty: none is given. */
  readonly id: string;
  /** Further members of the line. */
  readonly members: Readonly<Record<string, unknown>>;
}

export type ActionOf = (event: Event) => BulkAction | Refusal;

/** Returns what finds an event's action. */
export function compileAction(values: ElasticsearchOptions): ActionOf {
  const index = compileIndex(values);
  const id = compileFormat(values.document_id ?? "");
  const action = values.data_stream === "true" ? () => "create" : compileFormat(values.action);
  const members = compileMembers(values);
  return (event) => {
    const written = action(event);
    const name = ACTIONS.find((known) => known === written);
    if (name === undefined)
      return { refused: `"${written.slice(0, 200)}" isn't an action: ${ACTIONS.join(", ")}` };
    const documentId = id(event);
    const isUsable = Buffer.byteLength(documentId) <= MAX_ID_BYTES;
    if ((documentId === "" || !isUsable) && (name === "update" || name === "delete"))
      return { refused: `${name} needs a document_id of 1 to ${MAX_ID_BYTES} bytes` };
    // A document is rather kept under an id of its own than not at all.
    return { name, index: index(event), id: isUsable ? documentId : "", members: members(event, name) };
  };
}

function compileIndex(values: ElasticsearchOptions): (event: Event) => string {
  const { data_stream_type: type, data_stream_dataset: dataset, data_stream_namespace: namespace } = values;
  if (values.data_stream !== "true") {
    const format = compileFormat(values.index ?? "logs-%{+yyyy.MM.dd}");
    return (event) => format(event).toLowerCase();
  }
  return (event) => {
    const own = values.data_stream_auto_routing ? event.get(DATA_STREAM) : undefined;
    const field = (name: string, fallback: string): string =>
      isHash(own) && own[name] !== undefined ? valueText(own[name]) : fallback;
    return [field("type", type), field("dataset", dataset), field("namespace", namespace)]
      .join("-")
      .toLowerCase();
  };
}

function compileMembers(
  values: ElasticsearchOptions,
): (event: Event, name: string) => Record<string, unknown> {
  const formats = (["routing", "pipeline", "version"] as const).flatMap((name) => {
    const text = values[name];
    return text === undefined || text === "" ? [] : [[name, compileFormat(text)] as const];
  });
  const { version_type, retry_on_conflict } = values;
  return (event, name) => {
    const members: Record<string, unknown> = {};
    for (const [member, format] of formats) {
      // An ingest pipeline whose name is empty is none.
      const value = format(event);
      if (value !== "") members[member] = value;
    }
    if (version_type !== undefined) members["version_type"] = version_type;
    if (name === "update") members["retry_on_conflict"] = retry_on_conflict;
    return members;
  };
}
