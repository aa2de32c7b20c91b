/** Connections to Kafka (3.1 and newer), and the options that its input and its output share. */

import { readFileSync } from "node:fs";
import type { BaseOptions, SASLOptions } from "@platformatic/kafka";
import type { Static } from "typebox";
import { AppError } from "#proto/kit/errors.ts";
import { oneOf, optional, options, text, withoutEffect } from "#proto/kit/options.ts";
import { Type } from "#proto/kit/schema.ts";

const MECHANISMS = ["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER"] as const;

/** How often a request is tried by itself before its failure shows, and with what waits, ms. */
const RETRIES = { retries: 3, retryDelay: 250 };

const MILLISECONDS = { minimum: 1 };

export const KAFKA_OPTIONS = {
  bootstrap_servers: text(
    "servers from which the others are discovered: host:port, host:port",
    "localhost:9092",
  ),
  client_id: text("client id sent to the servers", "logstash"),
  security_protocol: oneOf(
    ["PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"],
    "whether TLS and authentication are used",
    "PLAINTEXT",
  ),
  sasl_mechanism: text(`authentication mechanism: ${MECHANISMS.join(", ")}`, "GSSAPI"),
  sasl_jaas_config: optional(text('name and password: … required username="u" password="p";')),
  connection: optional(text("name of a connected account whose access token is sent, with OAUTHBEARER")),
  ssl_truststore_location: optional(text("file of the authorities that are trusted, PEM")),
  ssl_truststore_type: oneOf(
    ["PEM", "pem", "jks", "JKS", "PKCS12"],
    "format of that file; only PEM is supported",
    "PEM",
  ),
  ssl_truststore_password: withoutEffect("a PEM file has no password"),
  ssl_keystore_location: optional(text("file of the own certificate and its key, PEM or PKCS12")),
  ssl_keystore_type: oneOf(["PEM", "pem", "PKCS12", "pkcs12", "jks", "JKS"], "format of that file", "PEM"),
  ssl_keystore_password: optional(text("password of that file")),
  ssl_key_password: optional(text("password of the key in that file")),
  ssl_endpoint_identification_algorithm: text("empty: the server's name isn't verified", "https"),
  request_timeout_ms: Type.Integer({
    default: 40_000,
    ...MILLISECONDS,
    description: "timeout of a request",
  }),
  metadata_max_age_ms: Type.Integer({
    default: 300_000,
    ...MILLISECONDS,
    description: "interval between searches for topics that match topics_pattern",
  }),
  socket_connection_setup_timeout_ms: Type.Integer({
    default: 10_000,
    ...MILLISECONDS,
    description: "timeout for opening a connection",
  }),
  client_dns_lookup: withoutEffect("all addresses of a name are tried"),
  connections_max_idle_ms: withoutEffect("connections stay open until the pipeline stops"),
  jaas_path: withoutEffect("write sasl_jaas_config"),
  kerberos_config: withoutEffect(
    "Kerberos isn't supported: use PLAIN, SCRAM-SHA-256, SCRAM-SHA-512 or OAUTHBEARER",
  ),
  receive_buffer_bytes: withoutEffect("the operating system sizes the buffers"),
  reconnect_backoff_max_ms: withoutEffect("waits between attempts grow automatically"),
  reconnect_backoff_ms: withoutEffect("waits between attempts grow automatically"),
  retry_backoff_ms: withoutEffect("waits between attempts grow automatically"),
  sasl_client_callback_handler_class: withoutEffect("Java classes aren't loaded"),
  sasl_iam_jar_paths: withoutEffect("Java classes aren't loaded"),
  sasl_kerberos_service_name: withoutEffect(
    "Kerberos isn't supported: use PLAIN, SCRAM-SHA-256, SCRAM-SHA-512 or OAUTHBEARER",
  ),
  sasl_login_callback_handler_class: withoutEffect("Java classes aren't loaded"),
  sasl_login_connect_timeout_ms: withoutEffect(
    "tokens come from the account that the option connection names",
  ),
  sasl_login_read_timeout_ms: withoutEffect("tokens come from the account that the option connection names"),
  sasl_login_retry_backoff_max_ms: withoutEffect(
    "tokens come from the account that the option connection names",
  ),
  sasl_login_retry_backoff_ms: withoutEffect("tokens come from the account that the option connection names"),
  sasl_oauthbearer_scope_claim_name: withoutEffect(
    "tokens come from the account that the option connection names",
  ),
  sasl_oauthbearer_token_endpoint_url: withoutEffect(
    "tokens come from the account that the option connection names",
  ),
  send_buffer_bytes: withoutEffect("the operating system sizes the buffers"),
};

const OPTIONS = options(KAFKA_OPTIONS);

export type KafkaOptions = Static<typeof OPTIONS>;

type Report = (severity: "error" | "warning", option: string, message: string, hint?: string) => void;

