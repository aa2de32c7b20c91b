/** Which processes of this machine listen at a port, from /proc. */

import { readdirSync, readFileSync, readlinkSync } from "node:fs";

/** The state of a listening socket in /proc/net/tcp. */
const LISTEN = "0A";

/** Returns the pids that hold a listening TCP socket at `port`; empty where there is none, or no right to see it. */
export function pidsListeningAt(port: number): number[] {
  const inodes = new Set(["tcp", "tcp6"].flatMap((table) => listeningInodes(`/proc/net/${table}`, port)));
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => socketsOf(pid).some((inode) => inodes.has(inode)))
    .map(Number);
}

function listeningInodes(table: string, port: number): string[] {
  const wanted = port.toString(16).toUpperCase().padStart(4, "0");
  return readOr("", () => readFileSync(table, "utf8"))
    .split("\n")
    .map((line) => line.trim().split(/\s+/))
    .filter((columns) => columns[3] === LISTEN && columns[1]!.endsWith(`:${wanted}`))
    .map((columns) => columns[9]!);
}

function socketsOf(pid: string): string[] {
  const folder = `/proc/${pid}/fd`;
  return readOr([], () => readdirSync(folder))
    .map((fd) => readOr("", () => readlinkSync(`${folder}/${fd}`)))
    .flatMap((target) => /^socket:\[(\d+)\]$/.exec(target)?.[1] ?? []);
}

/** A process may end while it is looked at. */
function readOr<T>(otherwise: T, read: () => T): T {
  try {
    return read();
  } catch {
    return otherwise;
  }
}
