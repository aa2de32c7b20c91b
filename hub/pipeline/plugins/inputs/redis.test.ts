import assert from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { type TestContext, test } from "node:test";
import { InputWorld } from "#test/contract/input-runner.ts";

/** Answers an input's commands as a Redis with these elements in the input's own list; redis itself is tested with a server. */
async function fakeRedis(t: TestContext, elements: string[]): Promise<number> {
  const answers: Readonly<Record<string, () => string>> = {
    info: () => "$-1\r\n",
    lrange: () =>
      `*${elements.length}\r\n${elements.map((each) => `$${each.length}\r\n${each}\r\n`).join("")}`,
    ltrim: () => {
      elements.length = 0;
      return "+OK\r\n";
    },
    blmove: () => "$-1\r\n",
  };
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("data", (data) => {
      for (const [, name] of data.toString().matchAll(/\*\d+\r\n\$\d+\r\n(\w+)/g))
        socket.write(answers[name!.toLowerCase()]?.() ?? "+OK\r\n");
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

test("an element that the log can't take is counted as lost, and those around it leave the list", async (t) => {
  const elements = [1, 2, 3].map((n) => `{"message":"${n}"}`);
  const port = await fakeRedis(t, elements);
  const world = new InputWorld();
  world.isTooLong = (event) => event.fields["message"] === "2";
  const input = world.make(`redis { host => "127.0.0.1" port => ${port} key => "logs" data_type => list }`);
  await input.start();
  await world.until(2);
  await input.stop();
  assert.deepEqual(world.messages, ["1", "3"]);
  assert.equal(world.drops, 1);
  assert.deepEqual(elements, []);
});
