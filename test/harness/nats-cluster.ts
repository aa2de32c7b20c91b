/** Three nats-servers that form one JetStream cluster. */

import { randomBytes } from "node:crypto";
import { freePorts } from "./free-ports.ts";
import { type NatsPlace, startNats, type TestNats } from "./nats.ts";
import type { Workspace } from "./workspace.ts";

export interface TestNatsCluster {
  readonly servers: readonly TestNats[];
  readonly token: string;
}

/** Starts the servers, which end with the workspace. `count`: 1 is a server without a cluster. `program`: its path. */
export async function startNatsCluster(
  workspace: Workspace,
  count: number,
  program: string,
): Promise<TestNatsCluster> {
  const token = randomBytes(12).toString("hex");
  const routes = await freePorts(count);
  const servers = await Promise.all(
    routes.map((_, at) => {
      const config = (place: NatsPlace): string => configOf(place, token, routes, at);
      return startNats({ dataDir: workspace.path(`nats-${at}`), config, program });
    }),
  );
  for (const server of servers) workspace.defer(() => server.stop());
  return { servers, token };
}

function configOf(
  { port, storeDir, portsDir }: NatsPlace,
  token: string,
  routes: readonly number[],
  at: number,
): string {
  const others = routes.map((route) => `"nats://127.0.0.1:${route}"`).join(", ");
  const cluster = `cluster { name: test, listen: "127.0.0.1:${routes[at]}", no_advertise: true, routes: [${others}] }`;
  return `
host: 127.0.0.1
port: ${port}
server_name: "nats-${at}"
ports_file_dir: ${JSON.stringify(portsDir)}
max_payload: 8388608
authorization { token: ${JSON.stringify(token)} }
jetstream { store_dir: ${JSON.stringify(storeDir)}, max_mem: 64M, max_file: 4G }
${routes.length > 1 ? cluster : ""}
`;
}
