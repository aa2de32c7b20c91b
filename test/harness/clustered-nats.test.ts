import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, existsSync, readdirSync, readFileSync, utimesSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { type TestContext, test } from "node:test";
import { setTimeout } from "node:timers/promises";
import { promisify } from "node:util";
import { buildNats } from "./clustered-nats.ts";
import { Workspace } from "./workspace.ts";

const SCRIPT = resolve(import.meta.dirname, "../tools.sh");

/** Returns a checkout that has the script, and an environment with a Go that notes its calls before it runs `body`. */
function checkoutWithGo(t: TestContext, body: string) {
  const workspace = new Workspace(t);
  const script = workspace.path("test", "tools.sh");
  copyFileSync(SCRIPT, script);
  const calls = workspace.path("calls");
  writeFileSync(workspace.path("bin", "go"), `#!/bin/sh\necho "$*" >>"${calls}"\n${body}\n`, { mode: 0o755 });
  const env = { ...process.env, PATH: `${workspace.path("bin")}:${process.env["PATH"]}` };
  return { script, env, calls, tools: workspace.path(".cache", "tools") };
}

test("several that ask for a nats-server at once build one", async (t) => {
  const { script, env, calls, tools } = checkoutWithGo(
    t,
    'echo "#!/bin/sh" >"$GOBIN/nats-server"; sleep 0.2; chmod +x "$GOBIN/nats-server"',
  );
  const ask = () => promisify(execFile)("bash", [script, "nats-server"], { env });
  await Promise.all([ask(), ask(), ask()]);
  assert.match(readFileSync(calls, "utf8"), /^install [^\n]*\n$/);
  assert.deepEqual(readdirSync(tools).sort(), ["nats-server", "nats-server.lock"]);
});

test("why a nats-server can't be built is said in one line, also where that isn't tried again yet", (t) => {
  const { script, env, calls, tools } = checkoutWithGo(t, "echo no network >&2; echo at all >&2; exit 1");
  assert.match(buildNats(script, env), /^no network; at all; tools: nats-server could not be built, [^\n]*$/);
  assert.deepEqual(readdirSync(tools).sort(), ["nats-server.failed", "nats-server.lock"]);
  assert.match(
    buildNats(script, env),
    /^no network; at all; tools: nats-server could not be built less than [^\n]*$/,
  );
  assert.equal(callCount(calls), 1);
  const hourAgo = Date.now() / 1_000 - 3_700;
  utimesSync(join(tools, "nats-server.failed"), hourAgo, hourAgo);
  buildNats(script, env);
  assert.equal(callCount(calls), 2);
});

/** A Go that continues for longer than a test, except for its second call. */
const ENDLESS = '[ -e "$0.pid" ] && exit 1; echo $$ >"$0.pid"; exec sleep 30';

/** Begins a build, and returns its script's process and the id of Go's once that runs. */
async function beginBuild({ script, env }: ReturnType<typeof checkoutWithGo>) {
  const pidFile = join(env.PATH.split(":")[0]!, "go.pid");
  const building = spawn("bash", [script, "nats-server"], { env, stdio: "ignore" });
  while (!existsSync(pidFile) || readFileSync(pidFile, "utf8") === "") await setTimeout(10);
  return { building, pid: Number(readFileSync(pidFile, "utf8")) };
}

test("what a killed build has started doesn't keep others from building", async (t) => {
  const checkout = checkoutWithGo(t, ENDLESS);
  const { building, pid } = await beginBuild(checkout);
  t.after(() => process.kill(pid, "SIGKILL"));
  building.kill("SIGKILL");
  await once(building, "exit");
  assert.match(buildNats(checkout.script, checkout.env), /could not be built, although Go is there/);
  assert.equal(callCount(checkout.calls), 2);
});

test("a build that goes on and on isn't waited for without a limit", async (t) => {
  const checkout = checkoutWithGo(t, ENDLESS);
  const { building, pid } = await beginBuild(checkout);
  const impatient = { ...checkout.env, TAILRACE_TOOLS_LOCK_SECONDS: "0.1" };
  assert.match(buildNats(checkout.script, impatient), /another process holds [^\n]*nats-server\.lock$/);
  process.kill(pid, "SIGKILL");
  await once(building, "exit");
});

/** Number of calls of Go. */
function callCount(path: string): number {
  return existsSync(path) ? readFileSync(path, "utf8").split("\n").length - 1 : 0;
}
