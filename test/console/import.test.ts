import { readFile } from 'node:fs/promises'
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { expectAccessible, expectAccessibleInEachLayout, startSite } from '../support/browser.ts'
import { START } from '../support/service.ts'

const site = await startSite()
for (const user_id of [140, 141, 160, 161]) {
  const period = user_id % 2 === 0 ? 'month' : null
  const body = {
    user_id,
    name: 'Bundle',
    limit: 1_000,
    period,
    time_zone: 'Europe/Berlin',
  }
  expect((await site.call('POST', '/api/sms/admin/quota', { body })).status).toBe(201)
}

const search = '/api/sms/admin/quota/list?user_id='
const limits = async (user: number) =>
  (await site.call('GET', `${search}${user}&sort=id`)).body.items.map((quota: { limit: number }) => quota.limit)

/** The lines of the report that the page offers. */
async function downloadReport(page: Page, button = 'Download report'): Promise<string[]> {
  const download = page.waitForEvent('download')
  await page.getByRole('button', { name: button }).click()
  return (await readFile(await (await download).path(), 'utf8')).split('\n')
}

/** Chooses a file on the import page. */
async function choose(page: Page, name: string, text: string | Uint8Array): Promise<void> {
  await page.locator('input[type=file]').setInputFiles({ name, mimeType: 'text/csv', buffer: Buffer.from(text) })
}

