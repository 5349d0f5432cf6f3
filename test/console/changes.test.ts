/** Administrators' changes over all users. */
import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { sql } from '../../src/db/connection/sql.ts'
import { DAY_MS } from '../../src/domain/time/time.ts'
import { expectAccessibleInEachLayout, goTo, startSite } from '../support/browser.ts'

const site = await startSite()
const { clock } = site
const ann = await site.token({ sub: 'ann', name: 'Ann Lee', roles: ['sms-quota:admin'] })
const ben = await site.token({ sub: 'ben', roles: ['sms-quota:admin'] })

/** Makes one change after the other, a minute apart. */
async function change(token: string, method: string, path: string, body: object, id: string) {
  clock.now += 60_000
  const headers = { 'x-request-id': id }
  const answer = await site.call(method, `/api/sms/admin${path}`, { token, body, headers })
  expect(answer.status, JSON.stringify(answer.body)).toBeLessThan(300)
  return answer.body
}

test('an auditor finds who raised limits last week, by how much and why, and takes the list along', async () => {
  // A Sunday, and then the Wednesday after it.
  const quota = await change(ben, 'POST', '/quota', { user_id: 7, name: 'Package', limit: 100 }, 'made')
  await change(ann, 'POST', `/quota/${quota.id}/adjust`, { delta: 500, reason: 'Trade fair' }, 'raised')
  const metadata = { extends_quota: String(quota.id), reason: 'Outage of Friday' }
  const extra = await change(ben, 'POST', '/quota', { user_id: 7, name: 'Extra', limit: 20, metadata }, 'extra')
  await change(ann, 'PUT', `/quota/${quota.id}`, { limit: 550 }, 'lowered')
  await change(ann, 'POST', '/pauses', { user_id: null, country: 'NG', reason: 'Pumped codes' }, 'paused')
  await change(ann, 'POST', '/webhooks', { url: 'https://example.com/', description: 'Billing' }, 'hook')
  await change(ann, 'PUT', '/users/7/profile', { name: 'Acme' }, 'named')
  clock.now += 3 * DAY_MS
  await change(ann, 'POST', `/quota/${quota.id}/adjust`, { delta: 1_000, reason: 'This week' }, 'later')

  const token = await site.token({ sub: 'audit', roles: ['sms-quota:auditor'] })
  const page = await site.visit('/overview', { token, now: clock.now })
  await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Changes' }).click()
  const table = page.getByRole('table', { name: 'Changes' })
  const rows = async () => {
    await page.locator('table[aria-busy=false]').waitFor()
    return (await table.getByRole('row').allTextContents()).slice(1)
  }
  await table.getByText('This week').waitFor()
  expect(await rows()).toEqual([
    expect.stringMatching(/^PackageAcme \(7\)Changed · Version 4Limit 550 units → 1,550 units\+1,000This week/),
    expect.stringMatching(/^ProfileAcme \(7\)Name – → Acme––/),
    expect.stringMatching(/^Webhook “Billing”–Created––/),
    expect.stringMatching(/^Paused: Nigeria \(NG\)–Created, until it is lifted–Pumped codes/),
    expect.stringMatching(/^PackageAcme \(7\)Changed · Version 3Limit 600 units → 550 units-50–/),
    expect.stringMatching(/^ExtraAcme \(7\)Created: 20 units · Version 1\+20Outage of Friday/),
    expect.stringMatching(
      /^PackageAcme \(7\)Changed · Version 2Limit 100 units → 600 units\+500Trade fair.+Ann Lee.+ann/,
    ),
    expect.stringMatching(/^PackageAcme \(7\)Created: 100 units · Version 1\+100–/),
  ])

  // More changes than a call of the service looks at lie before those that are looked for.
  await site.db.query({
    text: sql`insert into quota_change (shard, quota_id, version, action, at, actor, request_id, before, after)
           select n % 64, 1000000 * 64 + n, 1, 'created', $1, 'import', 'import', null, jsonb_build_object('user_id', 7)
           from generate_series(1, 6000) n`,
    values: [new Date(clock.now - 3 * DAY_MS).toISOString()],
  })
  await page.getByLabel('Kind').selectOption('Limits raised')
  await page.getByLabel('Time').selectOption('Last week')
  await page.waitForURL(url => url.searchParams.get('from') === '2026-03-08T23:00:00.000Z')
  await expect
    .poll(rows)
    .toEqual([/^Extra/, /^Package.+\+500Trade fair/, /^Package.+Created.+\+100/].map(row => expect.stringMatching(row)))
  await expectAccessibleInEachLayout(page)

  const download = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Export CSV' }).click()
  await page.getByText('3 changes exported.').waitFor()
  expect((await readFile(await (await download).path(), 'utf8')).split('\n').slice(1)).toEqual([
    `2026-03-15T12:03:00.000Z,ben,,quota,${extra.id},Extra,7,,Acme,created,,20,20,Outage of Friday,,extra,,`,
    `2026-03-15T12:02:00.000Z,ann,Ann Lee,quota,${quota.id},Package,7,,Acme,updated,100,600,500,Trade fair,limit,raised,,`,
    `2026-03-15T12:01:00.000Z,ben,,quota,${quota.id},Package,7,,Acme,created,,100,100,,,made,,`,
    '',
  ])

  // The address has the filters.
  await goTo(page, new URL(page.url()).pathname.replace('/console', '') + new URL(page.url()).search)
  expect(await page.getByLabel('Time').inputValue()).toBe('lastWeek')
  await page.getByLabel('By').fill('ann')
  await expect.poll(rows).toEqual([expect.stringMatching(/^Package.+\+500Trade fair/)])
  await goTo(page, '/changes?raised=maybe')
  await page.getByText('The address has a filter that does not exist: raised=maybe').waitFor()
  await goTo(page, '/changes', await site.token({ sub: 'help', roles: ['sms-quota:support'] }))
  await table.getByText('This week').waitFor()
  expect(await page.getByRole('button', { name: 'Export CSV' }).count()).toBe(0)
})
