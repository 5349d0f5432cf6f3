import type { FastifyInstance, FastifyReply } from 'fastify'
import Type from 'typebox'
import { updateBreaker } from '../../admin/pauses/breaker.ts'
import { BreakerReq } from '../../contract/breaker-settings.ts'
import { IfMatchHeaders } from '../../contract/quotas.ts'
import { type BreakerRow, readBreaker } from '../../db/breaker/settings.ts'
import { countActivePauses, listPauses, type PauseFilter } from '../../db/pauses/lists.ts'
import { pauseViewOf } from '../../domain/pauses/pause.ts'
import { Problem } from '../../errors.ts'
import { authorOf, etagOf, versionCheck } from '../changes/requests.ts'
import type { RouteContext } from '../context.ts'
import { operation } from '../platform/openapi.ts'
import { change, get } from '../platform/routes.ts'

/** Pauses that the settings show: what holds now, and what the breaker found lately. */
const MAX_SHOWN = 10

/** The settings of the breaker: `/api/sms/admin/breaker`. */
export function breakerSettingsRoutes(server: FastifyInstance, { db, now, settings: { breaker } }: RouteContext): void {
  async function shown(reply: FastifyReply, { version, settings, users }: BreakerRow) {
    const at = now()
    const newest = async (filter: PauseFilter) =>
      (await listPauses(db, filter, { size: MAX_SHOWN, now: at })).items.map(pause => pauseViewOf(pause, at))
    const [active_count, active, latest] = await Promise.all([
      countActivePauses(db, at),
      newest({ active: 'true' }),
      newest({ origin: 'breaker' }),
    ])
    reply.header('etag', etagOf(version))
    return {
      ...settings,
      message_types: settings.message_types ?? breaker.messageTypes,
      version,
      users,
      ...{ active_count, active, latest },
    }
  }

  get(server, '', {
    ...operation('Administrator', 'getBreaker', 'Read the settings of the breaker, and what it saw lately'),
    answer: 'Breaker',
    handler: async (_request, reply) => shown(reply, await readBreaker(db)),
  })

  change(server, 'PUT', '', {
    ...operation(
      'Administrator',
      'updateBreaker',
      'Change the settings of the breaker',
      'They hold from its next turn on, within `BREAKER_INTERVAL_SECONDS`. Pauses that it made stay: lift them.',
    ),
    headers: IfMatchHeaders,
    body: BreakerReq,
    answer: { 200: Type.Ref('Breaker#') },
    errors: ['version_mismatch'],
    handler: async (request, reply) => {
      const check = versionCheck(request.headers['if-match'])
      const updated = await updateBreaker(db, request.body, authorOf(request, now()), check)
      if (updated.outcome !== 'version_mismatch') return shown(reply, updated.breaker)
      throw new Problem('version_mismatch', `The settings now have version ${updated.version}.`, {
        headers: { etag: etagOf(updated.version) },
      })
    },
  })
}
