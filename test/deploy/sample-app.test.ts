import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, renameSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { type TestContext, test } from "node:test";
import { until } from "#test/harness/until.ts";
import { Workspace } from "#test/harness/workspace.ts";
import { ROOT, text } from "./tools.ts";

/** The combined log format, as the default pipeline reads it. */
const COMBINED =
  /^(\S+) - - \[\d{2}\/[A-Z][a-z]{2}\/\d{4}:\d{2}:\d{2}:\d{2} \+0000\] "(GET|POST) (\S+) HTTP\/1\.1" (\d{3}) (\d+|-) "((?:[^"\\]|\\.)*)" "((?:[^"\\]|\\.)*)"$/;

test("the sample application listens on 3001 by default", () => {
  assert.match(text("deploy/sample-app/server.ts"), /process\.env\["PORT"\] \?\? 3001/);
});

test("each request leaves a combined line and an event, whatever a client sends", async (t) => {
  const { folder, url } = await start(t);
  const agent = 'curl "quoted" \\';
  const paths = ["/", "/orders", "/slow", "/broken", "/none"];
  const sizes: number[] = [];
  for (const path of paths) {
    const answer = await fetch(url + path, { headers: { "user-agent": agent } });
    sizes.push((await answer.bytes()).length);
  }
  const lines = await linesOf(join(folder, "access.log"), paths.length);
  assert.deepEqual(
    lines.map((line) => COMBINED.exec(line)?.slice(3, 5).join(" ")),
    ["/ 200", "/orders 200", "/slow 200", "/broken 500", "/none 404"],
  );
  assert.deepEqual(
    lines.map((line) => Number(COMBINED.exec(line)?.[5])),
    sizes,
  );
  assert.equal(COMBINED.exec(lines[0]!)?.[7], 'curl \\"quoted\\" \\\\');
  const events = (await linesOf(join(folder, "app.log"), paths.length + 2)).map(
    (line) => JSON.parse(line) as { level: string; message: string },
  );
  assert.equal(events[0]?.message, "application started");
  assert.ok(events.some(({ level, message }) => level === "error" && message === "order could not be read"));
});

test("after a rotation SIGHUP makes it write to new files", async (t) => {
  const { folder, url, process: child } = await start(t);
  await fetch(url);
  await linesOf(join(folder, "access.log"), 1);
  for (const name of ["access.log", "app.log"]) renameSync(join(folder, name), join(folder, `${name}.1`));
  child.kill("SIGHUP");
  await until("access.log is there again", () => linesIn(join(folder, "access.log")) !== undefined);
  await fetch(`${url}/orders`);
  const [line] = await linesOf(join(folder, "access.log"), 1);
  assert.match(line!, /"GET \/orders /);
});

async function start(t: TestContext) {
  const workspace = new Workspace(t);
  const folder = join(workspace.folder, "logs");
  const child = spawn(process.execPath, [join(ROOT, "deploy/sample-app/server.ts")], {
    env: { ...process.env, PORT: "0", LOG_DIR: folder },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const exited = once(child, "exit");
  workspace.defer(async () => {
    child.kill("SIGTERM");
    assert.deepEqual(await exited, [0, null], "it ends by itself");
  });
  const [line] = (await once(createInterface(child.stdout), "line")) as [string];
  return { folder, url: `http://127.0.0.1:${/port (\d+)/.exec(line)?.[1]}`, process: child };
}

async function linesOf(path: string, count: number): Promise<string[]> {
  await until(`${count} lines in ${path}`, () => (linesIn(path)?.length ?? 0) >= count);
  return linesIn(path)!;
}

function linesIn(path: string): string[] | undefined {
  try {
    return readFileSync(path, "utf8").split("\n").filter(Boolean);
  } catch {
    return undefined;
  }
}
