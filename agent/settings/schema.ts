/** The schema of agent.yml, without the inputs' own settings. */

import { onlyWith } from "#agent/contract/idle-settings.ts";
import { Type } from "#proto/kit/schema.ts";
import { durationSetting, sizeSetting } from "#proto/kit/settings/kinds.ts";

const duration = (fallback: string, description: string) =>
  durationSetting({ default: fallback, description });
const size = (fallback: string, description: string) => sizeSetting({ default: fallback, description });
const text = (description: string) => Type.Optional(Type.String({ description }));

/** Keys as written in agent.yml, dotted. */
export const SETTINGS_SCHEMA = Type.Object(
  {
    name: Type.String({
      default: "",
      maxLength: 255,
      description: "Name of the agent; empty: the host name.",
    }),
    id: Type.Optional(
      Type.String({
        pattern: "^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$",
        description:
          "UUID by which the hub identifies the agent and its credentials; written at enrolment. Without it the first run generates one.",
      }),
    ),
    "shipper.inputs": Type.Array(Type.Object({ type: Type.String() }), {
      minItems: 1,
      description: "What to read; each entry has a type and that type's settings.",
    }),
    "output.pipeline.enabled": Type.Optional(
      Type.Boolean({ description: "Send to a hub. On unless output.search is set." }),
    ),
    "output.pipeline.servers": Type.Array(Type.String(), {
      minItems: 1,
      default: ["nats://127.0.0.1:4222"],
      description: "Addresses of the hub's NATS, nats:// or tls://.",
    }),
    "output.pipeline.token": text("Token for NATS."),
    "output.pipeline.username": Type.String({
      default: "tailrace",
      description: "User whose password is the token, if NATS has users. Default: the hub's own user.",
    }),
    "output.pipeline.token_file": text("File with the token; read on each connection."),
    "output.pipeline.nkey_seed_file": text("File with the seed of an nkey."),
    "output.pipeline.tls.ca": text("File with the certificates of authorities to trust, PEM."),
    "output.pipeline.tls.certificate": text("File with the agent's own certificate, PEM."),
    "output.pipeline.tls.key": text("File with its key, PEM."),
    "output.pipeline.compression": Type.Union([Type.Literal("none"), Type.Literal("zstd")], {
      default: "none",
      description: "zstd needs a third of the bandwidth and twice the CPU time.",
    }),
    "output.pipeline.batch_bytes": size("256kb", "Largest batch of log data, 16kb to 1mb."),
    "output.pipeline.linger": duration(
      "200ms",
      "Longest wait for further lines of a file before its batch is sent.",
    ),
    "output.pipeline.in_flight": Type.Integer({
      minimum: 1,
      maximum: 64,
      default: 4,
      description:
        "Maximum number of batches in flight; together with batch_bytes it bounds the agent's memory.",
    }),
    "output.pipeline.ack_timeout": duration(
      "3s",
      "Longest wait for the answer to a batch before it is sent again; the hub's log drops what it has already. The oldest batch is sent again after half a second where answers are quick.",
    ),
    "output.search.enabled": Type.Optional(
      Type.Boolean({ description: "Send directly to a search engine. On if output.search.hosts is set." }),
    ),
    "output.search.hosts": Type.Array(Type.String(), {
      default: [],
      description: "host:port or URLs of the search engine.",
    }),
    "output.search.index": Type.String({
      default: "logs-%{+yyyy.MM.dd}",
      description: "Index for the lines.",
    }),
    "output.search.username": text("User of the search engine."),
    "output.search.password": onlyWith(text("Password of that user."), "output.search.username"),
    "output.search.api_key": text("API key instead of user and password."),
    "output.search.bearer_token": text("Access token instead of user and password."),
    "output.search.compression": Type.Union([Type.Literal("none"), Type.Literal("gzip")], {
      default: "none",
      description: "gzip needs a fifth of the bandwidth and more CPU time.",
    }),
    "output.search.tls.ca": text(
      "File with the certificates of authorities to trust, PEM. It is read again when it changes.",
    ),
    "output.search.timeout": duration("30s", "Time after which a request without an answer is sent again."),
    "output.file.enabled": Type.Optional(
      Type.Boolean({ description: "Write JSON lines to a file. On if output.file.path is set." }),
    ),
    "output.file.path": text("Folder of the file."),
    "output.file.filename": Type.String({
      default: "tailrace-agent.ndjson",
      pattern: "^[^/]+$",
      description: "Name of the file; rotated files get .1, .2 and so on.",
    }),
    "output.file.rotate_every": size("10mb", "Size from which the file is rotated."),
    "output.file.number_of_files": Type.Integer({
      minimum: 2,
      maximum: 1_024,
      default: 7,
      description: "Files kept; older ones are deleted.",
    }),
    "output.console.enabled": Type.Optional(
      Type.Boolean({ description: "Write JSON lines to standard output." }),
    ),
    "config.reload.automatic": Type.Boolean({
      default: false,
      description: "Apply changed inputs of this file while running; SIGHUP applies them at once.",
    }),
    "config.reload.interval": onlyWith(
      duration("5s", "Interval at which this file is checked."),
      "config.reload.automatic",
    ),
    "setup.dashboard.username": text("User of the dashboard, for `setup`."),
    "setup.dashboard.password": onlyWith(text("Password of that user."), "setup.dashboard.username"),
    "setup.dashboard.api_key": text("API key instead of user and password."),
    "setup.dashboard.tls.ca": text("File with the certificates of authorities to trust, PEM."),
    "setup.dashboard.host": Type.String({
      default: "127.0.0.1:5601",
      description: "Dashboard through which `setup` loads templates and saved objects.",
    }),
    shutdown_timeout: duration(
      "5s",
      "Longest wait for acknowledgements at shutdown; a longer one means fewer resent batches after the next start.",
    ),
    "status.host": Type.String({ default: "127.0.0.1", description: "Address of /health and /metrics." }),
    "status.port": Type.Integer({
      minimum: 0,
      maximum: 65_535,
      default: 5066,
      description: "Port of /health and /metrics; 0: a free port.",
    }),
    "status.enabled": Type.Boolean({ default: true, description: "Offer /health and /metrics." }),
    "path.data": Type.String({
      default: "./data/agent",
      description: "Folder of the registry; in an installed package the default is /var/lib/tailrace-agent.",
    }),
    "logging.level": Type.Union(
      [Type.Literal("error"), Type.Literal("warn"), Type.Literal("info"), Type.Literal("debug")],
      {
        default: "info",
        description: "Lowest severity of the agent's own log messages.",
      },
    ),
    "logging.json": Type.Optional(
      Type.Boolean({
        description:
          "Log as JSON lines; false: as readable lines. Default: readable on a terminal, else JSON.",
      }),
    ),
  },
  { additionalProperties: false },
);

/** Settings that every input has. */
export const COMMON_INPUT_PROPERTIES = {
  type: Type.String({ description: "Kind of input." }),
  id: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 64,
      description: "Stable name of the input; derived from its settings if missing.",
    }),
  ),
  enabled: Type.Boolean({ default: true, description: "false: the input is ignored." }),
  fields: Type.Record(Type.String(), Type.Unknown(), {
    default: {},
    description: "Fields for each of its events, under `fields`.",
  }),
  tags: Type.Array(Type.String(), { default: [], description: "Tags for each of its events." }),
};
