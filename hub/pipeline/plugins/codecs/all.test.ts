import assert from "node:assert/strict";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import { ExtData, encode } from "@msgpack/msgpack";
import { Event } from "#proto/event.ts";
import { threadCpuMs } from "#proto/kit/process/thread-cpu.ts";
import { codecs } from "./all.ts";

await codecs.load();

/** Options that a codec needs. */
const NEEDED: Readonly<Record<string, Record<string, unknown>>> = {
  multiline: { pattern: "^\\s", what: "previous" },
  line: { format: "%{message}" },
  plain: { format: "%{message}" },
};

/** Formats that can hold any event; the others write a message, or what their options name. */
const WHOLE = new Set([
  "edn",
  "edn_lines",
  "json",
  "json_lines",
  "line",
  "plain",
  "msgpack",
  "multiline",
  "es_bulk",
]);

for (const definition of codecs.all) {
  // Its own tests make a schema.
  if (definition.name === "avro") continue;
  const options = Object.fromEntries(
    Object.entries(definition.options.properties).flatMap(([name, schema]) =>
      "default" in schema ? [[name, schema.default]] : [],
    ),
  );
  const codec = definition.create({ ...options, ...NEEDED[definition.name] });

  test(`${definition.name} documents itself and each option`, () => {
    assert.match(definition.description, /^[a-zA-Z].{5,}[^.]$/);
    for (const schema of Object.values(definition.options.properties)) {
      assert.ok((schema as { description?: string }).description);
    }
  });

  const decode = (bytes: Uint8Array): Event[] => [...codec.decode(bytes, 0), ...(codec.flush?.() ?? [])];

  if (WHOLE.has(definition.name)) {
    test(`${definition.name} reads back what it wrote`, () => {
      const event = new Event({ message: "one äöü\t2" }, 0);
      const [read, ...more] = decode(codec.encode(event));
      assert.equal(read!.toJson(), event.toJson());
      assert.deepEqual(more, []);
    });
  }

  test(`${definition.name} makes events of any bytes`, () => {
    for (const bytes of [[0xff], [0x7b], [0x5b, 0x31, 0x5d], [0x0a, 0x61], [0x00]]) {
      const events = decode(Buffer.from(bytes));
      assert.ok(events.length > 0);
      for (const event of events) assert.ok(JSON.parse(event.toJson()));
    }
  });
}

test("plain and line write time, host and message where no format is set", () => {
  const event = new Event({ message: "m", host: "h" }, 0);
  assert.equal(make("plain").encode(event).toString(), "1970-01-01T00:00:00.000Z h m");
  assert.equal(
    make("line")
      .encode(new Event({ message: "m" }, 0))
      .toString(),
    "1970-01-01T00:00:00.000Z %{host} m\n",
  );
});

test("json makes an event per item of a list, json_lines one per line, both tag invalid JSON", () => {
  const json = codecs.get("json")!.create({ charset: "UTF-8", target: "[t]" });
  assert.deepEqual(
    json.decode(Buffer.from('[{"a":1},{"a":2}]'), 0).map(({ fields }) => fields["t"]),
    [{ a: 1 }, { a: 2 }],
  );
  const lines = codecs.get("json_lines")!.create({ charset: "UTF-8", delimiter: "\n" });
  const deep = `{"a":${"[".repeat(50_000)}${"]".repeat(50_000)}}`;
  const events = lines.decode(Buffer.from(`{"a":1}\r\nnope\n${deep}\n`), 0);
  assert.deepEqual(
    events.map(({ fields: { a, message, tags } }) => [a, message, tags]),
    [
      [1, undefined, undefined],
      [undefined, "nope", ["_jsonparsefailure"]],
      [undefined, deep, ["_jsonparsefailure"]],
    ],
  );
});

function make(name: string, options: Record<string, unknown> = {}) {
  const { properties } = codecs.get(name)!.options;
  const defaults = Object.entries(properties).flatMap(([key, schema]) =>
    "default" in schema ? [[key, schema.default]] : [],
  );
  return codecs.get(name)!.create({ ...Object.fromEntries(defaults), ...options });
}

function fields(event: Event): Record<string, unknown> {
  const all = JSON.parse(event.toJson()) as Record<string, unknown>;
  delete all["@timestamp"];
  return all;
}

