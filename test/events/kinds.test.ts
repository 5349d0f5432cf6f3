/** What the answers of Slack and Teams mean. */
import { expect, test } from 'vitest'
import { judgeSlack, judgeTeams } from '../../src/events/kinds.ts'

const failure = (code: number) =>
  `Webhook message delivery failed with error: Microsoft Teams endpoint returned HTTP error ${code} with ContextId tcid=0`

test.each([
  [200, 'ok', 'taken', 'failed'],
  [200, 'ok\n', 'taken', 'failed'],
  [200, '1', 'failed', 'taken'],
  [200, '0', 'failed', 'failed'],
  [200, '', 'failed', 'taken'],
  [202, '', 'failed', 'taken'],
  [204, '', 'failed', 'taken'],
  [200, '<!DOCTYPE html><title>Sign in</title>', 'failed', 'failed'],
  [200, '{"ok":false}', 'failed', 'failed'],
  [200, failure(429), 'failed', 'failed'],
  [200, failure(400), 'failed', 'failed'],
  [200, failure(413), 'failed', 'refused'],
  [413, '', 'failed', 'refused'],
  [200, 'invalid_payload', 'refused', 'failed'],
  [400, 'invalid_payload', 'refused', 'failed'],
  [400, 'no_text', 'refused', 'failed'],
  [404, 'channel_not_found', 'failed', 'failed'],
  [500, 'ok', 'failed', 'failed'],
  [302, '', 'failed', 'failed'],
])('%i %j: Slack %s, Teams %s', (status, text, slack, teams) => {
  const answer = { status, text, isWhole: true }
  expect([judgeSlack(answer), judgeTeams(answer)]).toEqual([slack, teams])
})

test.each(['ok', '', '1'])('%j of an answer that was cut off says nothing', text => {
  const answer = { status: 200, text, isWhole: false }
  expect([judgeSlack(answer), judgeTeams(answer)]).toEqual(['failed', 'failed'])
})
