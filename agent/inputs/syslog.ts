/** Input `syslog`: RFC 3164 and RFC 5424 messages over UDP (RFC 5426) or TCP (RFC 6587). The pipeline parses them. */

import type { Static, TSchema } from "typebox";
import { onlyWith } from "#agent/contract/idle-settings.ts";
import { defineInput, type Input, settingFault } from "#agent/contract/input.ts";
import { probeTcp, probeUdp } from "#agent/inputs/streams/addresses.ts";
import { Type } from "#proto/kit/schema.ts";
import { TcpInput, tcpInput, tcpSchema } from "./tcp.ts";
import { UdpInput, udpInput } from "./udp.ts";

const { framing: _, ...connection } = tcpSchema.properties;

/** Marks a setting of connections, which datagrams don't have. */
const ofConnections = <S extends TSchema>(schema: S): S => onlyWith(schema, "protocol", "tcp", "unix");

const schema = Type.Object(
  {
    // The order of settings makes the id of an input that has none of its own: those that follow replace, and move nothing.
    ...connection,
    max_connections: ofConnections(connection.max_connections),
    timeout: ofConnections(connection.timeout),
    "tls.certificate": ofConnections(connection["tls.certificate"]),
    "tls.key": ofConnections(connection["tls.key"]),
    "tls.ca": ofConnections(connection["tls.ca"]),
    host: Type.String({ default: "", description: "host:port to listen on; not with protocol unix." }),
    protocol: Type.Union([Type.Literal("udp"), Type.Literal("tcp"), Type.Literal("unix")], {
      default: "udp",
      description: "udp, tcp, or unix for a stream socket of the file system.",
    }),
    path: Type.Optional(Type.String({ description: "With protocol unix: path of the socket." })),
    read_buffer: onlyWith(udpInput.schema.properties["read_buffer"]!, "protocol", "udp"),
  },
  { additionalProperties: false },
);

/** Placeholder for a socket of the file system, which needs no address. */
const NO_ADDRESS = "localhost:0";

type Settings = Static<typeof schema>;

export const syslogInput = defineInput({
  type: "syslog",
  summary: "Receives syslog messages; TCP and sockets accept both octet counts and newlines.",
  heldSlots: 1,
  schema,
  validate(settings) {
    const { protocol, path, ...connection } = settings;
    if ((protocol === "unix") !== (path !== undefined))
      throw settingFault("protocol", "protocol: unix and path belong together; set both or none");
    const host = protocol === "unix" && connection.host === "" ? NO_ADDRESS : connection.host;
    tcpInput.validate({ ...connection, host, framing: "auto" });
  },
  create: (settings, context): Input => {
    const { path, ...connection } = settings as Settings;
    if (settings.protocol !== "udp")
      return new TcpInput(
        "syslog",
        {
          ...connection,
          host: path === undefined ? connection.host : NO_ADDRESS,
          framing: "auto",
          ...(path === undefined ? {} : { path }),
        },
        context,
      );
    const { host, max_message_size, read_buffer } = settings as Settings & { read_buffer: string };
    const spool = { "spool.max_bytes": settings["spool.max_bytes"] };
    return new UdpInput("syslog", { host, max_message_size, read_buffer, ...spool }, context);
  },
  probe: async ({ protocol, host }) => {
    if (protocol === "tcp") await probeTcp(host);
    else if (protocol === "udp") await probeUdp(host);
  },
});