test("multiline joins lines with the one before or after, across payloads, and counts the lines it holds", () => {
  const previous = make("multiline", { pattern: "^\\s", what: "previous" });
  const seen: unknown[] = [];
  for (const line of ["one", " a", " b", "two"])
    seen.push(previous.decode(Buffer.from(line), 0).map(fields), previous.held);
  assert.deepEqual(seen, [[], 1, [], 2, [], 3, [{ message: "one\n a\n b", tags: ["multiline"] }], 1]);
  assert.deepEqual(previous.flush?.().map(fields), [{ message: "two" }]);
  assert.equal(previous.held, 0);
  const next = make("multiline", { pattern: "\\\\$", what: "next" });
  assert.deepEqual(next.decode(Buffer.from("a\\\nb\nc\\\n"), 0).map(fields), [
    { message: "a\\\nb", tags: ["multiline"] },
  ]);
  assert.equal(next.held, 1);
  const negated = make("multiline", {
    pattern: "^%{TIMESTAMP_ISO8601} ",
    negate: true,
    what: "previous",
    max_lines: 2,
  });
  assert.deepEqual(negated.decode(Buffer.from("2020-01-02T03:04:05 x\nat y\nat z\n"), 0).map(fields), [
    { message: "2020-01-02T03:04:05 x\nat y", tags: ["multiline", "multiline_codec_max_lines_reached"] },
  ]);
});

test("texts in other encodings become UTF-8", () => {
  assert.deepEqual(
    make("plain", { charset: "ISO-8859-1" }).decode(Buffer.from("gr\xfc\xdfe", "latin1"), 0).map(fields),
    [{ message: "grüße" }],
  );
  assert.deepEqual(
    make("line", { charset: "UTF-16LE" }).decode(Buffer.from("a\nb", "utf16le"), 0).map(fields),
    [{ message: "a" }, { message: "b" }],
  );
  assert.throws(() => make("plain", { charset: "EBCDIC" }), /there is no encoding "EBCDIC"/);
});

