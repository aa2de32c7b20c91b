/** Cases of the agent's table about lines and bytes. */

import assert from "node:assert/strict";
import {
  appendFileSync,
  closeSync,
  ftruncateSync,
  openSync,
  renameSync,
  rmSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { SequenceLog } from "#test/harness/sequence-log.ts";
import { type Case, type Cases, many, metric, type Place, text, until } from "./agent-case.ts";

/** A file with `content` arrives as `expected`. */
const arrives =
  (
    content: string | Buffer,
    expected: readonly string[],
    input: Readonly<Record<string, unknown>> = {},
  ): Case =>
  async (p) => {
    writeFileSync(p.file("a.log"), content);
    await p.agent({ input });
    await p.holds(expected);
  };

const utf16 = (content: string): Buffer => Buffer.from(`\ufeff${content}`, "utf16le");
const big = (content: string): Buffer => utf16(content).swap16();

/** Bytes acknowledged, events or not. */
async function acked(p: Place, bytes: number, agent: Awaited<ReturnType<Place["agent"]>>): Promise<void> {
  await until(async () => (await metric(agent, "tailrace_agent_bytes_read")) >= bytes);
  await until(async () => (await metric(agent, "tailrace_agent_lag_bytes{input")) === 0);
  assert.ok(p.folder !== "");
}

export const LINE_CASES: Cases = {
  50: async (p) => {
    await p.agent();
    writeFileSync(p.file("a.log"), "abc");
    await pause(500);
    assert.deepEqual(await p.lines(), []);
    appendFileSync(p.file("a.log"), "def\n");
    await p.holds(["abcdef"]);
  },
  51: async (p) => {
    const agent = await p.agent({ input: { rotated_wait: "200ms", scan_frequency: "100ms" } });
    writeFileSync(p.file("a.log"), "one\nlast without an end");
    await until(async () => (await p.lines()).length === 1);
    renameSync(p.file("a.log"), p.file("a.old"));
    rmSync(p.file("a.old"));
    await p.holds(["last without an end", "one"]);
    assert.ok(agent.pid > 0);
  },
  52: arrives(text(many("é東😀", 20_000)), many("é東😀", 20_000)),
  53: async (p) => {
    writeFileSync(p.file("a.log"), "one\r\ntwo\nth\rree\r\n");
    await p.agent({ input: { exclude_lines: ["never"] } });
    await p.holds(["one", "th\rree", "two"]);
  },
  54: async (p) => {
    await p.agent();
    writeFileSync(p.file("a.log"), "one\n");
    await p.holds(["one"]);
    const fd = openSync(p.file("a.log"), "r+");
    writeSync(fd, "two\na\0b\n", 1024 ** 2); // a writer without O_APPEND after a truncation
    closeSync(fd);
    await until(async () => (await p.lines()).length === 3);
    assert.deepEqual((await p.lines()).map((line) => line.replace(/^\0+/, "")).sort(), [
      "a\0b",
      "one",
      "two",
    ]);
  },
  55: arrives(Buffer.from([0x41, 0xff, 0xfe, 0x0a, 0xc3, 0x28, 0x0a]), ["A\ufffd\ufffd", "\ufffd("]),
  56: async (p) => {
    const agent = await p.agent();
    for (let part = 0; part < 100; part++) appendFileSync(p.file("a.log"), Buffer.alloc(1024 ** 2, "x"));
    appendFileSync(p.file("a.log"), "\nnext\n");
    await acked(p, 100 * 1024 ** 2, agent);
    await until(async () => (await p.lines()).includes("next"));
  },
  57: async (p) => {
    const sizes = [16_384, 65_536, 131_072, 262_144].flatMap((size) => [size - 1, size, size + 1]);
    const lines = sizes.map((size) => "y".repeat(size - 1));
    writeFileSync(p.file("a.log"), text(lines));
    await p.agent();
    await p.holds(lines);
  },
  58: async (p) => {
    writeFileSync(p.file("a.log"), "\n\none\n\n\ntwo\n");
    writeFileSync(p.file("b.log"), "\n".repeat(1_000));
    const agent = await p.agent();
    await p.holds(["one", "two"]);
    await acked(p, 1_012, agent);
  },
  59: async (p) => {
    writeFileSync(p.file("a.log"), "\ufeffone\n");
    writeFileSync(p.file("b.log"), utf16("two\n"));
    writeFileSync(p.file("c.log"), big("three\n"));
    const input = (name: string, encoding: string) => ({
      type: "log",
      id: name,
      paths: [p.file(`${name}.log`)],
      encoding,
    });
    const inputs = [input("a", "utf-8"), input("b", "utf-16le"), input("c", "utf-16be")];
    await p.agent({ settings: { "shipper.inputs": inputs } });
    await p.holds(["one", "three", "two"]);
  },
  60: async (p) => {
    writeFileSync(p.file("latin.log"), Buffer.from("caf\u00e9\n", "latin1"));
    writeFileSync(p.file("gbk.log"), Buffer.from([0xc4, 0xe3, 0x0a]));
    writeFileSync(p.file("sjis.log"), Buffer.from([0x93, 0xfa, 0x0a]));
    const encodings = { latin: "latin1", gbk: "gbk", sjis: "shift_jis" };
    const inputs = Object.entries(encodings).map(([name, encoding]) => ({
      type: "log",
      id: name,
      paths: [p.file(`${name}.log`)],
      encoding,
    }));
    await p.agent({ settings: { "shipper.inputs": inputs } });
    await p.holds(["café", "你", "日"]);
  },
  62: async (p) => {
    const long = "z".repeat(3 * 1024 ** 2);
    writeFileSync(p.file("a.log"), `${long}\nnext\n`);
    await p.agent({ input: { max_bytes: "4mb" } });
    await until(async () => (await p.lines()).includes("next"));
    assert.equal((await p.lines()).filter((line) => line.startsWith("z")).join("").length, long.length);
  },
  63: async (p) => {
    const log = new SequenceLog("w", "plain");
    const fd = openSync(p.file("a.log"), "w");
    ftruncateSync(fd, 5 * 1024 ** 3);
    closeSync(fd);
    const agent = await p.agent({ input: { tail_files: true } });
    await until(async () => (await metric(agent, "tailrace_agent_open_files")) === 1);
    p.write(log, "a.log", 500);
    await p.proves(log);
  },
  66: async (p) => {
    const lines = many("left out", 20_000);
    writeFileSync(p.file("a.log"), text(lines));
    const input = { exclude_lines: ["left out"] };
    const first = await p.agent({ input });
    await acked(p, text(lines).length, first);
    await first.stop();
    const second = await p.agent({ input });
    appendFileSync(p.file("a.log"), "kept\n");
    await p.holds(["kept"]);
    assert.ok((await metric(second, "tailrace_agent_bytes_read")) < 100);
  },
  68: async (p) => {
    const trace = Array.from({ length: 10_000 }, (_, at) => `  at line ${at}`);
    writeFileSync(p.file("a.log"), `Error\n${text(trace)}next\n`);
    await p.agent({
      input: { "multiline.pattern": "^\\s", "multiline.max_lines": 500, "multiline.timeout": "300ms" },
    });
    await until(async () => (await p.lines()).includes("next"));
    const event = (await p.lines()).find((line) => line.startsWith("Error"))!;
    assert.ok(event.split("\n").length <= 500);
  },
  70: arrives("\u001b[31mred\u001b[0m\ttab\nemoji 😀 \nשלום\n", [
    "\u001b[31mred\u001b[0m\ttab",
    "emoji 😀 ",
    "שלום",
  ]),
};
