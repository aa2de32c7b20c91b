/**
 * Node's HTTP without WebSocket and related modules: importing `node:http` as a module loads them too, which takes 14
 * MB of memory. For processes that must stay small; others import `node:http`.
 */

export const { Agent, createServer, request } = process.getBuiltinModule("node:http");
