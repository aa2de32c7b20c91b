import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { type TestContext as NodeTest, test } from "node:test";
import type { InputPlugin } from "#agent/contract/input.ts";
import { convert } from "#proto/kit/schema.ts";
import { testContext } from "#test/support/agent/recording-output.ts";
import { syslogInput } from "./syslog.ts";
import { type TcpInput, tcpInput } from "./tcp.ts";

/** Starts an input of these settings; the connections it is given end with the test. */
async function listen(
  t: NodeTest,
  given: object,
  plugin: InputPlugin = tcpInput,
): Promise<{ input: TcpInput; open: () => Socket }> {
  const context = await testContext();
  const settings = convert(plugin.schema, { host: "127.0.0.1:0", ...given });
  const input = plugin.create(settings as never, context) as TcpInput;
  await input.start();
  const sockets: Socket[] = [];
  t.after(async () => {
    for (const socket of sockets) socket.destroy();
    await input.stop();
    await context.dispose();
  });
  const open = (): Socket => {
    const socket = connect(input.port, "127.0.0.1");
    socket.on("error", () => undefined); // a refusal may come as a reset
    sockets.push(socket.resume());
    return socket;
  };
  return { input, open };
}

for (const [plugin, given] of [
  [tcpInput, {}],
  [syslogInput, { protocol: "tcp" }],
] as const) {
  test(`connections of ${plugin.type} beyond max_connections are refused, and the others stay`, async (t) => {
    const { open, input } = await listen(t, { max_connections: 2, ...given }, plugin);
    const kept = [open(), open()];
    await Promise.all(kept.map((socket) => once(socket, "connect")));
    const refused = open();
    await once(refused, "close");
    assert.deepEqual(
      kept.map(({ destroyed }) => destroyed),
      [false, false],
    );
    await once(open(), "close");
    const { errors, lastError } = input.state();
    assert.deepEqual(
      [errors, lastError],
      [1, "a connection was refused: max_connections: 2 are open; raise it"],
    );
  });
}

test("a connection without data is closed when timeout is over", async (t) => {
  const { open } = await listen(t, { timeout: "50ms" });
  const [hadError] = await once(open(), "close");
  assert.equal(hadError, false);
});
