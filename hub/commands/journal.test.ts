import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { parseJournalCommand, runJournalCommand } from "./journal.ts";

const ANSWERS: Readonly<Record<string, unknown>> = {
  "/api/status": {
    streams: {
      raw: { messages: 21, bytes: 3 * 1_024 ** 2, max_bytes: 100 * 1_024 ** 2, fill: 0.03 },
      doc: { error: "the log can't be asked now" },
    },
  },
  "/api/agents": [{ name: "web-1", health: "ok", lag_bytes: 1_024 ** 2 / 2 }],
};

test("streams and agents are shown as tables, and as JSON", async (t) => {
  const server = createServer(({ url = "" }, response) => response.end(JSON.stringify(ANSWERS[url])));
  t.after(() => server.close());
  await once(server.listen(0, "127.0.0.1"), "listening");
  const port = `dashboard.port=${(server.address() as AddressInfo).port}`;
  assert.equal(
    await runJournalCommand(parseJournalCommand(["-E", port]), {}),
    [
      "STREAM  MESSAGES                    MIB  LIMIT  FILL",
      "raw     21                          3.0  100.0  3.0 %",
      "doc     the log can't be asked now",
      "",
      "AGENT  HEALTH  MIB BEHIND",
      "web-1  ok      0.5",
      "",
    ].join("\n"),
  );
  const json = JSON.parse(await runJournalCommand(parseJournalCommand(["--json", "-E", port]), {})) as object;
  assert.deepEqual(json, {
    streams: (ANSWERS["/api/status"] as { streams: object }).streams,
    agents: ANSWERS["/api/agents"],
  });
});

test("arguments after journal are refused", () => {
  assert.throws(() => parseJournalCommand(["raw"]), {
    code: "usage_invalid",
    message: /unexpected argument/,
  });
});
