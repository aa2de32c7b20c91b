import assert from "node:assert/strict";
import { test } from "node:test";
import { fieldValue } from "#hub/pipeline/formats/flow-fields.ts";
import type { Event } from "#proto/event.ts";
import { netflowCodec } from "./netflow.ts";

const VERSIONS: (5 | 9 | 10)[] = [5, 9, 10];
const DEFAULTS = { target: "netflow", versions: VERSIONS, cache_ttl: 4000, include_flowset_id: false };

type Part = readonly [value: number | bigint | string, bytes: number];

/** Numbers in big endian, and texts filled up with zeros. */
function bytes(...parts: readonly Part[]): Buffer {
  return Buffer.concat(
    parts.map(([value, size]) => {
      const part = Buffer.alloc(size);
      if (typeof value === "string") part.write(value);
      else if (typeof value === "bigint") part.writeBigUInt64BE(value);
      else if (size > 0) part.writeUIntBE(value, 0, size);
      return part;
    }),
  );
}

function set(id: number, content: Buffer): Buffer {
  return Buffer.concat([bytes([id, 2], [content.length + 4, 2]), content]);
}

const TIME_S = 1_900_000_000;

function version9(...sets: readonly Buffer[]): Buffer {
  return Buffer.concat([bytes([9, 2], [sets.length, 2], [60_000, 4], [TIME_S, 4], [7, 4], [3, 4]), ...sets]);
}

function ipfix(...sets: readonly Buffer[]): Buffer {
  const body = Buffer.concat(sets);
  return Buffer.concat([bytes([10, 2], [body.length + 16, 2], [TIME_S, 4], [8, 4], [3, 4]), body]);
}

/** Address, port, bytes, start since the router's start, a text, an id. */
const TEMPLATE = set(
  0,
  bytes(
    [300, 2],
    [6, 2],
    [8, 2],
    [4, 2],
    [7, 2],
    [2, 2],
    [1, 2],
    [8, 2],
    [22, 2],
    [4, 2],
    [82, 2],
    [6, 2],
    [95, 2],
    [4, 2],
  ),
);
const DATA = set(
  300,
  bytes([0x0a000102, 4], [443, 2], [2n ** 60n, 8], [58_500, 4], ["eth0", 6], [0x0d000050, 4], [0, 3]),
);

function fieldsOf(events: readonly Event[], target = "netflow"): unknown[] {
  return events.map(({ fields }) => fields[target]);
}

test("netflow reads the flows of version 5, with the times that the router means", () => {
  const record = bytes(
    ...([
      [0xc0000201, 4],
      [0xc6336402, 4],
      [0x0a000001, 4],
      [1, 2],
      [2, 2],
      [10, 4],
      [840, 4],
    ] as const),
    ...([
      [59_000, 4],
      [59_250, 4],
      [5353, 2],
      [53, 2],
      [0, 1],
      [0x1b, 1],
      [17, 1],
      [4, 1],
    ] as const),
    ...([
      [64_512, 2],
      [64_513, 2],
      [24, 1],
      [16, 1],
      [0, 2],
    ] as const),
  );
  const head = (count: number) =>
    bytes(
      [5, 2],
      [count, 2],
      [60_000, 4],
      [TIME_S, 4],
      [500_000_000, 4],
      [9, 4],
      [1, 1],
      [2, 1],
      [0x4064, 2],
    );
  const codec = netflowCodec.create(DEFAULTS);
  const [event, ...more] = codec.decode(Buffer.concat([head(1), record]), 0);
  assert.deepEqual(more, []);
  assert.equal(event!.timeMs, TIME_S * 1000 + 500);
  assert.deepEqual(event!.fields["netflow"], {
    version: 5,
    flow_seq_num: 9,
    engine_type: 1,
    engine_id: 2,
    sampling_algorithm: 1,
    sampling_interval: 100,
    flow_records: 1,
    ipv4_src_addr: "192.0.2.1",
    ipv4_dst_addr: "198.51.100.2",
    ipv4_next_hop: "10.0.0.1",
    input_snmp: 1,
    output_snmp: 2,
    in_pkts: 10,
    in_bytes: 840,
    first_switched: "2030-03-17T17:46:39.500Z",
    last_switched: "2030-03-17T17:46:39.750Z",
    l4_src_port: 5353,
    l4_dst_port: 53,
    tcp_flags: 27,
    protocol: 17,
    src_tos: 4,
    src_as: 64_512,
    dst_as: 64_513,
    src_mask: 24,
    dst_mask: 16,
  });
  const cut = codec.decode(Buffer.concat([head(2), record]), 0);
  assert.deepEqual(
    cut.map(({ fields }) => fields["tags"]),
    [undefined, ["_netflowparsefailure"]],
  );
});

