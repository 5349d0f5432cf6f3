import type { FastifyInstance } from 'fastify'
import type { RouteContext } from '../context.ts'
import { createSlots } from '../platform/slots.ts'
import { bulkRoute } from './bulk-routes.ts'
import { importRoute } from './import-routes.ts'
import { createStepPacer } from './step-pacer.ts'

/** Imports and bulk changes that run at a time. Each holds at most a step in memory. */
const MAX_RUNNING = 8

/** Rows of a step, and how long it should take: docs/import-export.md has the figures. */
const TURNS = { minRows: 50, maxRows: 200, targetMs: 100 }

/** Changes of many quotas, in steps: `/api/sms/admin/quota/import` and `…/bulk`. Each reads its body in its own way. */
export function quotaStepRoutes(server: FastifyInstance, context: RouteContext): void {
  const steps = { pacer: createStepPacer(TURNS), slots: createSlots(MAX_RUNNING, 'imports and bulk changes') }
  server.register(async scope => importRoute(scope, context, steps))
  server.register(async scope => bulkRoute(scope, context, steps))
}