test("csv names columns, takes them from the first line, converts, and writes what it reads", () => {
  const csv = make("csv", { autodetect_column_names: true, convert: { n: "integer" } });
  assert.deepEqual(csv.decode(Buffer.from('n,t\n1,"a,b"\n2,\n'), 0).map(fields), [
    { n: 1, t: "a,b" },
    { n: 2, t: null },
  ]);
  const kinds = { a: "integer", b: "float", c: "boolean", d: "date_time" };
  const converting = make("csv", { columns: ["a", "b", "c", "d"], convert: kinds });
  const texts = Buffer.from("n/a,1.5x,on,never\n0x1f,2.5,TRUE,2024-01-05T00:00:00Z\n");
  assert.deepEqual(
    converting.decode(texts, 0).map((event) => JSON.stringify(fields(event))),
    [
      '{"a":"n/a","b":"1.5x","c":"on","d":"never"}',
      '{"a":31,"b":2.5,"c":true,"d":"2024-01-05T00:00:00.000Z"}',
    ],
  );
  assert.throws(() => make("csv", { convert: { a: "constructor" } }), /isn't a kind of value/);
  const unnamed = make("csv", { autodetect_column_names: true });
  assert.deepEqual(unnamed.decode(Buffer.from("n,a[\n1,2\n"), 0).map(fields), [
    { message: "1,2", tags: ["_csvparsefailure"] },
  ]);
  const written = make("csv", { columns: ["a", "b"], include_headers: true });
  const rows = [{ a: 1, b: 'x"y' }, { b: "z" }].map((each) =>
    Buffer.from(written.encode(new Event({ ...each }, 0))).toString(),
  );
  assert.deepEqual(rows, ['a,b\n1,"x""y"\n', ",z\n"]);
});

test("combined reads an access log's line into fields and time", () => {
  const line = '1.2.3.4 - bob [17/May/2015:10:05:03 +0200] "GET /x HTTP/1.1" 200 12 "http://r" "agent/1"';
  const [event] = make("combined").decode(Buffer.from(line), 0);
  assert.equal(event?.timeMs, Date.UTC(2015, 4, 17, 8, 5, 3));
  assert.deepEqual(fields(event!)["http"], {
    request: { method: "GET", referrer: "http://r" },
    version: "1.1",
    response: { status_code: 200, body: { bytes: 12 } },
  });
  assert.equal(
    make("common", { ecs_compatibility: "disabled" }).decode(Buffer.from(line), 0)[0]?.fields["clientip"],
    "1.2.3.4",
  );
  assert.deepEqual(make("combined").decode(Buffer.from("no"), 0).map(fields), [
    { message: "no", tags: ["_grokparsefailure"] },
  ]);
});

test("ends of lines inside a message of cef cost no more than other characters", () => {
  const text = `CEF:0|v|p|1|2|n|3|msg=a${"\r\n".repeat(30_000)}b`;
  const startedMs = threadCpuMs();
  assert.equal(make("cef").decode(Buffer.from(`${text}\r\n`), 0).length, 1);
  assert.ok(threadCpuMs() - startedMs < 500);
});

test("cef leaves out extensions without a value: typed fields would refuse their documents", () => {
  const line = "CEF:0|v|p|1|2|n|3|src= dpt= start= cs1=a sntdom=";
  const ecs = fields(make("cef", { ecs_compatibility: "v8" }).decode(Buffer.from(line), 0)[0]!);
  assert.deepEqual(Object.keys(ecs).sort(), ["cef", "event", "observer"]);
});

test("cef names zones by the Elastic Common Schema, and writes a domain as one of the DNS", () => {
  const line = "CEF:0|v|p|1|2|n|3|deviceZoneURI=/A sourceTranslatedZoneExternalID=7 agentZoneURI=/B";
  const cef = fields(make("cef", { ecs_compatibility: "v8" }).decode(Buffer.from(line), 0)[0]!)["cef"];
  assert.deepEqual(cef, {
    version: "0",
    name: "n",
    zone: { uri: "/A" },
    source: { translated_zone: { external_id: "7" } },
    agent: { zone: { uri: "/B" } },
  });
  const codec = make("cef", {
    ecs_compatibility: "v8",
    fields: ["[source][registered_domain]", "[cef][zone][uri]"],
  });
  const event = new Event({ source: { registered_domain: "a.example" }, cef: { zone: { uri: "/A" } } }, 0);
  assert.match(
    Buffer.from(codec.encode(event)).toString(),
    /\|sourceDnsDomain=a\.example deviceZoneURI=\/A$/,
  );
});

test("cef reads header and extensions by both schemas, and writes them escaped", () => {
  const line = String.raw`<34>Jan 1 host CEF:0|Sec\|urity|threat\\manager|1.0|100|worm stopped|10|src=10.0.0.192 dpt=80 msg=a\=b c cs1Label=user id cs1=x foo=bar`;
  const legacy = fields(make("cef").decode(Buffer.from(line), 0)[0]!);
  assert.deepEqual(legacy, {
    cefVersion: "0",
    deviceVendor: "Sec|urity",
    deviceProduct: String.raw`threat\manager`,
    deviceVersion: "1.0",
    deviceEventClassId: "100",
    name: "worm stopped",
    severity: "10",
    syslog: "<34>Jan 1 host",
    sourceAddress: "10.0.0.192",
    destinationPort: "80",
    message: "a=b c",
    deviceCustomString1Label: "user id",
    deviceCustomString1: "x",
    foo: "bar",
  });
  const ecs = fields(make("cef", { ecs_compatibility: "v8" }).decode(Buffer.from(line), 0)[0]!);
  assert.deepEqual(ecs["destination"], { port: 80 });
  assert.deepEqual((ecs["cef"] as Record<string, unknown>)["device_custom_string_1"], {
    label: "user id",
    value: "x",
  });
  const written = make("cef", { vendor: "V|x", fields: ["sourceAddress", "note"], reverse_mapping: true });
  const out = Buffer.from(
    written.encode(new Event({ sourceAddress: "1.1.1.1", note: "a=b\nc" }, 0)),
  ).toString();
  assert.equal(out, String.raw`CEF:0|V\|x|Logstash|1.0|Logstash|Logstash|6|src=1.1.1.1 note=a\=b\nc`);
  const failing = [
    "no cef",
    "CEF:0|v|p|1|2|n|3|foo=1 foo[0]=2",
    "CEF:0|v|p|1|2|n|3|foo[a]=1",
    "CEF:0|v|p|1|2|n|3|text without a key",
    "CEF:0|v|p|1|2|n|3|a=1\nCEF:0|v|p|1|2|n|3|a=2",
  ];
  for (const message of failing)
    assert.deepEqual(make("cef").decode(Buffer.from(message), 0).map(fields), [
      { message, tags: ["_cefparsefailure"] },
    ]);
});

test("cef names fields by the Elastic Common Schema, and reads times in the zone of the device", () => {
  const line =
    '"CEF:0|v|p|1|2|n|3|rt=Jul 19 2017 10:50:21.127 dtz=Europe/Moscow start=1499158800000 end=Jul 19 2017 10:50:21 CEST ' +
    'destinationAddress=5.6.7.8 cfp15=3.14 externalId=7 dvchost=fw moo.a=x moo[0]=y"';
  const codec = make("cef", { ecs_compatibility: "v8", device: "host" });
  const [event] = codec.decode(Buffer.from(line), 0);
  assert.deepEqual(JSON.parse(event!.toJson()), {
    "@timestamp": "2017-07-19T07:50:21.127Z",
    cef: { version: "0", name: "n", device_custom_floating_point_15: { value: "3.14" }, external_id: "7" },
    observer: { vendor: "v", product: "p", version: "1" },
    event: {
      code: "2",
      severity: "3",
      timezone: "Europe/Moscow",
      start: "2017-07-04T09:00:00.000Z",
      end: "2017-07-19T08:50:21.000Z",
    },
    destination: { ip: "5.6.7.8" },
    host: { name: "fw" },
    "moo.a": "x",
    moo: { "0": "y" },
  });
});

test("cef parts and ends events at a delimiter that is written with escapes", () => {
  const codec = make("cef", { delimiter: String.raw`\r\n`, fields: ["a"] });
  const payload = "CEF:0|v|p|1|2|n|3|a=1\r\nCEF:0|v|p|1|2|n|3|a=2\r\n";
  const events = codec.decode(Buffer.from(payload), 0);
  assert.deepEqual(
    events.map(({ fields: { a } }) => a),
    ["1", "2"],
  );
  assert.match(Buffer.from(codec.encode(events[0]!)).toString(), /\|a=1\r\n$/);
});

test("cef writes names and values that its readers take", () => {
  const written = (values: Record<string, unknown>, event: Record<string, unknown>): string =>
    Buffer.from(make("cef", values).encode(new Event(event, 0))).toString();
  const ecs = { ecs_compatibility: "v8", fields: ["[source][ip]", "[my][field-1]", "list"] };
  const event = { source: { ip: "1.1.1.1" }, my: { "field-1": "a\rb" }, list: ["x", "y"] };
  assert.equal(
    written({ ...ecs, reverse_mapping: true, vendor: "", severity: "5.0" }, event),
    String.raw`CEF:0|Elasticsearch|Logstash|1.0|Logstash|Logstash|5|src=1.1.1.1 myfield1=a\nb list=["x","y"]`,
  );
  assert.equal(written({ severity: "high" }, {}), "CEF:0|Elasticsearch|Logstash|1.0|Logstash|Logstash|6|");
});

test("es_bulk pairs actions with documents; an incomplete pair is tagged", () => {
  const body = '{"index":{"_index":"i","_id":"1"}}\n{"a":1}\n{"delete":{"_id":"2"}}\nnope\n{"create":{}}\n';
  const events = make("es_bulk").decode(Buffer.from(body), 0);
  assert.deepEqual(
    events.map(({ metadata }) => metadata),
    [{ _index: "i", _id: "1", action: "index" }, { _id: "2", action: "delete" }, {}, {}],
  );
  assert.deepEqual(
    events.map(({ fields: { a, tags } }) => a ?? tags ?? null),
    [1, null, ["_jsonparsefailure"], ["_jsonparsefailure"]],
  );
});

test("msgpack and fluent keep floats without a fraction as decimals", () => {
  // {"f": 30.0 of 64 bits, "g": 2.0 of 32 bits, "i": 30}
  const map = "83a166cb403e000000000000a167ca40000000a1691e";
  const written = (codec: string, hex: string): string =>
    JSON.stringify(make(codec).decode(Buffer.from(hex, "hex"), 0)[0]?.fields);
  assert.match(written("msgpack", map), /"f":30.0,"g":2.0,"i":30[,}]/);
  // ["t", 1700000000.0, map]: old senders write the time as a float.
  const [event] = make("fluent").decode(Buffer.from(`93a174cb41d954fc40000000${map}`, "hex"), 0);
  assert.match(JSON.stringify(event?.fields), /"f":30.0,"g":2.0,"i":30[,}]/);
  assert.equal(event?.timeMs, 1_700_000_000_000);
});

