/** A hub as others would reach it: TLS and sign-in on both listeners, an account and keys of each role. */

import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { connect, setDefaultCACertificates, type TLSSocket } from "node:tls";
import { issueOwnCertificate } from "#test/harness/certificates.ts";
import { freePort } from "#test/harness/free-ports.ts";
import { type Settings, TestHub } from "#test/harness/hub.ts";
import { keepSecret } from "#test/harness/secrets.ts";
import { Workspace } from "#test/harness/workspace.ts";

const LAUNCHER = resolve(import.meta.dirname, "../../hub/bin/tailrace-hub");
const HOST = "127.0.0.1";
/** Longest wait for an answer. */
const ANSWER_MS = 30_000;

export const ADMIN = { name: "ada", password: keepSecret("correct horse battery") };
export const KEY_ROLES = ["admin", "editor", "viewer", "ingest"] as const;
export type KeyRole = (typeof KEY_ROLES)[number];

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

export class SecuredHub {
  readonly workspace = new Workspace();
  readonly hub: TestHub;
  /** Bearer headers by role. */
  readonly keys: Readonly<Record<KeyRole, string>>;

  private constructor(hub: TestHub, keys: Record<KeyRole, string>) {
    this.hub = hub;
    this.keys = keys;
  }

  /** Starts the hub. The process trusts its certificate from then on. */
  static async start(settings: Settings = {}): Promise<SecuredHub> {
    const workspace = new Workspace();
    const { certificate, key } = issueOwnCertificate(workspace.folder, "hub", ["localhost", HOST]);
    setDefaultCACertificates([readFileSync(certificate, "utf8")]);
    const port = await freePort();
    const hub = new TestHub({
      dataDir: workspace.path("hub-data"),
      settings: {
        "auth.mode": "required",
        "dashboard.port": port,
        "public.url": `https://${HOST}:${port}`,
        "tls.certificate": certificate,
        "tls.key": key,
        ...settings,
      },
    });
    workspace.defer(() => hub.destroy());
    try {
      command(["user", "add", ADMIN.name, "--role", "admin", "--path.data", hub.dataDir], ADMIN.password);
      const keys = Object.fromEntries(KEY_ROLES.map((role) => [role, makeKey(role, hub.dataDir)]));
      await hub.start();
      const secured = new SecuredHub(hub, keys as Record<KeyRole, string>);
      secured.workspace.defer(() => workspace.close());
      return secured;
    } catch (error) {
      await workspace.close();
      throw error;
    }
  }

  close(): Promise<void> {
    return this.workspace.close();
  }

  /** Sends a request to the search interface, or with `dashboard` to the dashboard's listener. */
  async request(
    path: string,
    {
      method = "GET",
      role,
      headers = {},
      body,
      dashboard = false,
    }: {
      readonly method?: string;
      readonly role?: KeyRole;
      readonly headers?: Readonly<Record<string, string>>;
      readonly body?: string | Uint8Array<ArrayBuffer>;
      readonly dashboard?: boolean;
    } = {},
  ): Promise<Answer> {
    const base = dashboard ? this.hub.dashboardUrl : this.hub.searchUrl;
    const answer = await fetch(base + path, {
      method,
      redirect: "manual",
      headers: {
        ...(role === undefined ? {} : { authorization: this.keys[role] }),
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...headers,
      },
      ...(body === undefined ? {} : { body }),
      signal: AbortSignal.timeout(ANSWER_MS),
    });
    return { status: answer.status, headers: answer.headers, text: await answer.text() };
  }

  /** Opens a TLS connection to the search interface, for bytes that aren't a request of a library. */
  async connection(): Promise<TLSSocket> {
    const { port } = new URL(this.hub.searchUrl);
    const socket = connect({ host: HOST, port: Number(port) });
    await new Promise<void>((settle, fail) => {
      socket.once("secureConnect", settle);
      socket.once("error", fail);
    });
    socket.on("error", () => undefined);
    return socket;
  }
}

function makeKey(role: KeyRole, dataDir: string): string {
  const printed = command(["api-key", "add", role, "--role", role, "--json", "--path.data", dataDir]);
  return `Bearer ${keepSecret((JSON.parse(printed) as { key: string }).key)}`;
}

function command(args: readonly string[], input = ""): string {
  const { status, stdout, stderr } = spawnSync(LAUNCHER, args, { input: `${input}\n`, encoding: "utf8" });
  if (status !== 0) throw new Error(`tailrace-hub ${args.join(" ")} ended with ${status}: ${stderr}`);
  return stdout;
}

/** The public address must be known before the hub listens. */
