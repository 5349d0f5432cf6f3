import type { FastifyInstance } from 'fastify'
import Type from 'typebox'
import {
  archiveRateCardIf,
  createRateCardOnce,
  previewLines,
  setLinesOnce,
  updateRateCardOnce,
} from '../../admin/rates/rate-cards.ts'
import { ChangeHeaders, IfMatchHeaders } from '../../contract/quotas.ts'
import {
  CreateRateCardReq,
  RateCardParams,
  RateCardsQuery,
  RateLinesQuery,
  RateLinesReq,
  SetLinesQuery,
  UpdateRateCardReq,
} from '../../contract/rate-cards.ts'
import { IdempotencyHeaders } from '../../contract/schemas.ts'
import { findRateCard, listRateCards, listsOfCard, usersOfCard } from '../../db/rates/rate-cards.ts'
import { MAX_RATE_LINES } from '../../domain/basics/bounds.ts'
import { rateCardViewOf } from '../../domain/rates/rate-card.ts'
import { followRules } from '../changes/follow-rules.ts'
import { accepted, found } from '../changes/outcomes.ts'
import { authorOf, versionCheck } from '../changes/requests.ts'
import type { RouteContext } from '../context.ts'
import { cursorInteger } from '../platform/cursors.ts'
import { timestampOf } from '../platform/formats.ts'
import { parseJsonBodies } from '../platform/json-body.ts'
import { operation } from '../platform/openapi.ts'
import { change, get } from '../platform/routes.ts'
import { getList, listOf } from '../resource/list.ts'
import { parseCsvBodies } from './csv-lines.ts'
import { detailOf, linePage, linesOf, rateCardOf, setViewOf, taggedCard } from './responses.ts'

/** The maximum size of a body, in bytes: 20,000 lines with all their fields. */
const MAX_BODY_BYTES = 4 * 1024 * 1024
/** The names of all their fields, and those around them. */
const MAX_NAMES = MAX_RATE_LINES * 5 + 10

/** Rate cards: `/api/sms/admin/rate-cards…`. */
export function rateCardRoutes(server: FastifyInstance, context: RouteContext): void {
  readRoutes(server, context)
  updateRoute(server, context)
  archiveRoute(server, context)
  // Its scope must be its own, because its bodies may be larger.
  server.register(async scope => {
    parseJsonBodies(scope, scope.bodyReader, MAX_BODY_BYTES, MAX_NAMES)
    parseCsvBodies(scope, MAX_BODY_BYTES)
    createRoute(scope, context)
    linesRoute(scope, context)
  })
}

const cards = listOf({ query: RateCardsQuery, key: cursorInteger, read: listRateCards, view: rateCardViewOf })

function readRoutes(server: FastifyInstance, context: RouteContext): void {
  const { db, now } = context
  getList(server, '', context, cards, {
    ...operation('Administrator', 'listRateCards', 'List rate cards', 'Newest first.'),
    answer: 'RateCardPage',
  })

  get(server, '/:id', {
    ...operation('Administrator', 'getRateCard', 'Read a rate card, its lists of prices, and who has it'),
    params: RateCardParams,
    answer: 'RateCardDetail',
    errors: ['not_found'],
    handler: async (request, reply) => {
      const { id } = request.params
      const card = found(await findRateCard(db, id), rateCardOf(id))
      const [lists, users] = [await listsOfCard(db, id), await usersOfCard(db, id)]
      return { ...taggedCard(reply, card), ...users, ...detailOf(lists, now()) }
    },
  })

  get(server, '/:id/lines', {
    ...operation('Administrator', 'listRateLines', 'Read the prices of a rate card'),
    isReport: true,
    params: RateCardParams,
    query: RateLinesQuery,
    answer: 'RateLinePage',
    errors: ['not_found'],
    handler: ({ params: { id }, query }) => linePage(db, id, query, now()),
  })
}

