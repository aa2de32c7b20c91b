import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { copyFileSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { type TestContext, test } from "node:test";
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

test("why a nats-server can't be built is said in one line, and leaves nothing behind", (t) => {
  const { script, env, tools } = checkoutWithGo(t, "echo no network >&2; echo at all >&2; exit 1");
  assert.match(buildNats(script, env), /^no network; at all; tools: nats-server could not be built[^\n]*$/);
  assert.deepEqual(readdirSync(tools), ["nats-server.lock"]);
});
