import assert from "node:assert/strict";
import { createCipheriv, createHash, createHmac } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { numberOf } from "#proto/codec/json.ts";
import { collectdCodec } from "./collectd.ts";

const DEFAULTS = {
  typesdb: [],
  security_level: "None",
  nan_handling: "change_value",
  nan_value: 0,
  nan_tag: "_collectdNaN",
} as const;

function make(options: Partial<Parameters<typeof collectdCodec.create>[0]> = {}) {
  return collectdCodec.create({ ...DEFAULTS, typesdb: [], ...options });
}

function part(type: number, body: Buffer): Buffer {
  const head = Buffer.alloc(4);
  head.writeUInt16BE(type, 0);
  head.writeUInt16BE(body.length + 4, 2);
  return Buffer.concat([head, body]);
}

function textPart(type: number, text: string): Buffer {
  return part(type, Buffer.from(`${text}\0`));
}

function numberPart(type: number, value: bigint): Buffer {
  const body = Buffer.alloc(8);
  body.writeBigUInt64BE(value);
  return part(type, body);
}

/** Values by kind: 0 a counter, 1 a gauge, 2 a derivative, 3 an absolute number. */
function values(...list: readonly (readonly [kind: number, value: number | bigint])[]): Buffer {
  const body = Buffer.alloc(2 + list.length * 9);
  body.writeUInt16BE(list.length, 0);
  for (const [place, [kind, value]] of list.entries()) {
    body[2 + place] = kind;
    const at = 2 + list.length + place * 8;
    if (kind === 1) body.writeDoubleLE(Number(value), at);
    else body.writeBigInt64BE(BigInt(value), at);
  }
  return part(6, body);
}

const HEAD = Buffer.concat([
  textPart(0, "web1"),
  numberPart(8, (1_900_000_000n << 30n) + (1n << 29n)),
  numberPart(9, 10n << 30n),
  textPart(2, "cpu"),
  textPart(3, "0"),
  textPart(4, "cpu"),
  textPart(5, "user"),
]);
const PACKET = Buffer.concat([
  HEAD,
  values([2, -7]),
  textPart(2, "interface"),
  textPart(3, ""),
  textPart(4, "if_octets"),
  textPart(5, ""),
  values([0, 5], [3, 2n ** 60n]),
  textPart(4, "own"),
  values([1, 0.5], [1, Number.POSITIVE_INFINITY]),
  numberPart(1, 1_900_000_001n),
  numberPart(257, 4n),
  textPart(256, "it is hot"),
]);

function fieldsOf(packet: Buffer, codec = make()): unknown[] {
  return codec.decode(packet, 0).map((event) => {
    const { "@timestamp": _, ...fields } = event.fields;
    return fields;
  });
}

test("collectd reads values of every kind with the names of their types, and notifications", () => {
  assert.deepEqual(fieldsOf(PACKET), [
    {
      host: "web1",
      plugin: "cpu",
      plugin_instance: "0",
      collectd_type: "cpu",
      type_instance: "user",
      value: -7,
    },
    { host: "web1", plugin: "interface", collectd_type: "if_octets", rx: 5, tx: String(2n ** 60n) },
    { host: "web1", plugin: "interface", collectd_type: "own", value0: 0.5, value1: "Infinity" },
    { host: "web1", plugin: "interface", collectd_type: "own", message: "it is hot", severity: 4 },
  ]);
  assert.deepEqual(
    make()
      .decode(PACKET, 0)
      .map(({ timeMs }) => timeMs),
    [...Array<number>(3).fill(1_900_000_000_500), 1_900_000_001_000],
  );
  const [targeted] = fieldsOf(PACKET, make({ target: "[c]" }));
  assert.partialDeepStrictEqual(targeted, { c: { value: -7 } });
});

test("collectd keeps gauges without a fraction as decimals, and counters as whole numbers", () => {
  const packet = Buffer.concat([HEAD, values([1, 30]), values([0, 30]), values([1, Number.NaN])]);
  assert.deepEqual(
    make()
      .decode(packet, 0)
      .map((event) => /"value":([^,}]+)/.exec(event.toJson())?.[1]),
    ["30.0", "30", "0.0"],
  );
});

