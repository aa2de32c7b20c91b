/** The agent's versions. */

/** Of Tailrace. */
export const VERSION = "0.1.0";
/** Of the shipper interface that receivers know, for compatibility. */
export const SHIPPER_VERSION = "6.5.0";
