/** What the proxy and its test use of the package `smpp`, which has no types of its own. */
declare module 'smpp' {
  import type { EventEmitter } from 'node:events'
  import type { Server } from 'node:net'

  export interface Pdu {
    command: string
    command_status: number
    sequence_number: number
    /** Octets, where the filters that decode texts are removed. */
    short_message?: Buffer
    message_payload?: Buffer
    [field: string]: unknown
    isResponse(): boolean
    response(fields?: Record<string, unknown>): Pdu
  }

  export interface Session extends EventEmitter {
    /** False if the connection is closed. */
    send(pdu: Pdu, onResponse?: (response: Pdu) => void): boolean
    pause(): void
    resume(): void
    close(): void
    destroy(): void
  }

  interface Field {
    type: unknown
    filter?: unknown
  }

  interface Smpp {
    connect(options: { host: string; port: number }): Session
    createServer(onSession: (session: Session) => void): Server
    addTLV(name: string, options: { id: number; type: unknown }): void
    PDU: new (command: string, fields?: Record<string, unknown>) => Pdu
    commands: Record<string, { params?: Record<string, Field> }>
    tlvs: Record<string, Field>
    types: { tlv: { buffer: unknown } }
    errors: Record<
      | 'ESME_RBINDFAIL'
      | 'ESME_RINVCMDID'
      | 'ESME_RINVDSTADR'
      | 'ESME_RINVSYSID'
      | 'ESME_RSUBMITFAIL'
      | 'ESME_RTHROTTLED'
      | 'ESME_RX_T_APPN',
      number
    >
  }

  const smpp: Smpp
  export default smpp
}