test('a CSV file gives its users more units for this window, and names users without a grant', async () => {
  const page = await site.visit('/quotas', { now: START })
  await page.getByRole('link', { name: 'Import, give units (CSV)' }).click()
  await choose(page, 'customers.csv', 'customer\n140\n141\n999\nada\n140\n')
  await page.getByRole('heading', { name: 'More units for 3 users' }).waitFor()
  await page.getByRole('row', { name: 'Line 5 Not a user id: “ada”' }).waitFor()
  await page.getByRole('row', { name: 'Line 6 Is there twice: User 140' }).waitFor()
  await page.getByLabel('Units for each user').fill('500')
  await page.getByLabel('Reason').fill('Outage in March')
  await page.getByRole('button', { name: 'Preview (changes nothing)' }).click()
  await page.getByText(/^1 of 5 users gets 500 units each, until .+ \(.+\)\. Reason: Outage in March$/).waitFor()
  await page.getByRole('row', { name: /^140 Bundle 1,000 1,500/ }).waitFor()
  await page
    .getByRole('row', {
      name: 'Line 3: User 141 Has only a one-time grant (prepaid pack), which does not reset. “Bundle”',
    })
    .waitFor()
  await page.getByRole('row', { name: 'Line 4: User 999 Has no quota at all' }).waitFor()
  // Who is left out stands first, with what can be done for them.
  expect(await page.getByRole('table').first().getAttribute('aria-label')).toBe('Who is left out')
  await page.getByLabel('Also give units to 1 user with another grant: the one-time grant (prepaid pack)').waitFor()
  await page.getByText(/^The units last until .+ \(Europe\/Berlin\)\.$/).waitFor()
  await page.getByRole('button', { name: 'Give the units to 1 user' }).click()
  await page.getByText(/^1 user received 500 units each until .+ 0 failed, 4 left out\.$/).waitFor()
  const { items } = (await site.call('GET', `${search}140`)).body
  expect(items[0]).toMatchObject({
    limit: 500,
    name: 'Extra units for Bundle',
    expires_at: items[1].window_end,
    metadata: { extends_quota: String(items[1].id), reason: 'Outage in March' },
  })
  expect(await downloadReport(page)).toEqual([
    'line,user,result,why,grant,units,units end,time zone,result code,reference of the units',
    `2,140,received,,Bundle,500,2026-04-01T00:00:00+02:00,Europe/Berlin,received,${items[0].external_ref}`,
    expect.stringMatching(/^3,141,left out,"Has only a one-time grant/),
    expect.stringMatching(/^4,999,left out,"Has no quota at all, or/),
    '5,ada,left out,Not a user id: “ada”,,,,,left,',
    '6,140,left out,"Is there twice: User 140, as in line 2",,,,,left,',
    '',
  ])

  // Who is left out gets units with another choice. How long they last stands beside the button.
  const lasting =
    'The units last until 1 Apr 2026, 00:00 (Europe/Berlin). This is the end of the month in the time zone Europe/Berlin.'
  await page.getByText(lasting).waitFor()
  await expectAccessibleInEachLayout(page.getByRole('main'))
  await page.getByRole('button', { name: 'Preview for the 1 left out: the one-time grant (prepaid pack)' }).click()
  await page.getByRole('heading', { name: 'More units for 1 user' }).waitFor()
  await page
    .getByText('1 user gets 500 units each, until 1 Apr 2026, 00:00 (Europe/Berlin). Reason: Outage in March')
    .waitFor()
  await page.getByText(lasting).waitFor()
  await page.getByRole('button', { name: 'Give the units to 1 user' }).click()
  await page
    .getByText('2 users received 500 units each until 1 Apr 2026, 00:00 (Europe/Berlin). 0 failed, 3 left out.')
    .waitFor()
  expect(await limits(141)).toEqual([1_000, 500])
  const prepaid = (await site.call('GET', `${search}141`)).body.items
  expect(prepaid[0]).toMatchObject({ limit: 500, expires_at: items[0].expires_at })
  // The report is about the whole file.
  await page.getByRole('heading', { name: 'More units for 3 users' }).waitFor()
  const end = '2026-04-01T00:00:00+02:00,Europe/Berlin'
  expect(await downloadReport(page)).toEqual([
    expect.stringMatching(/^line,user,/),
    `2,140,received,,Bundle,500,${end},received,${items[0].external_ref}`,
    `3,141,received,,Bundle,500,${end},received,${prepaid[0].external_ref}`,
    expect.stringMatching(/^4,999,left out/),
    expect.stringMatching(/^5,ada,left out/),
    expect.stringMatching(/^6,140,left out/),
    '',
  ])
  await page.getByRole('button', { name: 'Back', exact: true }).click()
  expect(await page.getByLabel('Reason').inputValue()).toBe('Outage in March')
  expect(await page.getByLabel('Which grant of each user').inputValue()).toBe('once')
  await page.getByRole('button', { name: 'Back to all 3 users of the file' }).click()
  await page.getByRole('heading', { name: 'More units for 3 users' }).waitFor()
  expect(await page.getByLabel('Which grant of each user').inputValue()).toBe('month')
  expect(await page.getByLabel('This month only').isChecked()).toBe(true)

  // The same file gives nothing twice.
  await page.getByRole('button', { name: 'Choose another file' }).click()
  await choose(page, 'customers.csv', 'customer\n140\n141\n')
  await page.getByLabel('Units for each user').fill('500')
  await page.getByLabel('Reason').fill('Outage in March')
  await page.getByRole('button', { name: 'Preview (changes nothing)' }).click()
  await page.getByText('No user gets units.').waitFor()
  await page.getByRole('row', { name: 'Line 2: User 140 Got these units for this reason before.' }).waitFor()
  await page.getByRole('row', { name: 'Line 3: User 141 Got these units for this reason before.' }).waitFor()
  expect(await page.getByRole('checkbox').count()).toBe(0)
  expect(await limits(140)).toEqual([1_000, 500])
})

test('users who are left out get units in the same run, in German', async () => {
  const page = await site.visit('/quotas/import', { now: START, locale: 'de-DE' })
  await choose(page, 'kunden.csv', 'customer\n161\n160\n999\n')
  await page.getByLabel('Einheiten für jeden Benutzer').fill('500')
  await page.getByLabel('Ab jetzt').check()
  await page.getByLabel('Grund').fill('Ausfall')
  await page.getByRole('button', { name: 'Vorschau (ändert nichts)' }).click()
  await page.getByText('1 von 3 Benutzern bekommt je 500 Einheiten, ab jetzt dauerhaft.').waitFor()
  await page.getByText('2 Zeilen bleiben außen vor.').waitFor()
  await page
    .getByLabel('Auch 1 Benutzer mit einem anderen Paket Einheiten geben: Das einmalige Paket (Prepaid)')
    .check()
  await page.getByText('1 Zeile bleibt außen vor.').waitFor()
  await page
    .getByText(
      '2 von 3 Benutzern bekommen je 500 Einheiten (zusammen 1.000), teils ab jetzt dauerhaft, teils ohne Ende.',
    )
    .waitFor()
  await page.getByText('Die Einheiten enden nie: Sie gelten, bis sie verbraucht sind. Für 1 der Benutzer').waitFor()
  await expectAccessibleInEachLayout(page.getByRole('main'))
  await page.getByRole('button', { name: '2 Benutzern die Einheiten geben' }).click()
  await page
    .getByText('2 Benutzer haben je 500 Einheiten teils ab jetzt dauerhaft, teils ohne Ende bekommen.')
    .waitFor()
  await page.getByText('0 fehlgeschlagen, 1 außen vor.').waitFor()
  expect(await page.getByRole('button', { name: /^Vorschau für/ }).count()).toBe(0)
  expect(await limits(160)).toEqual([1_500])
  expect(await limits(161)).toEqual([1_000, 500])
  expect(await downloadReport(page, 'Bericht herunterladen')).toEqual([
    'Zeile,Benutzer,Ergebnis,Warum,Paket,Einheiten,Ende der Einheiten,Zeitzone,Ergebniscode,Referenz der Einheiten',
    expect.stringMatching(/^2,161,bekommen,,Bundle,500,nie,,received,top-up-/),
    '3,160,bekommen,,Bundle,500,nie (Limit erhöht),,received,',
    expect.stringMatching(/^4,999,außen vor,/),
    '',
  ])
})

test('the preview shows all users of a file, and when their units end', async () => {
  const users = Array.from({ length: 45 }, (_, index) => 400 + index)
  for (const user_id of users) {
    const expires_at = user_id < 430 ? `2027-01-${10 + (user_id % 10)}T00:00:00Z` : null
    const body = { user_id, name: 'Pack', limit: 1_000, expires_at }
    expect((await site.call('POST', '/api/sms/admin/quota', { body })).status).toBe(201)
  }
  const page = await site.visit('/quotas/import', { now: START })
  await choose(page, 'customers.csv', `customer\n${users.join('\n')}\n`)
  await page.getByLabel('Units for each user').fill('500')
  await page.getByLabel('Reason').fill('Excuse')
  await page.getByRole('button', { name: 'Preview (changes nothing)' }).click()
  const ends =
    'the first ends on 10 Jan 2027, 01:00, the last on 19 Jan 2027, 01:00 (Europe/Berlin). For 15 of the users they never end, because the grant does not.'
  await page.getByText('No user gets units.').waitFor()
  await page.getByLabel('Also give units to 45 users with another grant: the one-time grant').check()
  await page.getByText('This is the end of the month in the time zone UTC.').first().waitFor()
  await page.getByText(/^45 users get 500 units each \(22,500 in all\), until 1 Apr 2026, 02:00/).waitFor()
  await page.getByRole('button', { name: 'Back', exact: true }).click()
  await page.getByLabel('Which grant of each user').selectOption('The one-time grant (prepaid pack)')
  expect(await page.getByLabel('Until the end of this month').isChecked()).toBe(true)
  await expectAccessibleInEachLayout(page.getByRole('main'))
  await page.getByLabel('As long as the pack').check()
  await page.getByRole('button', { name: 'Preview (changes nothing)' }).click()
  await page.getByText(`The units last as long as each user’s grant: ${ends}`).waitFor()
  const report = await downloadReport(page)
  expect(report[1]).toMatch(/^2,400,would receive,,Pack,500,2027-01-10T00:00:00\+00:00,UTC,would,top-up-/)
  expect(report[45]).toMatch(/^46,444,would receive,,Pack,500,never,,would,top-up-/)
  const table = page.getByRole('table', { name: 'Who gets units: the first 20 of 45' })
  expect(await table.getByRole('row').count()).toBe(21)
  await page.getByRole('button', { name: 'Show 25 more' }).click()
  const all = page.getByRole('table', { name: 'Who gets units', exact: true })
  expect(await all.getByRole('rowheader').allTextContents()).toEqual(users.map(String))
})

test('a file that is given again for another reason asks first, and caps in the way are named', async () => {
  for (let user = 150; user < 155; user++) {
    const grant = { user_id: user, name: 'Bundle', limit: 1_000, period: 'year' }
    expect((await site.call('POST', '/api/sms/admin/quota', { body: grant })).status).toBe(201)
    const cap = { user_id: user, kind: 'cap', limit: 1_200, period: 'year' }
    expect((await site.call('POST', '/api/sms/admin/quota', { body: cap })).status).toBe(201)
  }
  const monthly = { name: 'Bundle', limit: 1_000, period: 'month' }
  for (const more of [
    { ...monthly, user_id: 180 },
    { ...monthly, user_id: 180, name: 'Second' },
    { ...monthly, user_id: 181 },
    { user_id: 181, kind: 'cap', period: 'month', limit: 20, opening_used: 20 },
    { ...monthly, user_id: 182, enabled: false },
  ])
    expect((await site.call('POST', '/api/sms/admin/quota', { body: more })).status).toBe(201)
  const page = await site.visit('/quotas/import', { now: START })
  await choose(page, 'customers.csv', 'customer\n180\n181\n182\n')
  await page.getByLabel('Units for each user').fill('500')
  await page.getByLabel('Reason').fill('Outage')
  await page.getByRole('button', { name: 'Preview (changes nothing)' }).click()
  await page.getByText('1 of 2 users has a cap that stops some of the units; for 1 of them they add nothing.').waitFor()
  const notes = page.getByRole('table', { name: 'Please note' }).locator('tbody').getByRole('row')
  expect(await notes.allTextContents()).toEqual([
    'Line 3: User 181A cap stops all of the units: they add nothing. Until the units end, a monthly cap of 20 units lets none pass, and 1,000 are there already. It is used up now.',
    'Line 2: User 180Has several fitting grants: the one that pays first gets the units. “Bundle”',
  ])
  const left = page.getByRole('table', { name: 'Who is left out' }).locator('tbody').getByRole('row')
  expect(await left.allTextContents()).toEqual([
    'Line 4: User 182The grant does not count now: Suspended. Resume the grant first. “Bundle”',
  ])
  await page.getByRole('button', { name: 'Choose another file' }).click()

  const preview = async (file: string, reason: string) => {
    await choose(page, 'customers.csv', file)
    await page.getByLabel('Units for each user').fill('500')
    await page.getByLabel('Which grant of each user').selectOption('The yearly grant')
    await page.getByLabel('This year only').check()
    await page.getByLabel('Reason').fill(reason)
    await page.getByRole('button', { name: 'Preview (changes nothing)' }).click()
  }
  await preview('customer\n150\n151\n152\n153\n', 'Outage')
  const capped = page.getByRole('row').filter({ hasText: 'A cap stops some of the units.' })
  await capped.getByText('4 entries').click()
  await capped.getByText('Line 3: User 151').waitFor()
  await expectAccessible(page.getByRole('table').filter({ has: capped }))
  await page.getByRole('button', { name: 'Give the units to 4 users' }).click()
  await page.getByText(/^4 users received 500 units each/).waitFor()
  await capped.waitFor()
  const [, ...rows] = await downloadReport(page)
  const why =
    '"A cap stops some of the units. Until the units end, a yearly cap of 1,200 units lets about 1,200 pass, and 1,000 are there already: at most about 200 of the 500 can be used."'
  expect(rows[0]).toContain(`2,150,received,${why},`)

  await page.getByRole('button', { name: 'Choose another file' }).click()
  await preview('customer\n150\n151\n152\n153\n154\n', 'Excuse')
  const warning = page.getByRole('alert')
  await warning.getByText(/^4 of these users already got units this year: 500 units on .+, for “Outage”\.$/).waitFor()
  await page.getByText(/^5 users get 500 units each \(2,500 in all\), .+ Reason: Excuse$/).waitFor()
  await page.getByText('First choose above what happens to those who already got units.').waitFor()
  await page.getByRole('row', { name: /^150 Bundle 1,500 2,000/ }).waitFor()
  expect(await page.getByRole('button', { name: 'Give the units to 5 users' }).isDisabled()).toBe(true)
  await expectAccessibleInEachLayout(warning)
  await warning.getByLabel('Give units to these 4 again').check()
  await page.getByText(/ 4 of them get units again\.$/).waitFor()
  expect(await page.getByRole('button', { name: 'Give the units to 5 users' }).isEnabled()).toBe(true)
  await warning.getByLabel('Leave these 4 out').check()
  await page.getByRole('row').filter({ hasText: '4 entriesAlready got units.' }).waitFor()
  await page.getByRole('table').nth(1).getByText('A cap stops some of the units.').waitFor()
  await page.getByRole('button', { name: 'Give the units to 1 user' }).click()
  await page.getByText(/^1 user received 500 units each .+ 0 failed, 4 left out\.$/).waitFor()
  expect(await limits(150)).toEqual([1_000, 1_200, 500])
  expect(await limits(154)).toEqual([1_000, 1_200, 500])
})

test('an import of units is undone for the users who have not used any, and can be given again', async () => {
  const users = [195, 196, 197]
  for (const user_id of users) {
    const body = { user_id, name: 'Bundle', limit: 1_000, period: 'month', rollover_limit: 100 }
    expect((await site.call('POST', '/api/sms/admin/quota', { body })).status).toBe(201)
  }
  const page = await site.visit('/quotas/import', { now: START })
  await choose(page, 'customers.csv', `customer\n${users.join('\n')}\n`)
  await page.getByLabel('Units for each user').fill('500')
  await page.getByLabel('Reason').fill('Outage')
  await page.getByRole('button', { name: 'Preview (changes nothing)' }).click()
  await page.getByRole('button', { name: 'Give the units to 3 users' }).click()
  await page.getByText(/^3 users received 500 units each/).waitFor()
  expect(await limits(195)).toEqual([1_000, 500])
  const used = { user_id: 196, id: 'undo-1', units: 7 }
  await site.call('POST', '/api/sms/sender/quota/consume', { token: site.senderToken, body: used })

  await page.getByRole('button', { name: 'Undo this import' }).click()
  await page.getByRole('row', { name: 'Line 3: User 196 Units of it are used or reserved: 7 of 500' }).waitFor()
  const panel = page.getByRole('region', { name: 'Undo this import' })
  await panel.getByText('2 quotas would be deleted. This cannot be undone.').waitFor()
  await expectAccessibleInEachLayout(panel)
  const confirm = panel.getByRole('button', { name: 'Delete 2 quotas' })
  expect(await confirm.isDisabled()).toBe(true)
  await panel.getByLabel('Type 2 to confirm').fill('2')
  await confirm.click()
  await panel.getByText('2 of 2 · 2 changed · 0 unchanged · 0 failed').waitFor()
  expect(await Promise.all(users.map(limits))).toEqual([[1_000], [1_000, 500], [1_000]])
  await panel.getByRole('button', { name: 'Close' }).click()
  await page.getByRole('button', { name: 'Undo this import' }).click()
  await page.getByText('No grant of this import is left that could be deleted.').waitFor()

  // Users whose grants were deleted can get the same units again.
  await page.getByRole('button', { name: 'Back', exact: true }).click()
  await page.getByRole('button', { name: 'Preview (changes nothing)' }).click()
  await page.getByRole('button', { name: 'Give the units to 2 users' }).click()
  await page.getByText(/^2 users received 500 units each .+ 0 failed, 1 left out\.$/).waitFor()
  expect(await Promise.all(users.map(limits))).toEqual([
    [1_000, 500],
    [1_000, 500],
    [1_000, 500],
  ])
})

const WOULD_CREATE_TWO = '2 of 2 · 2 would be created · 0 would be updated · 0 unchanged · 0 failed'

test('a CSV file is checked by line and column, imported, exported again, and then changes nothing', async () => {
  const slots = [{ slot: 'monthly', limit: 5, period: 'month' }]
  await site.call('POST', '/api/sms/admin/plans', { body: { name: 'Of a file', slots } })
  const page = await site.visit('/quotas/import')
  await page.getByText('Columns of quotas, with examples').click()
  await page.getByRole('row', { name: 'alert_at 80 100 Percents of use' }).waitFor()
  await expectAccessibleInEachLayout(page.getByRole('main'))
  await choose(page, 'template.csv', (await downloadReport(page, 'Download a template')).join('\n'))
  await page.getByText(WOULD_CREATE_TWO).waitFor()
  await page.getByRole('button', { name: 'Choose another file' }).click()
  await choose(
    page,
    'quotas.csv',
    '\uFEFFuser_id;external_ref;limit;period\r\n200;N-1;1000;month\r\n201;"N;2";many;monthly\r\n',
  )
  await page.getByText('2 of 2 · 1 would be created · 0 would be updated · 0 unchanged · 1 failed').waitFor()
  await page.getByRole('row', { name: 'Line 3, column limit' }).waitFor()
  await page.getByRole('row', { name: 'Line 3, column period must be one of ' }).waitFor()
  expect(await limits(200)).toEqual([])
  await page.getByRole('button', { name: 'Import the other 1' }).click()
  await page.getByText('Done.').waitFor()
  expect(await limits(200)).toEqual([1_000])

  await page.goto(`${site.url}/console/quotas?user_id=200`)
  const download = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Export CSV' }).click()
  const exported = await readFile(await (await download).path(), 'utf8')
  expect(exported.split('\n')).toHaveLength(3)
  await page.getByText('1 quota exported.').waitFor()
  await page.getByRole('link', { name: 'Import, give units (CSV)' }).click()
  await choose(page, 'exported.csv', exported)
  await page.getByText('All quotas already are as the file says.').waitFor()

  const choosePlans = async () => {
    await page.getByRole('button', { name: 'Choose another file' }).click()
    await choose(page, 'plans.csv', 'user_id,plan\n202,Of a file\n203,Of a file\n')
  }
  await choosePlans()
  await page.getByRole('button', { name: 'Give plans to 2 users' }).click()
  await page.getByText('Done.').waitFor()
  await choosePlans()
  await page.getByText('All users already have these plans.').waitFor()

  // A list of ids alone can get a plan, too.
  await page.getByRole('button', { name: 'Choose another file' }).click()
  await choose(page, 'ids.csv', '203\n204\n')
  await page.getByRole('button', { name: 'Give a plan' }).click()
  await page.getByLabel('Plan').selectOption('Of a file, version 1')
  await expectAccessibleInEachLayout(page.getByRole('main'))
  await page.getByRole('button', { name: 'Check (changes nothing)' }).click()
  // While it runs, nothing is offered that would take its place.
  const answer = Promise.withResolvers<void>()
  await page.route('**/admin/quota/import*', async route => {
    await answer.promise
    await route.continue()
  })
  await page.getByRole('button', { name: 'Give a plan to 1 user' }).click()
  for (const other of ['Give units', 'Back', 'Choose another file'])
    await expect.poll(() => page.getByRole('button', { name: other }).isDisabled()).toBe(true)
  answer.resolve()
  await page.getByText('Done.').waitFor()
  expect(await page.getByRole('button', { name: 'Give units' }).isEnabled()).toBe(true)
  expect(await limits(204)).toEqual([5])

  await page.getByRole('button', { name: 'Choose another file' }).click()
  await choose(page, 'wrong.csv', 'a,"b\n')
  await page.getByRole('alert').filter({ hasText: 'Line 1: a quotation mark is not closed.' }).waitFor()
  const cp1252 =
    'USER_ID;external_ref;limit;name;\r\n210;a;5;M\xfcller;\r\n211;a;5;M\xf6ller;\r\n210;a;6;M\xfcller;\r\n212;#N/A;5;;\r\n'
  await choose(page, 'latin.csv', Buffer.from(cp1252, 'latin1'))
  await page.getByRole('alert').filter({ hasText: 'Line 2 is not UTF-8. Save the file as “CSV UTF-8”' }).waitFor()
  await expectAccessible(page.getByRole('main'))
  await page.getByLabel('Saved as').selectOption('windows-1252')
  await page.getByText(WOULD_CREATE_TWO).waitFor()
  await page
    .getByRole('row', {
      name: 'Line 4 It is about the same quota, or the plan of the same user, as an earlier line: line 2.',
    })
    .waitFor()
  const lost = 'Line 5, column external_ref It is what a spreadsheet shows in place of a value: #N/A'
  await page.getByRole('row', { name: lost }).waitFor()
  await page.getByRole('button', { name: 'Import the other 2' }).click()
  await page.getByText('Done.').waitFor()
  const { items } = (await site.call('GET', `${search}211`)).body
  expect(items).toMatchObject([{ name: 'Möller', limit: 5 }])

  await page.getByRole('button', { name: 'Choose another file' }).click()
  const spoiled = Array.from({ length: 9 }, (_, n) => `22${n};a;1.${n}00;;`).join('\n')
  await choose(
    page,
    'spoiled.csv',
    `user_id;external_ref;limit;enabled;expires_at\n${spoiled}\n230;a;5;maybe;2027-12-31\n`,
  )
  const first = '9 entries: Line 2, column limit; Line 3, column limit; Line 4, column limit; …'
  const rule = 'Column limit: must be a whole number from 0 to 1000000000000, or null'
  await page
    .getByRole('row')
    .filter({ hasText: first + rule })
    .waitFor()
  await page.getByRole('row', { name: 'Line 11, column enabled must be true or false, not "maybe"' }).waitFor()

  await page.getByRole('button', { name: 'Choose another file' }).click()
  await choose(page, 'broken.csv', 'a,b\n1,"2"3\n')
  await page.getByRole('alert').filter({ hasText: 'Line 2: text follows the quotation mark' }).waitFor()
  await choose(page, 'unicode.txt', Buffer.from('\uFEFFcustomer\tunits\r\n140\t7\r\n', 'utf16le'))
  await page.getByRole('heading', { name: 'More units for 1 user' }).waitFor()
  await page.getByText('The file says how many units each user gets.').waitFor()

  await page.getByRole('button', { name: 'Choose another file' }).click()
  await choose(page, 'other.csv', 'name,colour\nA,red\n')
  await page
    .getByRole('alert')
    .filter({ hasText: 'Each line needs user_id, external_ref and limit, or user_id and the id of a quota or a plan.' })
    .waitFor()
})
