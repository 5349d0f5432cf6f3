import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { expectAccessibleInEachLayout, goTo, reopen, sentIn, startSite } from '../support/browser.ts'
import { expectNoHorizontalScroll } from '../support/horizontal-scroll.ts'

const site = await startSite()
const token = await site.userToken(7)
const grant = { user_id: 7, limit: 10, name: 'Ten' }
expect((await site.call('POST', '/api/sms/admin/quota', { body: grant })).status).toBe(201)

const TEXT = 'It’s due – 24,90 € [all in] ❤️'

/** @param load whether the console is loaded, as it may have all its files from another test */
async function open(load = false): Promise<Page> {
  const page = await site.visit('/cost', { token, load })
  await page.getByText('10 units: enough for 10 of these messages.').waitFor()
  return page
}

/** Waits until the page shows what is expected. */
const soon = <T>(read: () => Promise<T>) => expect.poll(read)
const fact = (page: Page, name: string, value: string | RegExp) =>
  page.locator('dl > div').filter({ hasText: name }).filter({ hasText: value }).waitFor()

test('counts a message like the service, by keyboard, and sends neither number nor text', async () => {
  const page = await open(true)
  const requests: string[] = []
  page.on('request', request => requests.push(sentIn(request)))
  await page.getByLabel('Number').focus()
  await page.keyboard.type('+49 151 12345678')
  await page.keyboard.press('Tab')
  await page.keyboard.type(TEXT)
  await page.keyboard.insertText(TEXT.repeat(4))
  await fact(page, 'Country', 'Germany (DE)')

  const message = { to: '+4915112345678', text: TEXT.repeat(5) }
  const body = { user_id: 7, message }
  const { body: asked } = await site.call('POST', '/api/sms/sender/quota/check', { body, token: site.senderToken })
  expect([asked.units, asked.encoding, asked.country]).toEqual([3, 'UCS-2', 'DE'])
  await fact(page, 'Segments', /3$/)
  await fact(page, 'Encoding', 'UCS-2')
  await fact(page, 'Characters used', String(message.text.length))
  await page.getByText('10 units: enough for 3 of these messages.').waitFor()
  await page.getByRole('status').filter({ hasText: '3 units, UCS-2' }).waitFor()

  expect(requests.filter(request => /due|24,90|151/.test(decodeURIComponent(request)))).toEqual([])
  expect(requests.filter(request => request.includes('destination'))).toHaveLength(1)
  expect(page.url()).toBe(`${site.url}/console/cost`)
})

test('lists the characters that force UCS-2, and replaces them', async () => {
  const page = await open()
  await page.getByLabel('Text').fill('It’s on its way… – it’s 5 € [all in]')
  const kinds = page.getByRole('region', { name: 'Characters that force UCS-2' }).getByRole('listitem')
  const rows = async () => (await kinds.allInnerTexts()).map(text => text.split(/\s+/).join(' ').trim())
  await soon(rows).toEqual([
    "’ Right single quotation mark U+2019 · 2 times → '",
    '… Ellipsis U+2026 → ...',
    '– En dash U+2013 → -',
  ])
  const marks = page.getByRole('region', { name: 'Segments' }).locator('mark')
  await soon(() => marks.allInnerTexts()).toEqual(['’', '…', '–', '’'])
  await page.getByText('still takes 1 unit, but uses GSM-7').waitFor()
  await page.getByRole('button', { name: 'Replace characters' }).click()
  await soon(() => page.getByLabel('Text').inputValue()).toBe("It's on its way... - it's 5 € [all in]")
  await fact(page, 'Encoding', 'GSM-7')
  await page.getByRole('region', { name: 'Characters that count double' }).waitFor()
  await soon(() => marks.allInnerTexts()).toEqual(['€', '[', ']'])
  expect(await page.getByRole('button', { name: 'Replace characters' }).count()).toBe(0)
  // 38 characters, three of which count double.
  await fact(page, 'Characters used', /41$/)
  await fact(page, 'Free in the last segment', /119/)
})

