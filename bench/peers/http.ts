/**
 * The HTTP server of the peers: as lean as possible with the same framework, the same checks of token and body, and a
 * compiled serializer for responses. No logging, no security headers, no documentation.
 */
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import Fastify from 'fastify'
import Type from 'typebox'
import { loadConfig } from '../../src/config/config.ts'
import { createAuthenticator } from '../../src/http/auth/authenticator.ts'

/** How a peer reserves units. */
export type Reserve = (userId: number, id: string, units: number) => Promise<{ granted: boolean; remaining: number }>
/** Commits a whole reservation. Null if there is none that can be committed. */
type Commit = (userId: number, id: string) => Promise<{ units: number } | null>

export interface Peer {
  reserve: Reserve
  commit?: Commit
}

const ReserveReq = Type.Object(
  {
    user_id: Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }),
    id: Type.String({ pattern: '^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$' }),
    units: Type.Integer({ minimum: 1, maximum: 1_000_000_000 }),
    country: Type.Optional(Type.String({ minLength: 2, maxLength: 2 })),
    message_type: Type.Optional(Type.String({ pattern: '^[a-z0-9][a-z0-9_-]{0,63}$' })),
    ttl_seconds: Type.Optional(Type.Integer({ minimum: 1, maximum: 604_800 })),
    allow_partial: Type.Optional(Type.Boolean()),
  },
  { additionalProperties: false },
)

const ReserveRes = Type.Object({
  granted: Type.Boolean(),
  id: Type.String(),
  user_id: Type.Integer(),
  units: Type.Integer(),
  remaining: Type.Integer(),
})

const CommitReq = Type.Object({ user_id: ReserveReq.properties.user_id, id: ReserveReq.properties.id })

const CommitRes = Type.Object({
  id: Type.String(),
  user_id: Type.Integer(),
  state: Type.String(),
  units: Type.Integer(),
  committed: Type.Integer(),
})

/** Starts the server and returns its URL. */
export async function listen({ reserve, commit }: Peer, secret: string): Promise<string> {
  const loaded = loadConfig({ AUTH_SECRET: secret })
  if ('issues' in loaded) throw new Error('the configuration of the peer is invalid')
  const authenticator = await createAuthenticator(loaded.config, { now: Date.now, log: { info() {}, error() {} } })
  const app = Fastify({ logger: false }).withTypeProvider<TypeBoxTypeProvider>()
  app.addHook('onRequest', async request => {
    authenticator.require(await authenticator.authenticate(request.headers.authorization), 'send')
  })
  app.post(
    '/api/sms/sender/quota/reserve',
    { schema: { body: ReserveReq, response: { 200: ReserveRes } } },
    async request => {
      const { user_id, id, units } = request.body
      const { granted, remaining } = await reserve(user_id, id, units)
      return { granted, id, user_id, units, remaining }
    },
  )
  if (commit !== undefined) {
    app.post(
      '/api/sms/sender/quota/commit',
      { schema: { body: CommitReq, response: { 200: CommitRes } } },
      async request => {
        const { user_id, id } = request.body
        const committed = await commit(user_id, id)
        if (committed === null) throw Object.assign(new Error(`no open reservation ${id}`), { statusCode: 404 })
        const { units } = committed
        return { id, user_id, state: 'committed', units, committed: units }
      },
    )
  }
  return app.listen({ host: '127.0.0.1', port: 0 })
}
