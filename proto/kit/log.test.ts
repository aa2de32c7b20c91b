import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";

const LOG = new URL("./log.ts", import.meta.url).href;

/** Runs `body` in a process of its own, as the log goes to standard error; returns what it writes there. */
function written(body: string, pretty: boolean): string {
  const source = `import { createLogger, sendingLogger, writeSentLine } from "${LOG}"; const log = createLogger({ name: "hub", level: "info", pretty: ${pretty} }); ${body}`;
  return spawnSync(process.execPath, ["--input-type=module", "--eval", source], { encoding: "utf8" }).stderr;
}

function logged(body: string): Record<string, unknown>[] {
  return written(body, false)
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

test("log lines are JSON on standard error, secrets hidden, levels by name", () => {
  const [first, second, ...rest] = logged(`
    log.debug("too much");
    log.info({ token: "t0p", headers: { authorization: "Bearer t0p", host: "a" } }, "asked");
    log.error({ err: Object.assign(new Error("broken"), { code: "timeout" }), code: "c0de" }, "cannot answer");
  `);
  assert.equal(rest.length, 0);
  assert.deepEqual(
    [first?.["level"], first?.["msg"], first?.["token"], first?.["headers"]],
    ["info", "asked", "[hidden]", { authorization: "[hidden]", host: "a" }],
  );
  const { message, error_code } = second!["err"] as Error & { error_code: string };
  assert.deepEqual([message, error_code, second!["code"]], ["broken", "timeout", "[hidden]"]);
});

for (const field of ["err", "error"])
  test(`an error in the field ${field} has its message, stack and code, from a thread too`, () => {
    const lines = logged(`
      const thrown = Object.assign(new Error("broken"), { code: "EIO" });
      log.error({ ${field}: thrown }, "cannot read");
      sendingLogger("info", (line) => writeSentLine(log, line)).error({ ${field}: thrown }, "cannot read");
    `);
    const found = lines.map((line) => {
      const { message, stack, error_code, code } = line[field] as Record<string, unknown>;
      return [message, String(stack).startsWith("Error: broken\n    at "), error_code, code];
    });
    assert.deepEqual(found, Array(2).fill(["broken", true, "EIO", undefined]));
  });

test("lines for people hold nothing that steers their terminal, whatever a file is called", () => {
  const text = written(
    'log.info({ path: "a\\u001b[2J", err: new Error("b\\u001b]0;x\\u0007") }, "cannot read \\u001b[31m\\u009b1mred");',
    true,
  );
  assert.match(text, /cannot read \ufffd\[31m\ufffd1mred/);
  for (const character of ["\u001b", "\u0007", "\u009b"]) assert.ok(!text.includes(character));
});
