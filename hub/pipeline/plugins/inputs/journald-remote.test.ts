import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { zstdCompressSync } from "node:zlib";
import { FairShares } from "#proto/kit/fair-shares.ts";
import { InputWorld, plain } from "#test/contract/input-runner.ts";
import { freePort } from "#test/harness/free-ports.ts";
import { JournalExportReader, MAX_FIELD_BYTES } from "./stream/journal-export.ts";

const JOURNAL = "84a2f7800ebf42e6a4e30445563cc89e";
const BOOT = "00000000000000000000000000000007";

function sized(name: string, value: Buffer): Buffer {
  const size = Buffer.alloc(8);
  size.writeBigUInt64LE(BigInt(value.length));
  return Buffer.concat([Buffer.from(`${name}\n`), size, value, Buffer.from("\n")]);
}

/** Returns an entry as systemd-journal-upload 252 sends it. */
function entry(number: number, message: string | Buffer, boot = BOOT): Buffer {
  const head = `__CURSOR=s=${JOURNAL};i=${number.toString(16)};b=${boot};m=3e8;t=60a24181e43e8;x=2ba65a5f2133b591
__REALTIME_TIMESTAMP=${1_700_000_000_000_000 + number * 1000}
__MONOTONIC_TIMESTAMP=1000
_BOOT_ID=${boot}
_HOSTNAME=web-1
PRIORITY=3
SYSLOG_IDENTIFIER=shop
_PID=7
`;
  const text = typeof message === "string" ? Buffer.from(`MESSAGE=${message}\n`) : sized("MESSAGE", message);
  return Buffer.concat([Buffer.from(head), text, Buffer.from("\n")]);
}

async function start(t: TestContext, more = "", world = new InputWorld()) {
  const port = await freePort();
  const input = world.make(`journald_remote { host => "127.0.0.1" port => ${port} ${more} }`);
  await input.start();
  t.after(() => input.stop());
  const upload = (body: Buffer, headers: Record<string, string> = {}, path = "/upload"): Promise<Response> =>
    fetch(`http://127.0.0.1:${port}${path}`, {
      method: "POST",
      headers: { "Content-Type": "application/vnd.fdo.journal", ...headers },
      body,
    });
  return { world, upload };
}

test("an upload's entries have the fields of the agent's journal input, and offsets that stay the same", async (t) => {
  const { world, upload } = await start(t);
  const body = Buffer.concat([entry(26, "one"), entry(27, Buffer.from("two\nlines"))]);
  for (const headers of [{}, { "Content-Encoding": "zstd" }]) {
    const sent = "Content-Encoding" in headers ? zstdCompressSync(body) : body;
    assert.equal((await upload(sent, headers)).status, 202);
  }
  assert.deepEqual(world.messages, ["one", "two\nlines", "one", "two\nlines"]);
  assert.deepEqual(
    world.sent.map(({ offset, key }) => [offset, key]),
    [26, 27, 26, 27].map((offset) => [offset, JOURNAL + BOOT]),
  );
  assert.equal(world.sent[0]!.event.timeMs, 1_700_000_000_026);
  assert.deepEqual(plain(world.sent[0]!.event), {
    message: "one",
    host: { hostname: "web-1" },
    process: { pid: 7 },
    log: { syslog: { appname: "shop", priority: 3 }, level: "error" },
    systemd: { boot_id: BOOT },
  });
});

test("machines that continue a copied journal have sources of their own, by boot", async (t) => {
  const { world, upload } = await start(t);
  const other = "00000000000000000000000000000008";
  await upload(Buffer.concat([entry(5, "a"), entry(5, "b", other)]));
  assert.deepEqual(
    world.sent.map(({ key }) => key.slice(32)),
    [BOOT, other],
  );
});

test("what can't be taken is refused with a reason", async (t) => {
  const { upload } = await start(t, 'user => "u" password => "p"');
  const Authorization = `Basic ${Buffer.from("u:p").toString("base64")}`;
  const refusals: [number, RegExp, Promise<Response>][] = [
    [401, /sign in/, upload(entry(1, "a"))],
    [404, /\/upload/, upload(entry(1, "a"), { Authorization }, "/")],
    [400, /Content-Type/, upload(entry(1, "a"), { Authorization, "Content-Type": "text/plain" })],
    [400, /encoding xz/, upload(entry(1, "a"), { Authorization, "Content-Encoding": "xz" })],
    [400, /isn't zstd/, upload(entry(1, "a"), { Authorization, "Content-Encoding": "zstd" })],
    [400, /__CURSOR/, upload(Buffer.from("MESSAGE=a\n\n"), { Authorization })],
    [400, /name/, upload(Buffer.from("hello=world\n\n"), { Authorization })],
    [400, /within a field/, upload(entry(1, "a").subarray(0, 40), { Authorization })],
  ];
  for (const [status, reason, answer] of refusals) {
    const { status: found } = await answer;
    const text = await (await answer).text();
    assert.equal(found, status, text);
    assert.match(text, reason);
  }
});

test("entries may come byte by byte; long fields are cut, and what follows is read", () => {
  const long = "x".repeat(MAX_FIELD_BYTES + 200);
  const tail = entry(3, "after");
  const bytes = Buffer.concat([entry(1, Buffer.from("one\n\0two")), Buffer.from("A=1\nA=2\nA=3\n\n")]);
  const reader = new JournalExportReader();
  const entries = [...bytes].flatMap((byte) => reader.push(Buffer.from([byte])));
  assert.equal(entries[0]!.fields["MESSAGE"], "one\n\0two");
  assert.deepEqual(entries[1]!.fields, { A: ["1", "2", "3"] });
  for (const value of [long, Buffer.from(long)]) {
    const whole = Buffer.concat([entry(2, value), tail]);
    const cut = new JournalExportReader();
    const found = [];
    for (let at = 0; at < whole.length; at += 60_000)
      found.push(...cut.push(whole.subarray(at, at + 60_000)));
    assert.deepEqual(
      found.map(({ fields, isCut }) => [String(fields["MESSAGE"]).length, isCut]),
      [
        [MAX_FIELD_BYTES, true],
        [5, false],
      ],
    );
  }
});

test("an entry of too many fields is cut to the limit", () => {
  const fields = Array.from({ length: 1_100 }, (_, n) => `F${n}=${n}\n`).join("");
  const [found] = new JournalExportReader().push(Buffer.from(`${fields}\n`));
  assert.equal(Object.keys(found!.fields).length, 1_024);
  assert.equal(found!.isCut, true);
});

test("entries that are whole are sent before an upload ends that may hold no more", async (t) => {
  const world = new InputWorld();
  const bytes = new FairShares({ limit: 100, what: "bytes are held", remedy: "send it again" });
  world.shares = { ...world.shares, bytes };
  const { upload } = await start(t, "", world);
  const answer = await upload(Buffer.concat([entry(26, "one"), entry(27, "x".repeat(200)).subarray(0, -10)]));
  assert.equal(answer.status, 429);
  assert.deepEqual(world.messages, ["one"]);
});
