/** The breaker in the console: its settings, and what they would have paused. */
import { expect, test } from 'vitest'
import { writeWatchedUsers } from '../../src/db/breaker/settings.ts'
import { sql } from '../../src/db/connection/sql.ts'
import { shardOf } from '../../src/domain/basics/shard.ts'
import { usageBucketOf } from '../../src/domain/units/usage.ts'
import { expectAccessibleInEachLayout, goTo, startSite } from '../support/browser.ts'

const site = await startSite()
const { call, clock, db } = site
const QUARTER_MS = 900_000
const BREAKER = '/api/sms/admin/breaker'

/** Codes that users sent to France in a quarter of an hour, and how many were entered. @param before how many before the current one */
async function send(users: readonly number[], before: number, sent: number, verified: number) {
  await db.query({
    text: sql`insert into usage (shard, user_id, bucket, quota_id, country, message_type, committed, committed_messages, refunded,
             refunded_messages, denied, denied_messages, verified_messages)
           select s, u, $3, null, 'FR', 'otp', $4, $4, 0, 0, 0, 0, $5 from unnest($1::smallint[], $2::bigint[]) as t (s, u)`,
    values: [
      users.map(shardOf),
      users,
      new Date(usageBucketOf(clock.now) - before * QUARTER_MS).toISOString(),
      sent,
      verified,
    ],
  })
}

test('an administrator replays the past with other settings, switches the breaker on, and meets a conflict', async () => {
  await send([61], 40, 100, 10)
  await send([61], 39, 60, 5)
  // More than one call reads.
  await send(
    Array.from({ length: 600 }, (_, index) => 1_000 + index),
    40,
    1,
    1,
  )
  await call('PUT', '/api/sms/admin/users/7/profile', { body: { name: 'Ann' } })
  await writeWatchedUsers(db, {
    with_feedback: 3,
    without_feedback: 1,
    examples: [{ user_id: 7, messages: 120 }],
  })
  const page = await site.visit('/pauses', { now: clock.now })
  await page.getByRole('navigation', { name: 'Rules' }).getByRole('link', { name: 'Breaker' }).click()
  await page.getByText('3 had feedback in the last 24 hours, and 1 had none').waitFor()
  await page.getByRole('link', { name: 'Ann (7)' }).waitFor()

  const hour = page.getByRole('textbox', { name: 'In an hour' })
  await page.getByText('By default 15.').waitFor()
  await hour.fill('0')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('A whole number from 1 to 1,000,000.').waitFor()
  await hour.fill('20')
  let goOn = () => {}
  const held = new Promise<void>(resolve => {
    goOn = resolve
  })
  await page.route(/breaker\/replay\?.*cursor=/, async route => {
    await held
    await route.continue()
  })
  await page.getByRole('button', { name: 'Replay', exact: true }).click()
  await page
    .getByText(/^[1-9]\d% of the users read$/)
    .first()
    .waitFor()
  await page.getByRole('button', { name: 'Stop' }).click()
  await page.getByText('Stopped before the end').waitFor()
  goOn()
  await page.getByRole('button', { name: 'Continue' }).click()
  await page
    .getByText('Would have paused 1 destination, and stopped 60 messages. 5 of them were entered: people who would')
    .waitFor()
  await page
    .getByRole('table', { name: 'Pauses of the replay' })
    .getByRole('row')
    .filter({ hasText: 'France (FR)' })
    .waitFor()

  await page.getByRole('radio', { name: 'Enforce' }).check()
  await page.getByText('Once this is saved, messages are denied.').waitFor()
  await page.getByText('The settings have changed since this replay.').waitFor()
  await page.getByRole('combobox', { name: 'Users who always pass' }).fill('ann')
  await page.getByRole('option', { name: 'Ann (7)' }).and(page.locator('[data-combobox-selected]')).waitFor()
  await page.keyboard.press('Enter')
  await expectAccessibleInEachLayout(page.getByRole('region', { name: 'What would it have paused?' }))

  await call('PUT', BREAKER, { body: { budgets: { hour: 30 }, pass_countries: ['DE'] } })
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Saved meanwhile: 30. Saving replaces it.').waitFor()
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Saved. It holds within seconds.').waitFor()
  expect((await call('GET', BREAKER)).body).toMatchObject({
    mode: 'enforce',
    budgets: { day: 40, hour: 20, flight: 25, share: 0.3 },
    pass_countries: ['DE'],
    pass_users: [7],
  })

  // Who may not change it reads it.
  const support = await site.token({ sub: 'bob', roles: ['sms-quota:support'] })
  await writeWatchedUsers(db, { with_feedback: 0, without_feedback: 4, examples: [] })
  await goTo(page, '/pauses/breaker', support)
  await page.getByText('No user gives feedback, so nothing would be paused').waitFor()
  await page.getByText('Enforce. Destinations over their budget are paused').waitFor()
  await page.getByRole('link', { name: 'Ann (7)' }).waitFor()
  expect(await page.getByRole('button', { name: 'Save' }).count()).toBe(0)
  await page.getByRole('button', { name: 'Replay', exact: true }).click()
  await page.getByText(/^Would have paused 1 destination/).waitFor()
})
