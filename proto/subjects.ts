/** Names of streams and subjects on NATS. Subjects carry UUIDs and numbers, never names that people give. */

import { createHash } from "node:crypto";

/** Streams of the durable log. */
export const RAW_STREAM = "RAW";
export const DOC_STREAM = "DOC";
export const DEAD_LETTER_STREAM = "DEAD";

/** Number of virtual partitions of RAW and of slots of DOC; it must never change, as it is part of subjects. */
export const PARTITIONS = 256;

/** Returns the partition of a file or stream input of an agent, 0..255. */
export function partitionOf(agentId: string, fileKey: string): number {
  return createHash("sha256").update(`${agentId}/${fileKey}`).digest()[0]!;
}

/** Returns the slot of a shard, 0..255. */
export function slotOf(indexUuid: string, shard: number): number {
  return createHash("sha256").update(`${indexUuid}/${shard}`).digest()[0]!;
}

/** Subject of a LogBatch: `raw.<partition>.<agent id>`; `*`: all partitions. */
export function rawSubject(partition: number | "*", agentId: string): string {
  return `raw.${partition}.${agentId}`;
}

/** Subject of a DocBatch: `doc.<slot>.<index uuid>.<shard>`. */
export function docSubject(indexUuid: string, shard: number): string {
  return `doc.${slotOf(indexUuid, shard)}.${indexUuid}.${shard}`;
}

/** Returns the shard that a subject of `docSubject` names. */
export function shardOfDoc(subject: string): { readonly indexUuid: string; readonly shard: number } {
  const [, , indexUuid = "", shard] = subject.split(".", 4);
  return { indexUuid, shard: Number(shard) };
}

/** Prefix of the subjects of one agent; its own credentials allow only these and those of RAW. */
export function agentPrefix(agentId: string): string {
  return `agent.${agentId}`;
}

/** Prefix of the subjects on which an agent is answered. */
export function inboxPrefix(agentId: string): string {
  return `agent.${agentId}.inbox`;
}

/** Request of an agent that (re)connects; the answer is a Watermark. */
export function helloSubject(agentId: string): string {
  return `agent.${agentId}.hello`;
}

/** Where a hub publishes how far an agent's files are committed. */
export function watermarkSubject(agentId: string): string {
  return `agent.${agentId}.watermark`;
}

/** Where an agent publishes its AgentStatus. */
export function statusSubject(agentId: string): string {
  return `agent.${agentId}.status`;
}

/**
 * Nats-Msg-Id of a LogBatch. `secret` is random and known to the sender alone: the server drops repetitions by this id,
 * from any sender, so no other sender may guess the next id.
 */
export function batchMessageId(agentId: string, epoch: number, number: number, secret: string): string {
  return `${agentId}/${epoch}/${number}/${secret}`;
}

/** A UUID of version 8 (RFC 9562). */
const INPUT_UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** Returns true where `id` is that of an input of a pipeline: those have UUIDs of version 8, which no agent gets. */
export function isInputUuid(id: string): boolean {
  return INPUT_UUID.test(id);
}