test("collectd writes what the options say where a plugin had no value", () => {
  const packet = Buffer.concat([HEAD, values([1, Number.NaN]), values([1, 2])]);
  const read = (options: Parameters<typeof make>[0]) =>
    make(options)
      .decode(packet, 0)
      .map(({ fields: { value, tags } }) => [numberOf(value), tags]);
  assert.deepEqual(read({}), [
    [0, ["_collectdNaN"]],
    [2, undefined],
  ]);
  assert.deepEqual(read({ nan_value: -1, nan_tag: "" }), [
    [-1, undefined],
    [2, undefined],
  ]);
  assert.deepEqual(read({ nan_handling: "drop" }), [[2, undefined]]);
});

function file(t: TestContext, content: string): string {
  const folder = mkdtempSync(join(tmpdir(), "tailrace-collectd-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const path = join(folder, "file");
  writeFileSync(path, content);
  return path;
}

test("collectd names values by a file like types.db", (t) => {
  const types = file(
    t,
    "# comment\nown\tfirst:GAUGE:0:U, second:GAUGE:0:U\nif_octets in:DERIVE:0:U out:DERIVE:0:U\n",
  );
  const read = fieldsOf(PACKET, make({ typesdb: [types] }));
  assert.partialDeepStrictEqual(read[1], { in: 5, out: String(2n ** 60n) });
  assert.partialDeepStrictEqual(read[2], { first: 0.5, second: "Infinity" });
});

test("collectd takes only what is signed or encrypted where it is told so", (t) => {
  const authfile = file(t, "amy: secret\nben: other: one\n");
  const signed = (password: string, packet = PACKET): Buffer => {
    const sum = createHmac("sha256", password).update("amy").update(packet).digest();
    return Buffer.concat([part(0x200, Buffer.concat([sum, Buffer.from("amy")])), packet]);
  };
  const encrypted = (user: string, password: string): Buffer => {
    const iv = Buffer.alloc(16, 3);
    const cipher = createCipheriv("aes-256-ofb", createHash("sha256").update(password).digest(), iv);
    const content = cipher.update(Buffer.concat([createHash("sha1").update(PACKET).digest(), PACKET]));
    return part(0x210, Buffer.concat([Buffer.from([0, user.length]), Buffer.from(user), iv, content]));
  };
  const rows: [level: "None" | "Sign" | "Encrypt", packet: Buffer, isTaken: boolean][] = [
    ["None", PACKET, true],
    ["None", signed("wrong"), true],
    ["None", encrypted("ben", "other: one"), true],
    ["Sign", PACKET, false],
    ["Sign", signed("secret"), true],
    ["Sign", signed("wrong"), false],
    ["Sign", encrypted("amy", "secret"), true],
    ["Encrypt", signed("secret"), false],
    ["Encrypt", encrypted("amy", "secret"), true],
    ["Encrypt", encrypted("amy", "wrong"), false],
    ["Encrypt", encrypted("eve", "secret"), false],
  ];
  for (const [security_level, packet, isTaken] of rows) {
    const events = make({ security_level, authfile }).decode(packet, 0);
    const tags = events.map((event) => event.fields["tags"]);
    assert.deepEqual(tags, isTaken ? Array(4).fill(undefined) : [["_collectdparsefailure"]], security_level);
  }
  assert.throws(() => make({ security_level: "Sign" }), /needs an authfile/);
});

test("collectd keeps what came before damage", () => {
  for (const end of [Buffer.from([0, 6, 255, 255]), part(6, Buffer.alloc(5, 1)), part(8, Buffer.alloc(2))])
    assert.deepEqual(
      make()
        .decode(Buffer.concat([HEAD, values([0, 2]), end]), 0)
        .map(({ fields: { value, tags } }) => [value, tags]),
      [
        [2, undefined],
        [undefined, ["_collectdparsefailure"]],
      ],
    );
});

test("collectd refuses long names and empty lists of values: a packet isn't many times its size as events", () => {
  const long = textPart(0, "h".repeat(30_000));
  for (const packet of [
    Buffer.concat([long, values([1, 2])]),
    Buffer.concat([HEAD, ...Array<Buffer>(5_000).fill(values())]),
  ]) {
    const events = make().decode(packet, 0);
    assert.deepEqual(
      events.map(({ fields: { tags } }) => tags),
      [["_collectdparsefailure"]],
    );
  }
});
