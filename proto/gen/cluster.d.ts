import * as $protobuf from "protobufjs/minimal.js";
import Long = require("long");

/** Namespace tailrace. */
export namespace tailrace {

    /**
     * Properties of a HostFrame.
     * @deprecated Use tailrace.HostFrame.$Properties instead.
     */
    interface IHostFrame extends tailrace.HostFrame.$Properties {
    }

    /** Represents a HostFrame. */
    class HostFrame {

        /**
         * Constructs a new HostFrame.
         * @param [properties] Properties to set
         */
        constructor(properties?: tailrace.HostFrame.$Properties);

        /** Unknown fields preserved while decoding when enabled */
        $unknowns?: Uint8Array[];

        /** HostFrame id. */
        id: number;

        /** HostFrame kind. */
        kind: tailrace.HostFrame.Kind;

        /** HostFrame operation. */
        operation: string;

        /** HostFrame deadlineMs. */
        deadlineMs: number;

        /** HostFrame version. */
        version: number;

        /** HostFrame warnings. */
        warnings: string[];

        /** HostFrame value. */
        value: Uint8Array;

        /** HostFrame partBytes. */
        partBytes: number[];

        /**
         * Encodes the specified HostFrame message. Does not implicitly {@link tailrace.HostFrame.verify|verify} messages.
         * @param message HostFrame message or plain object to encode
         * @param [writer] Writer to encode to
         * @returns Writer
         */
        static encode(message: tailrace.HostFrame.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

        /**
         * Decodes a HostFrame message from the specified reader or buffer.
         * @param reader Reader or buffer to decode from
         * @param [length] Message length if known beforehand
         * @returns {tailrace.HostFrame & tailrace.HostFrame.$Shape} HostFrame
         * @throws {Error} If the payload is not a reader or valid buffer
         * @throws {$protobuf.util.ProtocolError} If required fields are missing
         */
        static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): tailrace.HostFrame & tailrace.HostFrame.$Shape;
    }

    namespace HostFrame {

        /** Properties of a HostFrame. */
        interface $Properties {

            /** HostFrame id */
            id?: (number|null);

            /** HostFrame kind */
            kind?: (tailrace.HostFrame.Kind|null);

            /** HostFrame operation */
            operation?: (string|null);

            /** HostFrame deadlineMs */
            deadlineMs?: (number|null);

            /** HostFrame version */
            version?: (number|null);

            /** HostFrame warnings */
            warnings?: (string[]|null);

            /** HostFrame value */
            value?: (Uint8Array|null);

            /** HostFrame partBytes */
            partBytes?: (number[]|null);

            /** Unknown fields preserved while decoding when enabled */
            $unknowns?: Uint8Array[];
        }

        /** Shape of a HostFrame. */
        type $Shape = tailrace.HostFrame.$Properties;

        /** Kind enum. */
        enum Kind {

            /** CALL value */
            CALL = 0,

            /** ANSWER value */
            ANSWER = 1,

            /** FAILURE value */
            FAILURE = 2,

            /** CANCEL value */
            CANCEL = 3,

            /** EVENT value */
            EVENT = 4
        }
    }
}
