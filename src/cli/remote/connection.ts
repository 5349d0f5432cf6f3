/** The client of a command, and what its failures mean. */
import { ForeignAnswer } from '../../../client/src/answers.ts'
import type { OperationId } from '../../../client/src/api.ts'
import { type CallOptions, type Client, createClient } from '../../../client/src/main.ts'
import { toCamel, toSnake } from '../../../client/src/names.ts'
import type { Request } from './fields.ts'
import type { Address } from './profiles.ts'

const TIMEOUT_MS = 10_000

export interface Connection {
  client: Client
  /** Calls an operation, with the names of the API in the request and in the answer. */
  call(operation: OperationId, request: Request, options?: CallOptions): Promise<unknown>
}

export function connect({ url, token }: Address): Connection {
  let hasAnswered = false
  const client = createClient({
    url,
    token,
    // A person waits longer than a gateway.
    senderTimeoutMs: TIMEOUT_MS,
    timeoutMs: TIMEOUT_MS,
    async fetch(input, init) {
      const response = await fetch(input, init)
      hasAnswered = true
      return response
    },
    // A service that answered before restarts. One that never did is not there: an error at once helps more than to wait.
    isFinal: error => error instanceof ForeignAnswer || (!hasAnswered && reasonOf(error) !== undefined),
  })
  return {
    client,
    async call(operation, request, options = {}) {
      // The request is made from the schemas of the operation.
      const ask = client[operation] as (request: unknown, options: CallOptions) => Promise<unknown>
      return toSnake(await ask(toCamel(request), options))
    },
  }
}

const REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens there',
  ENOTFOUND: 'no host has this name',
  EAI_AGAIN: 'the name of the host cannot be looked up now',
  EHOSTUNREACH: 'there is no way to the host',
  ENETUNREACH: 'there is no way to its network',
  CERT_HAS_EXPIRED: 'its certificate has expired',
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for another host',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'its certificate is self-signed; NODE_EXTRA_CA_CERTS=FILE trusts it',
  SELF_SIGNED_CERT_IN_CHAIN: 'its certificate is from an unknown authority; NODE_EXTRA_CA_CERTS=FILE trusts it',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'its certificate is from an unknown authority; NODE_EXTRA_CA_CERTS=FILE trusts it',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'its certificate is from an unknown authority; NODE_EXTRA_CA_CERTS=FILE trusts it',
  ERR_SSL_WRONG_VERSION_NUMBER: 'it does not speak TLS there; try http://',
  ERR_SSL_PACKET_LENGTH_TOO_LONG: 'it does not speak TLS there; try http://',
}

/** Why `fetch` could not reach a service at all; undefined for other errors. */
export function reasonOf(error: unknown): string | undefined {
  const { cause } = error instanceof Error ? error : {}
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : ''
  return REASONS[code]
}
