/** The packages on a bare Debian machine: installed, run by their units' commands, removed, installed again, purged. */

import assert from "node:assert/strict";
import { appendFileSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import type { Child } from "#test/harness/child.ts";
import { Workspace } from "#test/harness/workspace.ts";
import { cannotMakeRoot, DebianRoot } from "./debian-root.ts";
import { ROOT, run } from "./tools.ts";

const SEARCH = "http://127.0.0.1:9200";
const HITS = `${SEARCH}/logs-*/_search?q=message:order&size=10&filter_path=hits.total,hits.hits._source.message`;

describe("on a bare Debian machine", { skip: cannotMakeRoot() }, () => {
  const workspace = new Workspace();
  const debs: string[] = [];
  let machine: DebianRoot;
  let running: Child[] = [];

  before(async () => {
    machine = await DebianRoot.make(workspace.path("root"));
    for (const part of ["agent", "hub"]) {
      const args = ["deb", part, "--out", workspace.path("debs"), "--compression", "none"];
      const { status, said } = run(process.execPath, [join(ROOT, "deploy/package/main.ts"), ...args]);
      assert.equal(status, 0, said);
      const file = /package: (\S+\.deb)/.exec(said)?.[1] ?? "";
      debs.push(join(ROOT, file));
    }
  });

  after(async () => {
    for (const child of running) await machine.stop(child);
    await machine?.close();
    await workspace.close();
  });

  test("apt installs both without fetching anything", () => {
    machine.install(...debs);
    for (const part of ["agent", "hub"]) {
      const { status, said } = machine.run(`tailrace-${part}`, "--version");
      assert.equal(status, 0, said);
    }
  });

  test("a line written to /var/log is found by search", async () => {
    appendFileSync(join(machine.folder, "var/log/app.log"), "order 1 taken\n", { mode: 0o600 });
    await startBoth();
    await machine.answers(HITS, /order 1 taken/);
  });

  test("after removal and another installation nothing is there twice", async () => {
    await stopBoth();
    machine.apt("remove", "tailrace-agent", "tailrace-hub");
    assert.ok(!existsSync(join(machine.folder, "usr/bin/tailrace-agent")));
    appendFileSync(join(machine.folder, "var/log/app.log"), "order 2 taken\n");
    machine.install(...debs);
    await startBoth();
    await machine.answers(HITS, /order 2 taken/);
    const { hits } = JSON.parse(machine.fetch(HITS) ?? "{}") as { hits: { total: number } };
    assert.equal(hits.total, 2);
  });

  test("purge leaves nothing", async () => {
    await stopBoth();
    // As `tailrace-agent enroll` leaves them.
    for (const name of ["agent.nkey", "hub-ca.pem"])
      writeFileSync(join(machine.folder, "etc/tailrace", name), "secret\n", { mode: 0o640 });
    machine.apt("purge", "tailrace-agent", "tailrace-hub");
    const left = machine.run("find", "/etc", "/usr", "/var", "/run", "-xdev", "-iname", "*tailrace*");
    const packages = /\/var\/(lib\/dpkg|log|cache\/apt|lib\/apt)\//;
    assert.deepEqual(
      left.stdout.split("\n").filter((path) => path !== "" && !packages.test(path)),
      [],
    );
  });

  /** The token is handed over as the packages' settings say. */
  async function startBoth(): Promise<void> {
    const hub = machine.start("tailrace-hub", workspace.path("hub.log"));
    running = [hub];
    await machine.answers(SEARCH, /cluster_name/);
    const token = "/etc/tailrace/agent.token";
    const from = "/var/lib/tailrace-hub/nats/token";
    machine.run("install", "-m", "0640", "-o", "root", "-g", "tailrace-agent", from, token);
    const settings = join(machine.folder, "etc/tailrace/agent.yml");
    const text = readFileSync(settings, "utf8");
    writeFileSync(settings, text.replace("# token_file:", "token_file:"));
    running.push(machine.start("tailrace-agent", workspace.path("agent.log")));
  }

  async function stopBoth(): Promise<void> {
    for (const child of running.toReversed()) await machine.stop(child);
    running = [];
  }
});
