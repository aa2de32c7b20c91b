/** Sends datagrams while this thread can't receive any. */

import { execFileSync } from "node:child_process";

/** Datagrams that are sent. */
export const DATAGRAMS = 400;

const SEND = `
const [, port, count, host] = process.argv;
const socket = require("node:dgram").createSocket(host.includes(":") ? "udp6" : "udp4");
socket.connect(Number(port), host, async () => {
  for (let n = 0; n < Number(count); n++) await new Promise((resolve) => socket.send("x".repeat(1000), resolve));
  socket.close();
});`;

/** Sends `DATAGRAMS` of 1,000 bytes to a port of this machine, and returns when all are sent. */
export function sendDatagrams(port: number, host = "127.0.0.1"): void {
  execFileSync(process.execPath, ["-e", SEND, String(port), String(DATAGRAMS), host], { timeout: 30_000 });
}