function createRoute(server: FastifyInstance, context: RouteContext): void {
  const { db, now, pauses } = context
  change(server, 'POST', '', {
    ...operation('Administrator', 'createRateCard', 'Create a rate card'),
    bodyLimit: MAX_BODY_BYTES,
    headers: IdempotencyHeaders,
    body: CreateRateCardReq,
    answer: { 201: Type.Ref('RateCard#') },
    errors: ['too_many_rate_cards', 'idempotency_mismatch'],
    handler: async (request, reply) => {
      const { lines, ...fields } = request.body
      const draft = lines === undefined ? fields : { ...fields, lines: linesOf(lines) }
      const key = request.headers['idempotency-key']
      const made = accepted(await createRateCardOnce(db, draft, authorOf(request, now()), key), rateCardOf())
      const card = made.outcome === 'replayed' ? made.answer : made.card
      await followRules(pauses)
      reply.code(201).header('location', `/api/sms/admin/rate-cards/${card.id}`)
      return taggedCard(reply, card)
    },
  })
}

function updateRoute(server: FastifyInstance, context: RouteContext): void {
  const { db, now, pauses } = context
  change(server, 'PUT', '/:id', {
    ...operation(
      'Administrator',
      'updateRateCard',
      'Rename a rate card, or make it the default',
      'Prices have a call of their own.',
    ),
    params: RateCardParams,
    headers: ChangeHeaders,
    body: UpdateRateCardReq,
    answer: { 200: Type.Ref('RateCard#') },
    errors: ['not_found', 'version_mismatch', 'rate_card_archived', 'idempotency_mismatch'],
    handler: async (request, reply) => {
      const { id } = request.params
      const { 'if-match': ifMatch, 'idempotency-key': key } = request.headers
      const author = authorOf(request, now())
      const updated = await updateRateCardOnce(db, id, request.body, author, versionCheck(ifMatch), key)
      const done = accepted(updated, rateCardOf(id))
      await followRules(pauses)
      return taggedCard(reply, done.outcome === 'replayed' ? done.answer : done.card)
    },
  })
}

function archiveRoute(server: FastifyInstance, context: RouteContext): void {
  const { db, now, pauses } = context
  change(server, 'DELETE', '/:id', {
    ...operation(
      'Administrator',
      'archiveRateCard',
      'Archive a rate card',
      'Neither the default card nor one that a plan or a user has can be archived. To archive one again changes nothing.',
    ),
    params: RateCardParams,
    headers: IfMatchHeaders,
    answer: null,
    errors: ['not_found', 'version_mismatch', 'rate_card_in_use'],
    handler: async (request, reply) => {
      const { id } = request.params
      const check = versionCheck(request.headers['if-match'])
      accepted(await archiveRateCardIf(db, id, authorOf(request, now()), check), rateCardOf(id))
      await followRules(pauses)
      return reply.code(204).send(null)
    },
  })
}

function linesRoute(server: FastifyInstance, context: RouteContext): void {
  const { db, now, pauses } = context
  change(server, 'PUT', '/:id/lines', {
    ...operation(
      'Administrator',
      'setRateLines',
      'Set the prices of a rate card',
      'The whole list, which holds in every process within two seconds, or exactly from `valid_from` on. What was reserved before keeps its price. The answer says which lines are dearer, cheaper, new or gone; with `dry_run` it only does that. Also as `text/csv`: a row of names, and a row for each line.',
    ),
    bodyLimit: MAX_BODY_BYTES,
    params: RateCardParams,
    query: SetLinesQuery,
    headers: ChangeHeaders,
    body: RateLinesReq,
    answer: 'RateLinesSet',
    errors: ['not_found', 'version_mismatch', 'rate_card_archived', 'too_many_rate_cards', 'idempotency_mismatch'],
    handler: async (request, reply) => {
      const { id } = request.params
      const { 'if-match': ifMatch, 'idempotency-key': key } = request.headers
      const { valid_from, dry_run } = request.query
      const isDryRun = dry_run === 'true'
      const terms = {
        lines: linesOf(request.body.lines),
        validFrom: valid_from === undefined ? undefined : timestampOf(valid_from),
      }
      const [author, check] = [authorOf(request, now()), versionCheck(ifMatch)]
      const set = isDryRun
        ? await previewLines(db, id, terms, author, check)
        : await setLinesOnce(db, id, terms, author, check, key)
      const done = accepted(set, rateCardOf(id))
      await followRules(pauses)
      return setViewOf(reply, done.outcome === 'replayed' ? done.answer : done, isDryRun)
    },
  })
}