test("msgpack and fluent write decimals as floats, and integers of 64 bits exactly", () => {
  const [event] = make("json").decode(
    Buffer.from(
      '{"f":30.0,"l":[-0.0,1e3],"m":{"i":30},"n":9007199254740993,"s":-9223372036854775808,"u":18446744073709551616}',
    ),
    0,
  );
  const wanted =
    "86a166cb403e000000000000a16c92cb8000000000000000cb408f400000000000a16d81a1691ea16ecf0020000000000001" +
    "a173d38000000000000000a175cb43f0000000000000";
  const { "@timestamp": _, ...own } = event!.fields;
  const plain = new Event({}, 0);
  Object.assign(plain.fields, own);
  const hex = (codec: string): string => Buffer.from(make(codec).encode(plain)).toString("hex");
  for (const codec of ["msgpack", "fluent"]) assert.ok(hex(codec).includes(wanted.slice(2)), hex(codec));
});

test("msgpack reads every kind of value and writes what it can read", () => {
  const value = {
    a: [1, -1, 300, 70_000, -40_000, 1.5, 2 ** 40],
    t: "x".repeat(300),
    n: null,
    b: [true, false],
    o: { ü: {} },
    l: Array.from({ length: 20 }, (_, i) => i),
  };
  const codec = make("msgpack");
  assert.deepEqual(fields(codec.decode(codec.encode(new Event(structuredClone(value), 0)), 0)[0]!), value);
  const time = Buffer.from([0x81, 0xa1, 0x74, 0xd6, 0xff, 0x5e, 0x0b, 0xe1, 0x00]);
  assert.deepEqual(codec.decode(Buffer.concat([time, time]), 0).map(fields), [
    { t: "2020-01-01T00:00:00.000Z" },
    { t: "2020-01-01T00:00:00.000Z" },
  ]);
  assert.deepEqual(codec.decode(Buffer.from([0x81, 0xa1]), 0)[0]?.fields["tags"], ["_msgpackparsefailure"]);
});

