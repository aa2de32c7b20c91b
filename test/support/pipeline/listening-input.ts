/** Inputs that listen on a port of this machine, for tests of their protocols. */

import { once } from "node:events";
import { connect, type Socket } from "node:net";
import type { TestContext } from "node:test";
import { InputWorld } from "#test/contract/input-runner.ts";
import { freePort } from "#test/harness/free-ports.ts";

/** Starts the input that `text` configures for a port, and stops it after the test. */
export async function startInput(t: TestContext, text: (port: number) => string, world = new InputWorld()) {
  const port = await freePort();
  const input = world.make(text(port));
  await input.start();
  t.after(() => input.stop());
  return { world, port, input };
}

/** Starts the input `name` with further options and connects to it. */
export async function connectInput(t: TestContext, name: string, more = "", world = new InputWorld()) {
  const text = (port: number): string => `${name} { port => ${port} host => "127.0.0.1" ${more} }`;
  const started = await startInput(t, text, world);
  const socket = connect(started.port, "127.0.0.1");
  await once(socket, "connect");
  t.after(() => socket.destroy());
  return { ...started, socket };
}

/** Sends chunks over a connection of their own and resolves when both sides have ended it. */
export async function sendChunks(port: number, ...chunks: (string | Buffer)[]): Promise<void> {
  const socket = connect(port, "127.0.0.1");
  await once(socket, "connect");
  for (const chunk of chunks) await new Promise((resolve) => socket.write(chunk, resolve));
  socket.end();
  await once(socket.resume(), "close");
}

/** Resolves with the next bytes of a connection. */
export async function received(socket: Socket): Promise<Buffer> {
  const [data] = (await once(socket, "data")) as [Buffer];
  return data;
}
