import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";

const LOG = new URL("./log.ts", import.meta.url).href;

/** Runs `body` in a process of its own, as the log goes to standard error; returns its lines. */
function logged(body: string): Record<string, unknown>[] {
  const source = `import { createLogger } from "${LOG}"; const log = createLogger({ name: "hub", level: "info", pretty: false }); ${body}`;
  const { stderr } = spawnSync(process.execPath, ["--input-type=module", "--eval", source], {
    encoding: "utf8",
  });
  return stderr
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

test("log lines are JSON on standard error, secrets hidden, levels by name", () => {
  const [first, second, ...rest] = logged(`
    log.debug("too much");
    log.info({ token: "t0p", headers: { authorization: "Bearer t0p", host: "a" } }, "asked");
    log.error({ err: new Error("broken") }, "cannot answer");
  `);
  assert.equal(rest.length, 0);
  assert.deepEqual(
    [first?.["level"], first?.["msg"], first?.["token"], first?.["headers"]],
    ["info", "asked", "[hidden]", { authorization: "[hidden]", host: "a" }],
  );
  assert.equal((second?.["err"] as Error | undefined)?.message, "broken");
});