/** Returns what MessagePack has before a text. */
function textHead(bytes: number): Buffer {
  const head = Buffer.alloc(5);
  head.writeUInt32BE(bytes, 1);
  head[0] = 0xdb;
  if (bytes >= 65_536) return head;
  return bytes < 256 ? Buffer.from([0xd9, bytes]) : Buffer.from([0xda, bytes >> 8, bytes & 0xff]);
}

test("fluent reads the modes of messages, and writes what it reads", () => {
  const codec = make("fluent");
  const time = new ExtData(0, Buffer.from([0x71, 0x3f, 0xb3, 0, 0x1d, 0xcd, 0x65, 0]));
  const packed = Buffer.concat([encode([1, { n: 3 }]), encode([2, { n: 4 }])]);
  const messages = [
    ["app.a", 1_900_000_000, { n: 1, "@timestamp": "2001-02-03T04:05:06Z" }, { chunk: "c" }],
    ["app.b", [[time, { n: 2 }]]],
    ["app.c", packed, { size: 2 }],
    ["app.d", packed, { compressed: "gzip" }],
    ["app.e"],
  ];
  const events = codec.decode(Buffer.concat(messages.map((message) => encode(message))), 7);
  assert.deepEqual(
    events.map(({ timeMs, fields: { n, tags } }) => [timeMs, n, tags]),
    [
      [1_900_000_000_000, 1, ["app.a"]],
      [1_900_000_000_500, 2, ["app.b"]],
      [1000, 3, ["app.c"]],
      [2000, 4, ["app.c"]],
      [7, undefined, ["_fluentparsefailure"]],
      [7, undefined, ["_fluentparsefailure"]],
    ],
  );
  assert.match(JSON.stringify(events[4]!.fields["error"]), /input forward/);
  for (const repeat of [1, 3, 20, 4_000]) {
    // Old senders write packed entries as a text, although times aren't UTF-8.
    const entry = Buffer.concat([Buffer.from([0x92]), encode(time), encode({ n: 9, s: "ä".repeat(7) })]);
    const bytes = Buffer.concat(Array<Buffer>(repeat).fill(entry));
    const message = Buffer.concat([
      Buffer.from([0x93]),
      encode("app.text"),
      textHead(bytes.length),
      bytes,
      encode({}),
    ]);
    const read = codec.decode(message, 7);
    assert.equal(read.length, repeat);
    assert.deepEqual(
      read.map(({ timeMs, fields: { n, s } }) => [timeMs, n, s]),
      Array(repeat).fill([1_900_000_000_500, 9, "ä".repeat(7)]),
    );
  }
  const [targeted] = make("fluent", { target: "[doc]" }).decode(encode(["app", 5, { a: { b: 1 } }]), 0);
  assert.deepEqual(fields(targeted!), { doc: { a: { b: 1 } }, tags: ["app"] });
  const event = new Event({ n: 5, tags: ["app", "x"] }, 1_500);
  for (const [nanosecond_precision, timeMs] of [
    [false, 1_000],
    [true, 1_500],
  ] as const) {
    const [read] = codec.decode(make("fluent", { nanosecond_precision }).encode(event), 0);
    assert.deepEqual(
      [read!.timeMs, read!.fields["n"], read!.fields["tags"]],
      [timeMs, 5, ["app", "x", "app.x"]],
    );
  }
});

