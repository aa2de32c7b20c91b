/** Both ends of a way for packets within one thread. */

import type { Channel, Packet } from "#hub/host/wire/channel.ts";

export function channelPair(): [Channel, Channel] {
  const listeners: ((packet: Packet) => void)[] = [];
  const end = (own: number): Channel => ({
    send: (packet) => queueMicrotask(() => listeners[1 - own]?.(packet)),
    receive: (listener) => {
      listeners[own] = listener;
    },
    close: () => undefined,
  });
  return [end(0), end(1)];
}
