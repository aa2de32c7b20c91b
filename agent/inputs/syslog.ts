/** Input `syslog`: RFC 3164 and RFC 5424 messages over UDP (RFC 5426) or TCP (RFC 6587). The pipeline parses them. */

import { type Static, Type } from "typebox";
import { defineInput, type Input } from "./input.ts";
import { TcpInput, tcpInput, tcpSchema } from "./tcp.ts";
import { UdpInput, udpInput } from "./udp.ts";

const { framing: _, ...connection } = tcpSchema.properties;

const schema = Type.Object(
  {
    ...connection,
    protocol: Type.Union([Type.Literal("udp"), Type.Literal("tcp")], {
      default: "udp",
      description: "udp or tcp.",
    }),
    read_buffer: udpInput.schema.properties["read_buffer"]!,
  },
  { additionalProperties: false },
);

type Settings = Static<typeof schema>;

export const syslogInput = defineInput({
  type: "syslog",
  summary: "Takes syslog messages; over TCP both octet counts and newlines are understood.",
  heldSlots: 1,
  schema,
  validate: (settings) => tcpInput.validate({ ...settings, framing: "auto" }),
  create: (settings, context): Input => {
    if (settings.protocol === "tcp") return new TcpInput("syslog", { ...settings, framing: "auto" }, context);
    const { host, max_message_size, read_buffer } = settings as Settings & { read_buffer: string };
    const spool = { "spool.max_bytes": settings["spool.max_bytes"] };
    return new UdpInput("syslog", { host, max_message_size, read_buffer, ...spool }, context);
  },
});