test("gzip_lines reads packed lines, and what can be read of a payload without its end or that is too long", () => {
  const codec = make("gzip_lines");
  const packed = gzipSync("one\r\n\ntwo\n");
  const read = (bytes: Uint8Array): unknown[] =>
    codec.decode(bytes, 0).map(({ fields: { message, tags } }) => message ?? tags);
  assert.deepEqual(read(packed), ["one", "two"]);
  assert.deepEqual(read(Buffer.concat([packed, gzipSync("three")])), ["one", "two", "three"]);
  assert.deepEqual(read(Buffer.from("plain\n")), ["plain"]);
  const failed = ["_gzipparsefailure"];
  assert.deepEqual(read(packed.subarray(0, -8)), ["one", "two", failed]);
  assert.deepEqual(read(Buffer.concat([packed.subarray(0, 10), Buffer.alloc(20, 0xff)])), [failed]);
  assert.deepEqual(read(gzipSync(Buffer.alloc(33 * 1024 * 1024, "\n"), { level: 1 })), [failed]);
});

test("gzip_lines keeps the lines before damage and before the limit of a payload, and cuts long lines", () => {
  const codec = make("gzip_lines");
  const failed = ["_gzipparsefailure"];
  const tagsOf = (bytes: Uint8Array): unknown[] =>
    codec.decode(bytes, 0).map((event) => event.fields["tags"]);
  const lines = Array.from({ length: 300 }, (_, number) => `line ${number} ${Math.sqrt(number)}`);
  const packed = gzipSync(lines.join("\n"));
  packed[packed.length - 6]! ^= 1;
  const read = codec.decode(packed, 0);
  assert.deepEqual(
    read.map(({ fields: { message } }) => message),
    [...lines, undefined],
  );
  assert.deepEqual(read.at(-1)!.fields["tags"], failed);
  const damaged = gzipSync(lines.join("\n"));
  damaged.fill(0xff, damaged.length >> 1);
  const before = codec.decode(damaged, 0).map(({ fields: { message } }) => message);
  assert.ok(before.length > 100 && before.length < 300);
  assert.deepEqual(before.slice(0, 100), lines.slice(0, 100));
  const bomb = tagsOf(gzipSync("a\n".repeat(2_000_000), { level: 1 }));
  assert.deepEqual([bomb.length, bomb[49_999], bomb[50_000]], [50_001, undefined, failed]);
  const long = codec.decode(gzipSync("a".repeat(2_500_000)), 0);
  assert.deepEqual(
    long.map(({ fields: { message, tags } }) => [(message as string).length, tags]),
    [
      [1_048_576, ["line_cut"]],
      [1_048_576, ["line_cut"]],
      [402_848, ["line_cut"]],
    ],
  );
});

