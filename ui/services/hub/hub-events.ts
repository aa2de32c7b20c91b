/** What pages and the badge of the connection tell each other of a hub that is away: events of the window. */

/** Somebody's call found no hub: the badge asks it until it answers. */
export const HUB_MISSED_EVENT = "tailrace-hub-missed";

/** The hub answers again: what failed for want of it is worth another try. */
export const HUB_BACK_EVENT = "tailrace-hub-back";
