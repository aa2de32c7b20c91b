import assert from "node:assert/strict";
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { networkInterfaces } from "node:os";
import { test } from "node:test";
import { systemClock } from "#proto/kit/clock.ts";
import { DATAGRAMS, sendDatagrams } from "#test/support/kit/send-datagrams.ts";
import { DatagramDrops } from "./datagram-drops.ts";

/** An address that is valid with the interface's name alone, such as `fe80::1%eth0`; undefined where there is none. */
const linkLocal = Object.entries(networkInterfaces())
  .flatMap(([name, all = []]) => all.map(({ address }) => `${address}%${name}`))
  .find((address) => address.startsWith("fe80:"));
const SKIP = process.platform === "linux" ? linkLocal === undefined && "no interface has one" : "not Linux";

test("datagrams that the kernel dropped at an address with an interface are counted", {
  skip: SKIP,
}, async () => {
  const socket = createSocket({ type: "udp6", recvBufferSize: 4_096 });
  socket.bind(0, linkLocal!);
  await once(socket, "listening");
  let dropped = 0;
  const drops = new DatagramDrops(socket, systemClock, (count) => (dropped += count));
  sendDatagrams(socket.address().port, linkLocal!);
  await drops.stop();
  socket.close();
  assert.ok(dropped > 300 && dropped < DATAGRAMS, `${dropped} dropped`);
});