test("cloudtrail makes an event of each record, with its time and one type for each field", () => {
  const codec = make("cloudtrail");
  const records = [
    { eventTime: "2031-01-02T03:04:05Z", eventName: "A", sourceIPAddress: "2001:db8::7", n: 1 },
    { eventName: "B", sourceIPAddress: "config.example", requestParameters: { disableApiTermination: true } },
    { sourceIpAddress: null, requestParameters: { disableApiTermination: { value: false } } },
    { requestParameters: null },
  ];
  const file = Buffer.from(JSON.stringify({ Records: records }));
  for (const bytes of [file, gzipSync(file)]) {
    const events = codec.decode(bytes, 7);
    assert.deepEqual(events.map(fields), [
      { eventName: "A", sourceIPAddress: "2001:db8::7", n: 1 },
      {
        eventName: "B",
        sourceHost: "config.example",
        requestParameters: { disableApiTermination: { value: true } },
      },
      { sourceIpAddress: null, requestParameters: { disableApiTermination: { value: false } } },
      { requestParameters: null },
    ]);
    assert.deepEqual(
      events.map(({ timeMs }) => timeMs),
      [Date.UTC(2031, 0, 2, 3, 4, 5), 7, 7, 7],
    );
  }
  for (const text of ["{}", '{"Records":[1]}', "no JSON"]) {
    const [event, ...more] = codec.decode(Buffer.from(text), 0);
    assert.deepEqual(
      [event!.fields["message"], event!.fields["tags"], more],
      [text, ["_cloudtrailparsefailure"], []],
    );
  }
});

test("cloudtrail keeps the records before damage and before the limit, and shows the beginning of what it can't read", () => {
  const codec = make("cloudtrail");
  const failed = ["_cloudtrailparsefailure"];
  const record = '{"a":"}\\\\\\"{","b":{"c":[{}]}}';
  const [first, second, ...more] = codec.decode(
    gzipSync(`{"Records":[${record},\n${record}`).subarray(0, -8),
    0,
  );
  assert.deepEqual([fields(first!), fields(second!)], Array(2).fill({ a: '}\\"{', b: { c: [{}] } }));
  assert.deepEqual(
    more.map((event) => event.fields["tags"]),
    [failed],
  );
  const bomb = codec.decode(gzipSync(`{"Records":[${"{},".repeat(600_000)}{}]}`), 0);
  assert.deepEqual([bomb.length, bomb.at(-1)!.fields["tags"]], [50_001, failed]);
  const [text] = codec.decode(gzipSync("a".repeat(9_000_000), { level: 1 }), 0);
  assert.equal((text!.fields["message"] as string).length, 65_536);
  const [nested] = codec.decode(gzipSync(`{"Records":[{"a":[${"{},".repeat(500_000)}{}]}]}`), 0);
  assert.deepEqual(nested!.fields["tags"], failed);
  const lists = `{"a":[${"[],".repeat(300_000)}[]]},`;
  assert.equal(codec.decode(gzipSync(`{"Records":[${lists.repeat(10)}{}]}`), 0).length, 1);
});

test("edn reads every kind of value, and tags what isn't a table or nests too deep", () => {
  const codec = make("edn");
  const text = String.raw`; a comment
    {:message "a \"q\" \u00e4\n", :app/level :warn "n" -12 :big 7N :huge 12345678901234567890N :ratio 1.5e1M :ok true, :none nil
     :list (1 2 #_skipped 3) :set #{:a} :char \newline :letter \x :at #inst "2031-01-02T03:04:05Z"
     :in {:deep [{:er sym}]} 5 :five}
    {:second 1}`;
  assert.deepEqual(codec.decode(Buffer.from(text), 0).map(fields), [
    {
      message: 'a "q" ä\n',
      "app/level": "warn",
      n: -12,
      big: 7,
      huge: "12345678901234567890",
      ratio: 15,
      ok: true,
      none: null,
      list: [1, 2, 3],
      set: ["a"],
      char: "\n",
      letter: "x",
      at: "2031-01-02T03:04:05Z",
      in: { deep: [{ er: "sym" }] },
      5: "five",
    },
    { second: 1 },
  ]);
  for (const damaged of [
    "{:a}",
    "[1]",
    "{:a 1",
    '{:a "1}',
    "{:a 1)",
    "{:a 1} ) {:b 2}",
    "",
    "#",
    `${"[".repeat(70)}${"]".repeat(70)}`,
  ]) {
    const [event, ...more] = codec.decode(Buffer.from(damaged), 0);
    assert.deepEqual(
      [event!.fields["message"], event!.fields["tags"], more],
      [damaged, ["_ednparsefailure"], []],
    );
  }
  const event = new Event({ a: [1, null, { b: 'x"' }] }, 0);
  const written = '{"a" [1 nil {"b" "x\\""}], "@timestamp" "1970-01-01T00:00:00.000Z"}';
  assert.equal(Buffer.from(codec.encode(event)).toString(), written);
  assert.equal(Buffer.from(make("edn_lines").encode(event)).toString(), `${written}\n`);
  const lines = make("edn_lines", { target: "doc" }).decode(Buffer.from("{:a 1}\nno {\n{:a 2}\n"), 0);
  assert.deepEqual(
    lines.map(({ fields: { doc, tags } }) => doc ?? tags),
    [{ a: 1 }, ["_ednparsefailure"], { a: 2 }],
  );
});

