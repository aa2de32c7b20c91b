/** Cases of the agent's table about discovery, limits and inputs without files. */

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { appendFileSync, mkdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { connect as connectTo } from "node:net";
import { join } from "node:path";
import { connect as connectSecurely } from "node:tls";
import { freePort } from "#test/harness/free-ports.ts";
import { SequenceLog } from "#test/harness/sequence-log.ts";
import { type Cases, metric, type Place, until } from "./agent-case.ts";

/** Makes files of one line each; returns the lines. */
function manyFiles(p: Place, count: number): string[] {
  return Array.from({ length: count }, (_, at) => {
    writeFileSync(p.file(`${at}.log`), `file ${at}\n`);
    return `file ${at}`;
  });
}

export const RESOURCE_CASES: Cases = {
  71: async (p) => {
    const lines = manyFiles(p, 10_000);
    const agent = await p.agent();
    await until(async () => (await metric(agent, "tailrace_agent_batches_acked_total")) >= 10_000, 120_000);
    await p.holds(lines);
  },
  72: async (p) => {
    manyFiles(p, 5_000);
    for (let at = 0; at < 5_000; at++) utimesSync(p.file(`${at}.log`), 1, 1);
    const agent = await p.agent({ input: { ignore_older: "1h" } });
    writeFileSync(p.file("new.log"), "new\n");
    await p.holds(["new"]);
    assert.equal(await metric(agent, "tailrace_agent_registry_entries"), 1);
    assert.equal(await metric(agent, "tailrace_agent_open_files"), 1);
  },
  73: async (p) => {
    const lines = manyFiles(p, 1_000);
    const agent = await p.agent({ input: { scan_frequency: "200ms" } });
    execFileSync("prlimit", ["--pid", String(agent.pid), "--nofile=256:256"]);
    for (let at = 1_000; at < 2_000; at++) {
      writeFileSync(p.file(`${at}.log`), `file ${at}\n`);
      lines.push(`file ${at}`);
    }
    await until(async () => new Set(await p.lines()).size === lines.length);
  },
  79: async (p) => {
    const names = ["new\nline.log", "quo'te.log", "[x].log", "ü.log", `${"n".repeat(250)}.log`];
    for (const name of names) writeFileSync(p.file(name), `${name.length}\n`);
    writeFileSync(
      Buffer.concat([Buffer.from(`${p.logs}/`), Buffer.from([0xff, 0xfe]), Buffer.from(".log")]),
      "raw\n",
    );
    await p.agent();
    await p.holds(["raw", ...names.map((name) => String(name.length))]);
  },
  80: async (p) => {
    execFileSync("mkfifo", [p.file("fifo.log")]);
    mkdirSync(p.file("folder.log"));
    writeFileSync(p.file("a.log"), "one\n");
    await p.agent();
    await p.holds(["one"]);
    assert.match(p.said(), /no regular file/);
  },
  82: async (p) => {
    const hot = new SequenceLog("hot", "plain");
    const lines = manyFiles(p, 99);
    p.write(hot, "hot.log", 20_000);
    await p.agent({ input: { harvester_limit: 10, scan_frequency: "100ms" } });
    await until(async () => {
      const found = new Set(await p.lines());
      return lines.every((line) => found.has(line)) && found.size === 99 + 20_000;
    });
  },
  84: async (p) => {
    writeFileSync(p.file("old.log"), "old\n");
    const first = await p.agent({ input: { tail_files: true } });
    await until(async () => (await metric(first, "tailrace_agent_open_files")) === 1);
    writeFileSync(p.file("new.log"), "new\n");
    appendFileSync(p.file("old.log"), "more\n");
    await p.holds(["more", "new"]);
    await first.stop();
    appendFileSync(p.file("old.log"), "again\n");
    writeFileSync(p.file("third.log"), "third\n");
    await p.agent({ input: { tail_files: true } });
    await p.holds(["again", "more", "new", "third"]);
  },
  85: async (p) => {
    const agent = await p.agent({ input: { close_eof: true, scan_frequency: "100ms" } });
    const log = new SequenceLog("w", "plain");
    for (let round = 0; round < 3; round++) {
      p.write(log, "a.log", 50);
      await until(async () => (await p.lines()).length === log.count);
      await until(async () => (await metric(agent, "tailrace_agent_open_files{")) === 0);
    }
    await p.proves(log);
  },
  87: async (p, t) => {
    const agent = await p.agent({ input: { scan_frequency: "100ms" } });
    writeFileSync(p.file("a.log"), "one\n");
    await p.holds(["one"]);
    rmSync(p.file("a.log"));
    assert.equal(await metric(agent, "tailrace_agent_registry_entries"), 1);
    t.diagnostic("that the row goes a minute later is shown in agent/files/file-set.test.ts");
  },
  89: async (p) => {
    const log = new SequenceLog("w", "plain");
    const config = join(p.folder, "agent", "agent.yml");
    const agent = await p.agent();
    for (let round = 0; round < 4; round++) {
      p.write(log, "a.log", 300);
      const settings = JSON.parse(readFileSync(config, "utf8")) as {
        "shipper.inputs": { tags?: string[] }[];
      };
      settings["shipper.inputs"][0]!.tags = [`round-${round}`];
      writeFileSync(config, JSON.stringify(settings));
      process.kill(agent.pid, "SIGHUP");
      p.write(log, "a.log", 300);
      await until(async () => p.said().split("settings taken over").length === round + 2);
    }
    writeFileSync(config, "shipper.inputs: nonsense\n");
    process.kill(agent.pid, "SIGHUP");
    await until(async () => /changed settings are invalid/.test(p.said()));
    p.write(log, "a.log", 300);
    await p.proves(log);
  },
  91: async (p) => {
    const port = await freePort();
    const log = new SequenceLog("w", "plain");
    await p.agent({
      settings: { "shipper.inputs": [{ type: "tcp", id: "t", host: `127.0.0.1:${port}`, framing: "auto" }] },
    });
    const byNewline = connectTo(port, "127.0.0.1");
    for (const byte of log.lines(5)) byNewline.write(byte);
    byNewline.end();
    await once(byNewline.resume(), "close");
    const counted = connectTo(port, "127.0.0.1");
    for (let line = 0; line < 5; line++) {
      const message = log.line().trimEnd();
      counted.write(`${Buffer.byteLength(message)} ${message}`);
    }
    counted.end();
    await once(counted.resume(), "close");
    const connections = Array.from({ length: 200 }, () => connectTo(port, "127.0.0.1"));
    for (const socket of connections) socket.end(log.line());
    await Promise.all(connections.map((socket) => once(socket.resume(), "close")));
    await p.proves(log, { unordered: true });
  },
  92: async (p) => {
    const port = await freePort();
    const pem = (name: string): string => join(p.folder, name);
    const make = (name: string, subject: string): void =>
      void execFileSync(
        "openssl",
        `req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=${subject} -addext subjectAltName=IP:127.0.0.1 -keyout ${pem(`${name}.key`)} -out ${pem(`${name}.pem`)}`.split(
          " ",
        ),
        { stdio: "ignore" },
      );
    make("server", "server");
    make("client", "client");
    make("stranger", "stranger");
    const tls = {
      "tls.certificate": pem("server.pem"),
      "tls.key": pem("server.key"),
      "tls.ca": pem("client.pem"),
    };
    await p.agent({
      settings: { "shipper.inputs": [{ type: "tcp", id: "t", host: `127.0.0.1:${port}`, ...tls }] },
    });
    const send = async (name: string | null, version: "TLSv1.2" | "TLSv1.3", line: string): Promise<void> => {
      const own =
        name === null
          ? {}
          : { cert: readFileSync(pem(`${name}.pem`)), key: readFileSync(pem(`${name}.key`)) };
      const options = {
        ca: readFileSync(pem("server.pem")),
        minVersion: version,
        maxVersion: version,
        ...own,
      };
      const socket = connectSecurely({ host: "127.0.0.1", port, ...options });
      const closed = Promise.withResolvers<void>();
      socket.on("error", () => undefined); // the refusal, which the agent's lines show
      socket.on("close", () => closed.resolve());
      socket.resume().end(`${line}\n`);
      await closed.promise;
    };
    await send("stranger", "TLSv1.3", "from a stranger");
    await send(null, "TLSv1.2", "without a certificate");
    await send("client", "TLSv1.2", "old");
    await send("client", "TLSv1.3", "new");
    await p.holds(["new", "old"]);
  },
};