/** Reports which options aren't supported, with what to write instead. */
export function checkKafkaOptions(values: KafkaOptions, report: Report): void {
  const { security_protocol, sasl_mechanism, sasl_jaas_config, connection } = values;
  if (/^(?:jks|pkcs12)$/i.test(values.ssl_truststore_type))
    report(
      "error",
      "ssl_truststore_type",
      `a truststore of kind ${values.ssl_truststore_type} isn't read`,
      "make a PEM file of it: keytool -list -rfc -keystore STORE > ca.pem",
    );
  if (/^jks$/i.test(values.ssl_keystore_type))
    report(
      "error",
      "ssl_keystore_type",
      "a keystore of kind jks isn't read",
      "make PKCS12 of it: keytool -importkeystore -srckeystore STORE -destkeystore store.p12 -deststoretype PKCS12",
    );
  if (!security_protocol.startsWith("SASL")) return;
  if (!MECHANISMS.some((known) => known === sasl_mechanism))
    report(
      "error",
      "sasl_mechanism",
      `the mechanism ${sasl_mechanism} isn't supported`,
      `write one of ${MECHANISMS.join(", ")}`,
    );
  else if (sasl_mechanism === "OAUTHBEARER") {
    if (connection === undefined)
      report("error", "sasl_mechanism", "OAUTHBEARER needs a token", 'name an account: connection => "NAME"');
  } else if (credentials(sasl_jaas_config) === undefined)
    report(
      "error",
      "sasl_jaas_config",
      `${sasl_mechanism} needs a name and a password`,
      `write: sasl_jaas_config => 'required username="NAME" password="PASSWORD";'`,
    );
}

/** Loads the client, which takes a second and 50 MB: only those pay for it who use it. */
export function loadKafka(): Promise<typeof import("@platformatic/kafka")> {
  return import("@platformatic/kafka");
}

/** What a connection needs of its surroundings. */
export interface KafkaSurroundings {
  readonly checkTarget: (host: string) => void;
  readonly bearer: (connection: string, host: string) => Promise<string>;
}

/** Returns what a client is made with. Throws forbidden, file_unreadable. */
export function kafkaClientOptions(values: KafkaOptions, surroundings: KafkaSurroundings): BaseOptions {
  const bootstrapBrokers = values.bootstrap_servers
    .split(",")
    .map((server) => server.trim())
    .filter((server) => server !== "");
  for (const server of bootstrapBrokers) surroundings.checkTarget(server.replace(/:\d+$/, ""));
  const sasl = saslOptions(values, surroundings, bootstrapBrokers[0] ?? "");
  return {
    ...RETRIES,
    clientId: values.client_id,
    bootstrapBrokers,
    connectTimeout: values.socket_connection_setup_timeout_ms,
    requestTimeout: values.request_timeout_ms,
    timeout: values.request_timeout_ms,
    ...(values.security_protocol.endsWith("SSL") && { tls: tls(values), tlsServerName: true }),
    ...(sasl !== undefined && { sasl }),
  };
}

/** Returns an error of the client as one that is tried again, with the reasons below it. */
export function kafkaError(error: unknown): AppError {
  if (error instanceof AppError) return error;
  return new AppError("unavailable", `Kafka: ${reasons(error as Error).join("; ")}`, { cause: error });
}

function reasons(error: Error): string[] {
  const below = error instanceof AggregateError ? (error.errors as Error[]) : [];
  const deeper = below.flatMap(reasons);
  if (deeper.length > 0) return [...new Set(deeper)].slice(0, 3);
  return error.cause instanceof Error ? reasons(error.cause) : [error.message];
}

function saslOptions(
  { security_protocol, sasl_mechanism, sasl_jaas_config, connection }: KafkaOptions,
  { bearer }: KafkaSurroundings,
  server: string,
): SASLOptions | undefined {
  if (!security_protocol.startsWith("SASL")) return undefined;
  const mechanism = MECHANISMS.find((known) => known === sasl_mechanism) ?? "PLAIN";
  if (mechanism === "OAUTHBEARER" && connection !== undefined)
    return { mechanism, token: () => bearer(connection, server) };
  return { mechanism, ...credentials(sasl_jaas_config) };
}

/** Reads a line of JAAS: `module required username="u" password="p";`. */
function credentials(jaas = ""): { username: string; password: string } | undefined {
  const value = (name: string): string | undefined =>
    new RegExp(`\\b${name}\\s*=\\s*(?:"((?:[^"\\\\]|\\\\.)*)"|'((?:[^'\\\\]|\\\\.)*)')`)
      .exec(jaas)
      ?.slice(1)
      .find((part) => part !== undefined)
      ?.replaceAll(/\\(.)/g, "$1");
  const username = value("username");
  const password = value("password");
  return username === undefined || password === undefined ? undefined : { username, password };
}

function tls(values: KafkaOptions): NonNullable<BaseOptions["tls"]> {
  const { ssl_truststore_location, ssl_keystore_location, ssl_keystore_type, ssl_keystore_password } = values;
  const passphrase = values.ssl_key_password ?? ssl_keystore_password;
  const own = ssl_keystore_location === undefined ? undefined : readFileSync(ssl_keystore_location);
  const isPem = /^pem$/i.test(ssl_keystore_type);
  return {
    ...(ssl_truststore_location !== undefined && { ca: readFileSync(ssl_truststore_location) }),
    ...(own !== undefined && (isPem ? { cert: own, key: own } : { pfx: own })),
    ...(passphrase !== undefined && { passphrase }),
    ...(values.ssl_endpoint_identification_algorithm === "" && { checkServerIdentity: () => undefined }),
    minVersion: "TLSv1.2",
  };
}