test("netflow reads records by the template of the same sender, and tags them until it comes", () => {
  const codec = netflowCodec.create(DEFAULTS);
  const early = codec.decode(version9(DATA), 0, "192.0.2.1");
  assert.deepEqual(fieldsOf(early), [{ version: 9, flow_seq_num: 7, flowset_id: 300 }]);
  assert.deepEqual(early[0]!.fields["tags"], ["_netflowtemplatemissing"]);
  assert.deepEqual(codec.decode(version9(TEMPLATE), 0, "192.0.2.1"), []);
  const flow = {
    version: 9,
    flow_seq_num: 7,
    flowset_id: 300,
    ipv4_src_addr: "10.0.1.2",
    l4_src_port: 443,
    in_bytes: String(2n ** 60n),
    first_switched: "2030-03-17T17:46:38.500Z",
    if_name: "eth0",
    application_id: "13..80",
  };
  assert.deepEqual(fieldsOf(codec.decode(version9(DATA), 0, "192.0.2.1")), [flow]);
  assert.deepEqual(codec.decode(version9(DATA), 0, "192.0.2.2")[0]!.fields["tags"], [
    "_netflowtemplatemissing",
  ]);
  const ttlMs = DEFAULTS.cache_ttl * 60_000;
  const late = codec.decode(version9(DATA), ttlMs + 1, "192.0.2.1");
  assert.deepEqual(late[0]!.fields["tags"], ["_netflowtemplatemissing"]);
});

test("netflow reads applications of enterprises, the status of forwarding and names of firewalls", () => {
  const layout: readonly (readonly [type: number, length: number])[] = [
    [95, 9],
    [89, 1],
    [56_701, 12],
    [57_590, 2],
    [210, 2],
    [0, 1],
  ];
  const numbers = layout.flatMap(([type, length]): Part[] => [
    [type, 2],
    [length, 2],
  ]);
  const application: Part[] = [
    [20, 1],
    [12_356, 4],
    [40_568, 4],
  ];
  assert.deepEqual(fieldValue("w", Buffer.from([0, 0, 0, 0x82])), { status: 2, reason: 2 });
  const values = bytes(...application, [0x41, 1], ["ssl", 12], [82, 2], [7, 2], [7, 1]);
  const codec = netflowCodec.create(DEFAULTS);
  codec.decode(version9(set(0, bytes([301, 2], [layout.length, 2], ...numbers))), 0);
  const events = codec.decode(version9(set(301, values)), 0);
  assert.deepEqual(fieldsOf(events), [
    {
      version: 9,
      flow_seq_num: 7,
      flowset_id: 301,
      application_id: "20..12356..40568",
      forwarding_status: { status: 1, reason: 1 },
      app_id: "ssl",
      nprobe_proto: 82,
    },
  ]);
});

test("netflow reads what routers say about themselves", () => {
  const options = set(
    1,
    bytes([400, 2], [4, 2], [8, 2], [1, 2], [4, 2], [34, 2], [4, 2], [35, 2], [1, 2], [0, 2]),
  );
  const data = set(400, bytes([1, 4], [1000, 4], [2, 1], [0, 3]));
  assert.deepEqual(fieldsOf(netflowCodec.create(DEFAULTS).decode(version9(options, data), 0)), [
    {
      version: 9,
      flow_seq_num: 7,
      flowset_id: 400,
      scope_system: 1,
      sampling_interval: 1000,
      sampling_algorithm: 2,
    },
  ]);
});

test("netflow reads IPFIX: IPv6, texts of any length, enterprises, reverse flows and times", () => {
  const template = set(
    2,
    bytes(
      ...([
        [500, 2],
        [7, 2],
        [27, 2],
        [16, 2],
        [371, 2],
        [0xffff, 2],
        [0x8005, 2],
        [2, 2],
        [4444, 4],
      ] as const),
      ...([
        [0x8001, 2],
        [4, 2],
        [29_305, 4],
        [152, 2],
        [8, 2],
        [154, 2],
        [8, 2],
        [56, 2],
        [6, 2],
      ] as const),
    ),
  );
  const record = bytes(
    ...([
      [0x20010db8, 4],
      [0, 4],
      [0, 4],
      [1, 4],
      [3, 1],
      ["amy", 3],
      [0xbeef, 2],
      [99, 4],
    ] as const),
    ...([
      [1_900_000_000_123n, 8],
      [((1_900_000_000n + 2_208_988_800n) << 32n) + (1n << 31n), 8],
    ] as const),
    [0x0200005e0001, 6],
  );
  const codec = netflowCodec.create({ ...DEFAULTS, target: "[flow]", include_flowset_id: true });
  const events = codec.decode(ipfix(template, set(500, Buffer.concat([record, record]))), 0);
  const flow = {
    version: 10,
    flowset_id: 500,
    sourceIPv6Address: "2001:db8::1",
    userName: "amy",
    enterprise_4444_5: 0xbeef,
    reverseOctetDeltaCount: 99,
    flowStartMilliseconds: "2030-03-17T17:46:40.123Z",
    flowStartMicroseconds: "2030-03-17T17:46:40.500Z",
    sourceMacAddress: "02:00:00:5e:00:01",
  };
  assert.deepEqual(fieldsOf(events, "flow"), [flow, flow]);
  assert.equal(events[0]!.timeMs, TIME_S * 1000);
  const withdrawn = codec.decode(ipfix(set(2, bytes([500, 2], [0, 2])), set(500, record)), 0);
  assert.deepEqual(withdrawn[0]!.fields["tags"], ["_netflowtemplatemissing"]);
});

