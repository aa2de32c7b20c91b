/** Packets of NetFlow version 5, whose records all have the same fields. */

import { type FlowRecord, type PacketHead, timed } from "./flow-record.ts";

/** Fields of a record of version 5 with their offsets and lengths, bytes. */
const VERSION_5: readonly [name: string, offset: number, length: number, kind?: "a"][] = [
  ["ipv4_src_addr", 0, 4, "a"],
  ["ipv4_dst_addr", 4, 4, "a"],
  ["ipv4_next_hop", 8, 4, "a"],
  ["input_snmp", 12, 2],
  ["output_snmp", 14, 2],
  ["in_pkts", 16, 4],
  ["in_bytes", 20, 4],
  ["first_switched", 24, 4],
  ["last_switched", 28, 4],
  ["l4_src_port", 32, 2],
  ["l4_dst_port", 34, 2],
  ["tcp_flags", 37, 1],
  ["protocol", 38, 1],
  ["src_tos", 39, 1],
  ["src_as", 40, 2],
  ["dst_as", 42, 2],
  ["src_mask", 44, 1],
  ["dst_mask", 45, 1],
];
const VERSION_5_HEAD = 24;
const VERSION_5_RECORD = 48;

/** Yields the records of a packet of version 5. Throws RangeError where it is damaged. */
export function* readVersion5(packet: Buffer): Generator<FlowRecord, void> {
  const count = packet.readUInt16BE(2);
  const sampling = packet.readUInt16BE(22);
  const timeMs = packet.readUInt32BE(8) * 1000 + Math.floor(packet.readUInt32BE(12) / 1e6);
  const head: PacketHead = {
    timeMs,
    uptimeMs: packet.readUInt32BE(4),
    sender: "",
    source: "",
    values: {
      version: 5,
      flow_seq_num: packet.readUInt32BE(16),
      engine_type: packet.readUInt8(20),
      engine_id: packet.readUInt8(21),
      sampling_algorithm: sampling >> 14,
      sampling_interval: sampling & 0x3fff,
      flow_records: count,
    },
  };
  for (let index = 0; index < count; index++) {
    const at = VERSION_5_HEAD + index * VERSION_5_RECORD;
    if (at + VERSION_5_RECORD > packet.length) throw new RangeError("the packet ends within a record");
    const values = { ...head.values };
    for (const [name, offset, length, kind = "u"] of VERSION_5)
      values[name] = timed({ name, kind }, packet.subarray(at + offset, at + offset + length), head);
    yield { timeMs, values };
  }
}
