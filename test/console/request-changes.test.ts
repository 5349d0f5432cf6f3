import { expect, test } from 'vitest'
import { requestsOf } from '../../console/src/model/request-changes.ts'

const change = (actor: string, request_id: string | null, reason: string | null = null) => ({
  actor,
  request_id,
  reason,
})

test('changes that one request made are one entry, under the one with a reason', () => {
  const [created, adjusted, other] = [change('1', 'a'), change('1', 'a', 'More'), change('1', 'b')]
  expect(requestsOf([created, adjusted, other])).toEqual([
    { head: adjusted, others: [created] },
    { head: other, others: [] },
  ])
  const unknown = change('1', null)
  expect(requestsOf([unknown, { ...unknown }])).toHaveLength(2)
})

test("a change with another principal's request id stands beside its own author", () => {
  const [adjusted, suspended] = [change('support', 'a', 'More'), change('1', 'a')]
  expect(requestsOf([adjusted, suspended])).toEqual([
    { head: adjusted, others: [] },
    { head: suspended, others: [] },
  ])
})
