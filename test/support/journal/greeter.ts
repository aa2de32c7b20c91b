/** A server that greets clients as nats-server does, and stores nothing. */

import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import type { TestContext } from "node:test";

const INFO = { server_id: "greeter", version: "2.11.0", proto: 1, headers: true, max_payload: 1_048_576 };

/**
 * Returns its address; it ends with the test. `onClient` hears of each client; false: it isn't greeted. `pongs`: how many pings
 * of each client it answers.
 */
export async function startGreeter(
  t: TestContext,
  onClient: (socket: Socket) => boolean = () => true,
  pongs = Number.POSITIVE_INFINITY,
): Promise<string> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => undefined);
    if (!onClient(socket)) return;
    let answered = 0;
    socket.write(`INFO ${JSON.stringify(INFO)}\r\n`);
    socket.on("data", (data) => {
      if (data.includes("PING\r\n") && answered++ < pongs) socket.write("PONG\r\n");
    });
  });
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return `nats://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
