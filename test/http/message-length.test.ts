/** A message has at most 255 SMS. Every path that counts a text refuses a longer one, and names the bound. */
import { expect, test } from 'vitest'
import { SENDER_OPS } from '../../src/contract/sender.ts'
import { createFakeServer } from '../../src/fake/main.ts'
import { whenDone } from '../support/cleanup.ts'
import { startSender } from './sender-fixture.ts'

const { ask, allow, call, senderToken } = await startSender()
await allow({ user_id: 7, limit: 1_000_000 })
// The fake server has no quota of the user: it denies, and counts the text as well.
const fake = await createFakeServer()
whenDone(() => fake.close())

const BOUND = 'must fit into 255 SMS, which hold 39015 septets (GSM-7) or 17085 16-bit units (UCS-2)'
const to = '+4915112345678'
const DRAWS = ['check', 'reserve', 'consume'] as const

/** A text, and how many SMS it takes; null if it is too long. */
// biome-ignore format: one case per line.
const TEXTS: [name: string, text: string, segments: number | null][] = [
  ['the longest text of GSM-7', 'x'.repeat(39_015), 255],
  ['a septet more', 'x'.repeat(39_016), null],
  ['pairs of septets, which are not split', '€'.repeat(19_507), null],
  ['the longest text of UCS-2', 'я'.repeat(17_085), 255],
  ['a unit more', 'я'.repeat(17_086), null],
  ['as many units, of which a few remain free in each SMS', '👍🏽'.repeat(4_271), null],
  ['combining marks', '\u0301'.repeat(20_000), null],
]

let calls = 0

/** What the answers of all paths say about a text; of those that draw, of these. */
async function answersTo(
  text: string,
  draws: readonly (typeof DRAWS)[number][],
): Promise<[path: string, status: number, said: unknown][]> {
  const answers: [string, number, unknown][] = []
  const note = (path: string, status: number, body: { segments?: number; errors?: unknown }) =>
    answers.push([path, status, body.errors ?? body.segments])
  const message = { to, text }
  for (const op of draws) {
    calls += 1
    const idOf = (path: string) => (op === 'check' ? {} : { id: `${path}-${calls}` })
    const body = { user_id: 7, message, ...idOf('single') }
    const single = await ask(op, body)
    note(op, single.status, single.body)
    const batch = await ask('batch', { operations: [{ op, ...body, ...idOf('batch') }] })
    note(`batch ${op}`, batch.body.results[0].status, batch.body.results[0].body)
    const faked = await fetch(`${fake.url}/api/sms/sender/quota/${op}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${fake.token}` },
      body: JSON.stringify(body),
    })
    note(`fake ${op}`, faked.status, JSON.parse(await faked.text()))
  }
  const explained = await call('POST', '/api/sms/admin/quota/check', { body: { user_id: 7, message } })
  note('check of an administrator', explained.status, explained.body)
  return answers
}

test.each(TEXTS)('%s', async (_name, text, segments) => {
  // To count pairs takes a fifth of a second for each path.
  const answers = await answersTo(text, text.startsWith('€') ? ['check'] : DRAWS)
  const errors = [{ path: '/message/text', message: BOUND }]
  expect(answers).toEqual(
    answers.map(([path]) => [path, segments === null ? 400 : 200, segments === null ? errors : segments]),
  )
})

test('the bound comes with all other issues', async () => {
  const body = { user_id: -1, message: { to, text: 'x'.repeat(40_000) }, country: 'DE' }
  const { body: problem } = await ask('check', body)
  expect(problem.errors.map(({ path }: { path: string }) => path)).toEqual(['/user_id', '/country', '/message/text'])
})

test('an answer lists at most ten issues of each operation and of each row', async () => {
  const unknown = Object.fromEntries(Array.from({ length: 40 }, (_, n) => [`unknown_${n}`, n]))
  const operations = [...SENDER_OPS.map(op => ({ op, ...unknown })), { op: 'unknown' }, 7]
  const { body } = await ask('batch', { operations })
  const counts = body.results.map((result: { body: { errors: unknown[] } }) => result.body.errors.length)
  expect(counts).toEqual([...SENDER_OPS.map(() => 10), 1, 1])

  const many = Array.from({ length: 100 }, () => ({ op: 'consume', ...unknown }))
  const large = await call('POST', '/api/sms/sender/quota/batch', { token: senderToken, body: { operations: many } })
  expect(JSON.stringify(large.body).length).toBeLessThan(6 * JSON.stringify({ operations: many }).length)

  const headers = { 'content-type': 'application/x-ndjson' }
  const rows = await call('POST', '/api/sms/admin/quota/import', { body: JSON.stringify(unknown), headers })
  const [failed] = String(rows.body).split('\n')
  expect(JSON.parse(failed ?? '').errors).toHaveLength(10)
})