test("netflow keeps what came before damage, and takes no packet for more than it holds", () => {
  const codec = netflowCodec.create(DEFAULTS);
  const tags = (packet: Buffer): unknown[] => codec.decode(packet, 0).map(({ fields }) => fields["tags"]);
  const failed = ["_netflowparsefailure"];
  assert.deepEqual(tags(version9(TEMPLATE, DATA, bytes([300, 2], [9999, 2]))), [undefined, failed]);
  const empty = set(0, bytes([301, 2], [1, 2], [8, 2], [0, 2]));
  assert.deepEqual(tags(version9(empty)), [failed]);
  const many = set(0, bytes([302, 2], [60_000, 2]));
  assert.deepEqual(tags(version9(many)), [failed]);
  const short = set(0, bytes([303, 2], [1, 2], [4, 2], [1, 2]));
  assert.equal(tags(version9(short, set(303, Buffer.alloc(40_000)))).length, 2_049);
  assert.deepEqual(tags(Buffer.from("no packet of a router")), [failed]);
  const [short9] = codec.decode(version9().subarray(0, 10), 0);
  assert.deepEqual(short9!.fields["error"], { message: "the bytes end within a value" });
});

test("netflow forgets a sender's own oldest templates, and those of the sender that sent nothing for longest", () => {
  const codec = netflowCodec.create(DEFAULTS);
  const isKnown = (sender: string): boolean =>
    codec.decode(version9(set(300, bytes([1, 4]))), 0, sender)[0]!.fields["tags"] === undefined;
  const fields = Array.from({ length: 512 }, (): Part[] => [
    [10, 2],
    [4, 2],
  ]).flat();
  const large = (id: number): Buffer => version9(set(0, bytes([id, 2], [512, 2], ...fields)));
  const small = version9(set(0, bytes([300, 2], [1, 2], [10, 2], [4, 2])));
  for (const sender of ["first", "flood", "second"]) codec.decode(small, 0, sender);
  for (let count = 0; count < 15; count++) codec.decode(large(301 + count), 0, "flood");
  assert.equal(isKnown("flood"), true);
  for (let count = 0; count < 200; count++) codec.decode(large(400 + count), 0, "flood");
  assert.equal(isKnown("flood"), false);
  assert.equal(isKnown("first"), true);
  for (let count = 0; count < 4_094; count++) codec.decode(small, 0, `sender ${count}`);
  assert.equal(isKnown("second"), false);
  assert.equal(isKnown("first"), true);
  for (let sender = 0; sender < 100; sender++)
    for (let count = 0; count < 16; count++) codec.decode(large(400 + count), 0, `large ${sender}`);
  assert.equal(isKnown("first"), false);
});

test("netflow keeps floats without a fraction as decimals", () => {
  const codec = netflowCodec.create(DEFAULTS);
  const template = set(2, bytes([500, 2], [2, 2], [311, 2], [8, 2], [1, 2], [4, 2]));
  const [event] = codec.decode(ipfix(template, set(500, bytes([0x3ff0000000000000n, 8], [1, 4]))), 0);
  assert.match(event!.toJson(), /"samplingProbability":1.0,"octetDeltaCount":1[,}]/);
});

test("netflow shows octet arrays in hexadecimal", () => {
  const codec = netflowCodec.create(DEFAULTS);
  const template = set(2, bytes([500, 2], [2, 2], [70, 2], [3, 2], [104, 2], [8, 2]));
  const record = bytes([0x80fe41, 3], [0xfffe800041000000n, 8]);
  assert.deepEqual(fieldsOf(codec.decode(ipfix(template, set(500, record)), 0)), [
    { version: 10, mplsTopLabelStackSection: "80fe41", layer2packetSectionData: "fffe800041000000" },
  ]);
});

test("netflow drops packets of versions that aren't asked for", () => {
  const codec = netflowCodec.create({ ...DEFAULTS, versions: [5] });
  assert.deepEqual(codec.decode(version9(TEMPLATE, DATA), 0), []);
});

test("netflow makes no more events of a datagram than routers send", () => {
  const template = (fields: number) =>
    set(
      2,
      bytes(
        [500, 2],
        [fields, 2],
        ...Array.from({ length: fields }, (_, at): Part[] => [
          [at + 1, 2],
          [1, 2],
        ]).flat(),
      ),
    );
  const rows: [fields: number, length: number, records: number, reason: RegExp][] = [
    [1, 65_000, 2048, /more than 2048 records/],
    [20, 65_000, 819, /more than 16384 fields/],
  ];
  for (const [fields, length, records, reason] of rows) {
    const codec = netflowCodec.create(DEFAULTS);
    codec.decode(ipfix(template(fields)), 0);
    const events = codec.decode(ipfix(set(500, Buffer.alloc(length, 1))), 0);
    assert.equal(events.length, records + 1);
    assert.match((events.at(-1)!.fields["error"] as { message: string }).message, reason);
  }
});
