/**
 * What `sms-quota-client/testing` offers: a service for the tests of senders. This file has its types; the code is in
 * src/fake, and becomes one file with the service's own rules when the package is built.
 */

export interface FakeServerOptions {
  /** In RFC 3339. Its clock stands still at this time until `advance`; left out, it runs. */
  now?: string
  /** How it counts the segments of a message, as the settings of the service of the same names; what is left out is as by default. */
  segments?: {
    /** `SEGMENTATION` */
    split?: 'graphemes' | 'code-units'
    /** `SMS_REFERENCE_BITS` */
    referenceBits?: 8 | 16
    /** `SMS_SHIFT_TABLES` */
    shiftTables?: readonly ('turkish' | 'spanish' | 'portuguese')[]
  }
}

export interface FakeServer {
  readonly url: string
  /** A token with all roles. */
  readonly token: string
  /** While true, each call is answered "try later" (503) and does nothing. */
  isAway: boolean
  /** Moves its clock: reservations expire, windows end. */
  advance(ms: number): void
  close(): Promise<void>
}

/** Starts a service on this machine. It decides by the rules of the real one, and keeps everything in memory. */
export declare function createFakeServer(options?: FakeServerOptions): Promise<FakeServer>