test('validates a number like the service', async () => {
  const page = await open()
  const number = page.getByLabel('Number')
  await number.fill(`+${'9'.repeat(10_000)}`)
  await page.getByRole('alert').filter({ hasText: 'up to 15 digits' }).waitFor()
  for (const [typed, country] of [
    ['+43 (664) 123-4567', 'Austria (AT)'],
    ['+883510000000001', 'International networks (001)'],
    ['+999123456789', 'Unknown country'],
  ] as const) {
    await number.fill(typed)
    await fact(page, 'Country', country)
  }
})

test('shows the available units of a user without quotas, and of a user with unlimited units', async () => {
  const page = await site.visit('/cost', { token: await site.userToken(8) })
  await page.getByText('0 units: not enough for this message.').waitFor()
  const body = { user_id: 9, limit: null, countries: null }
  expect((await site.call('POST', '/api/sms/admin/quota', { body })).status).toBe(201)
  const scoped = { user_id: 9, limit: 5, countries: ['DE'] }
  expect((await site.call('POST', '/api/sms/admin/quota', { body: scoped })).status).toBe(201)
  await goTo(page, '/cost', await site.userToken(9))
  await page.getByText('Unlimited units').waitFor()
  await page.getByText('For some countries or message types it can differ.').waitFor()

  // A cap for a country is known as soon as the number is.
  const cap = { user_id: 9, kind: 'cap', limit: 0, countries: ['NG'], expires_at: '2026-03-16T12:00:00Z' }
  expect((await site.call('POST', '/api/sms/admin/quota', { body: cap })).status).toBe(201)
  await reopen(page)
  await page.getByLabel('Number').fill('+234 803 123 4567')
  await page
    .getByText(/^0 units: not enough for this message\. You can send again from 16 Mar 2026, 13:00 \(Europe\/Berlin\)/)
    .waitFor()
})

const HOSTILE = {
  script: '<script>alert(1)</script><img src=x onerror=alert(1)>',
  long: 'x'.repeat(2_000),
  scripts: 'שלום עולם مرحبا بالعالم \u202eabc\u202c 😀👩‍👩‍👧‍👦🏴󠁧󠁢󠁥󠁮󠁧󠁿 \u0000\ud83d ',
  accents: `a${'\u0301'.repeat(700)}`,
}

test('shows hostile text as text, accessible and without horizontal scrolling', async () => {
  const page = await open()
  for (const text of [HOSTILE.long, Object.values(HOSTILE).join('\n')]) {
    await page.getByLabel('Text').fill(text)
    await page.locator('aside[aria-busy=false]').waitFor()
    const shown = page.getByRole('region', { name: 'Segments' }).getByRole('listitem').first()
    await shown.filter({ hasText: text.slice(0, 15) }).waitFor()
    for (const width of [360, 1280]) {
      await page.setViewportSize({ width, height: 800 })
      await expectNoHorizontalScroll(page)
    }
  }
  await page.getByRole('button', { name: 'Show' }).last().click()
  await expectAccessibleInEachLayout(page.getByRole('main'))
})

test('10,000 characters with many costly ones do not block typing', async () => {
  const page = await open()
  const field = page.getByLabel('Text')
  await field.fill('aя'.repeat(5_000))
  await fact(page, 'Segments', '150')
  await field.focus()
  await page.keyboard.type('more')
  await fact(page, 'Characters used', '10,004')
})

test('says that a text is longer than a message may be', async () => {
  const page = await open()
  await page.getByLabel('Text').fill('я'.repeat(17_085))
  await fact(page, 'Segments', /255$/)
  expect(await page.getByRole('alert').count()).toBe(0)
  await page.getByLabel('Text').fill('я'.repeat(17_086))
  await page.getByRole('alert').filter({ hasText: 'at most 255 segments' }).waitFor()
})
