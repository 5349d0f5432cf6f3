/** The lines of a history, as the referee reads them. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Answer, SeenCall } from '../support/chaos/deployment.ts'
import { createHistory, UNRECORDED } from '../support/chaos/history.ts'

function startHistory() {
  let see: (call: SeenCall) => void = () => {}
  const history = createHistory(
    {
      watch(watcher) {
        see = watcher
      },
    },
    { seed: 7, epochMs: 1_000_000, startedAt: 500, uncertaintyMs: 600 },
  )
  let at = 501
  return {
    history,
    call(method: string, path: string, body: object | undefined, answer: Answer | undefined, client = 'one') {
      see({ client, service: 1, method, path, body, key: undefined, invoked: at, returned: at + 1, answer })
      at += 2
    },
    lines() {
      const folder = mkdtempSync(join(tmpdir(), 'sms-quota-history-'))
      history.write(join(folder, 'history.jsonl'), [])
      const text = readFileSync(join(folder, 'history.jsonl'), 'utf8')
      rmSync(folder, { recursive: true })
      return text
        .trim()
        .split('\n')
        .map(line => JSON.parse(line))
    },
  }
}

const SENDER = '/api/sms/sender/quota'
const ADMIN = '/api/sms/admin'

test('the first line is what was set up, the last one the end', () => {
  const { history, call, lines } = startHistory()
  call('POST', `${ADMIN}/quota`, { user_id: 3, limit: 5 }, { status: 201, body: { id: 9, user_id: 3 } }, 'set-up')
  history.begin()
  call('PUT', `${ADMIN}/quota/9`, { limit: 6 }, { status: 200, body: { id: 9, user_id: 3, limit: 6 } })
  history.fault('clock_step', 4_000, { by_ms: 3_000 })
  expect(lines()).toMatchObject([
    {
      kind: 'run',
      seed: 7,
      epoch_ms: 1_000_000,
      clock_uncertainty_ms: 600,
      set_up: [{ operation: 'create_quota', user: 3, process: 'set-up', invoked: 1_000, returned: 2_000 }],
    },
    {
      ...{ kind: 'operation', process: 'one', service: 'b', user: 3, operation: 'change_quota' },
      ...{ arguments: { id: 9, limit: 6 }, invoked: 3_000, returned: 4_000, outcome: 'ok' },
    },
    { kind: 'fault', fault: 'clock_step', at: 4_000, until: null, by_ms: 3_000 },
    { kind: 'end', rows: [] },
  ])
})

test.each([
  [
    { status: 200, body: { granted: true } },
    { outcome: 'ok', returned: 2_000 },
  ],
  [
    { status: 200, body: { granted: false, reason: 'no_quota' } },
    { outcome: 'denied', reason: 'no_quota' },
  ],
  [
    { status: 409, body: { code: 'reservation_closed' } },
    { outcome: 'refused', code: 'reservation_closed' },
  ],
  [
    { status: 503, body: { code: 'overloaded' } },
    { outcome: 'refused', code: 'overloaded' },
  ],
  [
    { status: 503, body: { code: 'unavailable' } },
    { outcome: 'unknown', returned: null },
  ],
  [undefined, { outcome: 'unknown', returned: null, answer: null }],
])('of an answer %j the line says %j', (answer, expected) => {
  const { history, call } = startHistory()
  history.begin()
  call('POST', `${SENDER}/reserve`, { user_id: 3, id: 'm', units: 1 }, answer)
  expect(history.operations).toMatchObject([{ operation: 'reserve', user: 3, ...expected }])
})

test('a batch is a line for each operation, also if it has no answer', () => {
  const { history, call } = startHistory()
  history.begin()
  const operations = [
    { op: 'consume', user_id: 3, id: 'm', units: 1 },
    { op: 'refund', user_id: 4, id: 'n' },
  ]
  const results = [
    { status: 200, body: { granted: true } },
    { status: 503, body: { code: 'unavailable' } },
  ]
  call('POST', `${SENDER}/batch`, { operations }, { status: 200, body: { results } })
  call('POST', `${SENDER}/batch`, { operations }, undefined)
  const of = (batch: number, index: number, outcome: string) => ({ batch, index, outcome, user: 3 + index })
  expect(history.operations).toMatchObject([
    { ...of(0, 0, 'ok'), operation: 'consume', arguments: { id: 'm', units: 1 } },
    { ...of(0, 1, 'unknown'), operation: 'refund' },
    of(1, 0, 'unknown'),
    of(1, 1, 'unknown'),
  ])
})

test('a quota that a transfer has made is its receiver’s, and a transfer names both', () => {
  const { history, call } = startHistory()
  call('POST', `${ADMIN}/quota`, { user_id: 3, limit: 5 }, { status: 201, body: { id: 9, user_id: 3 } })
  history.begin()
  const answer = { status: 201, body: { transfer: { id: 1, to_quota_id: 10 } } }
  call('POST', `${ADMIN}/quota/9/transfer`, { to_user_id: 4, units: 1 }, answer)
  call('DELETE', `${ADMIN}/quota/10`, undefined, { status: 204, body: undefined })
  expect(history.operations).toMatchObject([
    { user: 3, operation: 'transfer', arguments: { id: 9, from_user_id: 3, to_user_id: 4 } },
    { user: 4, operation: 'delete_quota', answer: null },
  ])
})

test('what only asks whether a service answers is not recorded', () => {
  const { history, call } = startHistory()
  history.begin()
  call('GET', '/readyz', undefined, { status: 200, body: {} })
  call('POST', `${SENDER}/check`, { user_id: 1, units: 1 }, { status: 200, body: {} }, UNRECORDED)
  expect(history.operations).toEqual([])
})

test('calls of clients without a name get that of a client that is free', () => {
  let see: (call: SeenCall) => void = () => {}
  const history = createHistory(
    {
      watch(watcher) {
        see = watcher
      },
    },
    { seed: 7, epochMs: 1_000_000, startedAt: 0, uncertaintyMs: 600, speed: 2 },
  )
  history.begin()
  for (const [invoked, returned] of [
    [1, 5],
    [3, 6],
    [5, 9],
  ] as const) {
    const body = { user_id: 1, units: 1 }
    const call = { service: 0, method: 'POST', path: `${SENDER}/check`, body, key: undefined, client: undefined }
    see({ ...call, invoked, returned, answer: { status: 200, body: { granted: true } } })
  }
  expect(history.operations.map(({ process, invoked }) => [process, invoked])).toEqual([
    ['client-0', 2_000],
    ['client-1', 6_000],
    ['client-0', 10_000],
  ])
})
