/** Ends a thread of another process through the inspector, as a fault would. */

import { readFileSync } from "node:fs";
import { WebSocket } from "ws";
import { withDeadline } from "#proto/kit/lifecycle.ts";
import { until } from "./until.ts";

/** Environment of a process whose threads may be ended. */
export const INSPECTED = { NODE_OPTIONS: "--inspect=127.0.0.1:0" };

const DEADLINE_MS = 30_000;

interface InspectorMessage {
  readonly method?: string;
  readonly params?: { readonly sessionId?: string; readonly workerInfo?: { readonly url: string } };
}

/** Ends one thread that runs a script whose URL `script` fits; resolves when it is gone. `logFile`: of the process. */
export async function endThread(logFile: string, script: RegExp): Promise<void> {
  const url = await until("the inspector's address", () =>
    readFileSync(logFile, "utf8")
      .match(/ws:\/\/127\.0\.0\.1:\d+\/[\w-]+/g)
      ?.at(-1),
  );
  const socket = new WebSocket(url);
  const ended = Promise.withResolvers<void>();
  let session: string | undefined;
  const send = (method: string, params: object): void =>
    socket.send(JSON.stringify({ id: 1, method, params }));
  socket.on("error", ended.reject);
  socket.on("open", () => send("NodeWorker.enable", { waitForDebuggerOnStart: false }));
  socket.on("message", (data: Buffer) => {
    const { method, params } = JSON.parse(data.toString()) as InspectorMessage;
    if (method === "NodeWorker.attachedToWorker" && session === undefined) {
      if (params === undefined || !script.test(params.workerInfo?.url ?? "")) return;
      session = params.sessionId;
      const message = { id: 1, method: "Runtime.evaluate", params: { expression: "process.exit(1)" } };
      send("NodeWorker.sendMessageToWorker", { sessionId: session, message: JSON.stringify(message) });
    } else if (method === "NodeWorker.detachedFromWorker" && params?.sessionId === session) {
      ended.resolve();
    }
  });
  try {
    await withDeadline(ended.promise, DEADLINE_MS, `end of a thread of ${script}`);
  } finally {
    socket.close();
  }
}