test("edn reads numbers that JSON hasn't, named characters, discarded values in a row, and symbols of every letter", () => {
  const codec = make("edn");
  const read = (text: string): unknown[] => codec.decode(Buffer.from(text), 0).map(fields);
  assert.deepEqual(read("{:a ##NaN :b ##Inf :c 1 :d [##-Inf]}"), [{ a: "NaN", b: "Inf", c: 1, d: ["-Inf"] }]);
  assert.deepEqual(read(String.raw`{:a \formfeed :b \backspace :c \f :d \o :e \o101 :f [\a \b]}`), [
    { a: "\f", b: "\b", c: "f", d: "o", e: "A", f: ["a", "b"] },
  ]);
  assert.deepEqual(read(`{:a ${"#_x ".repeat(100)}1 :b ${"#_".repeat(100)}${" y".repeat(100)} 2}`), [
    { a: 1, b: 2 },
  ]);
  assert.deepEqual(read("{:a x' :b a|b :c' 1}"), [{ a: "x'", b: "a|b", "c'": 1 }]);
  for (const damaged of [
    "{:a ##Other}",
    "{:a ##}",
    String.raw`{:a \other}`,
    "{:a #_}",
    "{:a #_ b}",
    "{:a 'x}",
  ])
    assert.deepEqual(codec.decode(Buffer.from(damaged), 0)[0]!.fields["tags"], ["_ednparsefailure"], damaged);
});

test("rubydebug lays events out, dots writes a dot", () => {
  const event = new Event({ b: { list: [1, "x"] }, a: null, "@metadata": { m: true } }, 0);
  assert.equal(
    Buffer.from(make("rubydebug", { metadata: true }).encode(event)).toString(),
    `{
    "@metadata" => {
        "m" => true
    },
    "@timestamp" => 1970-01-01T00:00:00.000Z,
             "a" => nil,
             "b" => {
        "list" => [
            [0] 1,
            [1] "x"
        ]
    }
}
`.replace('    "@metadata"', '     "@metadata"'),
  );
  assert.equal(Buffer.from(make("dots").encode(event)).toString(), ".");
});

test("graphite reads lines of metrics, and writes those that are named or all fields", () => {
  const read = make("graphite").decode(Buffer.from("a.b 1.5 10\r\nc 2 20\nno number 1\n"), 5);
  assert.deepEqual(
    read.map(({ timeMs, fields }) => [
      timeMs,
      JSON.stringify(Object.fromEntries(Object.entries(fields).filter(([name]) => name !== "@timestamp"))),
    ]),
    [
      [10_000, '{"a.b":1.5}'],
      [20_000, '{"c":2.0}'],
      [5, '{"message":"no number 1","tags":["_graphiteparsefailure"]}'],
    ],
  );
  const written = (options: Record<string, unknown>, fields: Record<string, unknown>): string =>
    make("graphite", options).encode(new Event(fields, 7_000)).toString();
  const named = { metrics: { "%{host}.load": "%{load}", "%{none}": "1" }, metrics_format: "x.*.y" };
  assert.equal(written(named, { host: "h", load: "0.5" }), "x.h.load.y 0.5 7\n");
  const all = { fields_are_metrics: true, exclude_metrics: ["^c"] };
  assert.equal(written(all, { a: 3, b: "12", c: 1, d: { e: 1 } }), "a 3.0 7\nb 12.0 7\n");
  assert.equal(written(all, { a: 1e21, b: "1e400" }), "a 1e+21 7\nb 0.0 7\n");
  const formatted = { metrics: { a: "1" }, metrics_format: "%{message}" };
  assert.equal(written(formatted, { message: "*".repeat(513) }), "");
});
