/** The commands `rates …`, against a service that listens. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import type { Terminal } from '../../src/cli/terminal.ts'
import { startService } from '../support/service.ts'
import { run } from '../support/terminal.ts'

const service = await startService()
const url = await service.app.listen({ port: 0, host: '127.0.0.1' })
const folder = await mkdtemp(join(tmpdir(), 'sms-quota rates '))
afterAll(async () => {
  await service.app.close()
  await rm(folder, { recursive: true })
})
const env = { SMS_QUOTA_URL: url, SMS_QUOTA_TOKEN: service.adminToken }
const CARDS = '/api/sms/admin/rate-cards'

const rates = (words: readonly string[], options: Partial<Terminal> = {}) =>
  run(['rates', ...words], { env, now: () => service.clock.now, ...options })

const file = join(folder, 'prices.csv')
async function importing(text: string | Uint8Array, words: readonly string[], options: Partial<Terminal> = {}) {
  await writeFile(file, text)
  return rates(['import', file, ...words], options)
}
let last = 0
/** The card of the name, which is new, and what it charges. */
const fresh = () => `Card ${++last}`
const linesOf = async (card: string) => (await rates(['export', card])).stdout.split('\n').slice(1, -1)

const BASIC = 'prefix,country,message_type,per_segment,per_message\n,,,400,0\n49,,,75,10\n49,,otp,50,0\n,FR,,90,0\n'

test('a file makes a card and changes its prices, and the same file again changes nothing', async () => {
  const card = fresh()
  const shown = [
    `New rate card ${card}: new 4, gone 0, dearer 0, cheaper 0`,
    'destination       message_type  change  units a segment',
    'all destinations  -             new     - → 400',
    'FR                -             new     - → 90',
    '49                -             new     - → 75 + 10 a message',
    '49                otp           new     - → 50\n',
  ].join('\n')
  const words = ['--card', card]
  expect(await importing(BASIC, [...words, '--dry-run'])).toEqual({
    code: 0,
    stdout: `${shown}(dry run: nothing was changed)\n`,
    stderr: '',
  })
  expect((await rates(['get', card])).stderr).toContain(`no rate card has the name ${card}`)
  const made = await importing(BASIC, [...words, '--yes'])
  const id = /^Rate card (\d+) is created\.$/m.exec(made.stdout)?.[1] ?? ''
  expect(made).toMatchObject({ code: 0, stdout: `${shown}Rate card ${id} is created.\n` })
  expect(made.stderr).toContain(`sms-quota user update USER --rate-card-id ${id}`)
  const same = { code: 0, stdout: `Rate card ${id}, ${card}, has these prices.\n`, stderr: '' }
  for (const more of ['--yes', '--dry-run']) expect(await importing(BASIC, [...words, more])).toEqual(same)

  const changed = BASIC.replace('400', '500').replace('90,0', '80,0').replace('49,,otp,50', '33,,,60')
  const questions: string[] = []
  const answering = (answer: string) => ({
    async ask(question: string) {
      questions.push(question)
      return answer
    },
  })
  const difference = [
    `Rate card ${id}, ${card}: new 1, gone 1, dearer 1, cheaper 1`,
    'destination       message_type  change   units a segment',
    'all destinations  -             dearer   400 → 500',
    '33                -             new      - → 60',
    '49                otp           gone     50 → -',
    'FR                -             cheaper  90 → 80\n',
  ].join('\n')
  const no = await importing(changed, words, answering('n'))
  expect(no).toEqual({ code: 1, stdout: difference, stderr: 'Nothing was changed.\n' })
  const yes = await importing(changed, ['--card', id], answering('y'))
  expect(yes.stdout).toBe(`${difference}Rate card ${id} is changed. It has version 2.\n`)
  expect(questions).toEqual(Array(2).fill(`Change the prices of rate card ${id}, ${card}? [y/N] `))
  expect(await linesOf(card)).toEqual([',,,500,0', '49,,,75,10', '33,,,60,0', ',FR,,80,0'])
})

test('what export writes, import reads back', async () => {
  const [one, two] = [fresh(), fresh()]
  const wide = Array.from({ length: 450 }, (_, n) => `${1000 + n},,,${n + 1},0\n`).join('')
  await importing(BASIC + wide, ['--card', one, '--yes'])
  const { stdout, code } = await rates(['export', one])
  expect([code, stdout.split('\n').length]).toEqual([0, 456])
  await importing(stdout, ['--card', two, '--yes'])
  expect((await rates(['export', two])).stdout).toBe(stdout)
  const json = await rates(['export', one, '--prefix', '49', '--json'])
  expect(
    json.stdout
      .split('\n')
      .filter(Boolean)
      .map(line => JSON.parse(line).per_segment),
  ).toEqual([75, 50])
  expect(await importing(stdout, ['--card', one, '--yes'])).toMatchObject({
    stdout: expect.stringContaining('has these prices'),
  })
})

describe('files that providers and spreadsheets write', () => {
  const price = ['--price', 'price', '--scale', '10000']
  test.each<[string, string | Uint8Array, string[], string[]]>([
    ['semicolons and decimal commas', 'prefix;price\n49;0,0075\n;0,04\n', price, [',,,400,0', '49,,,75,0']],
    [
      'plus, 00 and blanks',
      'Prefix, PRICE \n+49 ,0.0075\n0033,.01\n*,0.04\n',
      price,
      [',,,400,0', '33,,,100,0', '49,,,75,0'],
    ],
    [
      'ranges',
      'prefix,price\n49151-49153,0.01\n+44 7-+448,0.02\n*,1\n'.replace('+44 7-+448', '447-448'),
      price,
      [',,,10000,0', '447,,,200,0', '448,,,200,0', '49151,,,100,0', '49152,,,100,0', '49153,,,100,0'],
    ],
    [
      'several in a cell',
      'prefix,price\n"49; 43,41 33",0.01\nROW,0.04\n',
      price,
      [',,,400,0', '33,,,100,0', '41,,,100,0', '43,,,100,0', '49,,,100,0'],
    ],
    [
      'names of countries beside prefixes',
      'Country;prefix;price\nGermany;49;0.01\nRest of world;;0.04\n',
      price,
      [',,,400,0', '49,,,100,0'],
    ],
    [
      'countries by their codes',
      'ISO\tprice\nde\t0.01\nRest of the World\t0.04\n',
      [...price, '--country', 'ISO'],
      [',,,400,0', ',DE,,100,0'],
    ],
    [
      'a price for each message',
      'prefix,price,fee,kind\n49,0.0075,0.001,otp\n,0.04,,\n',
      [...price, '--per-message', 'fee', '--type', 'kind'],
      [',,,400,0', '49,,otp,75,10'],
    ],
    [
      'a mark, blank lines and CRLF',
      '\uFEFFsep=;\r\nprefix;price\r\n\r\n49;0.0075\r\n;;\r\n',
      [...price, '--rest', '400'],
      [',,,400,0', '49,,,75,0'],
    ],
    ['texts that a spreadsheet keeps', 'prefix,price\n"=""0049""",0.0075\n*,0.29\n', price, [',,,2900,0', '49,,,75,0']],
    [
      'Latin 1',
      Buffer.from('Präfix;Preis\n49;0,5\n*;1\n', 'latin1'),
      ['--encoding', 'windows-1252', '--prefix', 'Präfix', '--price', 'Preis', '--scale', '2'],
      [',,,2,0', '49,,,1,0'],
    ],
    [
      'a line for all, which counts before --rest',
      'prefix,per_segment\n49,1\n*,2\n',
      ['--rest', '9'],
      [',,,2,0', '49,,,1,0'],
    ],
  ])('%s', async (_, text, words, expected) => {
    const card = fresh()
    expect(await importing(text, ['--card', card, '--yes', ...words])).toMatchObject({ code: 0 })
    expect((await linesOf(card)).toSorted()).toEqual(expected.toSorted())
  })
})

describe('a file is refused as a whole, with its lines and columns', () => {
  const price = ['--price', 'price', '--scale', '100']
  test.each<[string, string[], ...string[]]>([
    [
      'prefix,price\n49,0.0075\n*,1\n',
      price,
      'line 2: price must be a whole number of units with --scale 100, not "0.0075"',
    ],
    [
      'prefix,price\n49,\n*,1\n33,"1,234.5"\n',
      price,
      'line 2: price is empty',
      'line 4: price must be a number such as 75, 0.0075 or 0,0075, not "1,234.5"',
    ],
    [
      'prefix,price\n49,1e-2\n*,99999999\n',
      price,
      'line 2: price must be a number',
      'line 3: price must be at most 1000000 units, not 9999999900',
    ],
    ['prefix,price\n49,-1\n*,0\n', price, 'line 2: price must be a number', 'line 3: price must be at least 1 unit'],
    [
      'Dial code,price\n12345678901,1\n012,1\n4.9E+10,1\nx,1\n',
      [...price, '--prefix', 'dial code'],
      'line 2: Dial code must be up to 10 digits',
      'line 3: Dial code must',
      'line 4: Dial code must',
      'and 1 more of this kind, the next in line 5',
    ],
    [
      'prefix,price\n49153-49151,1\n49-4,1\n',
      price,
      'line 2: prefix must be up to 10 digits such as 49, +49 or 0049, or a range such as 49151-49153, not "49153-49151"',
      'line 3: prefix',
    ],
    [
      'prefix,price\n+49 151,1\n',
      price,
      'line 2: prefix must have no blank within a prefix, and + or 00 before all or none, not "+49 151"',
    ],
    [
      'prefix,price\n49150-49159,1\n33,1\n49155,2\n*,1\n',
      price,
      'line 4: prefix is for 49155, as line 2 is: give each destination and type one line',
    ],
    [
      'country,price\nGermany,1\n',
      price,
      'line 2: country must be an ISO 3166 alpha-2 country code such as "DE", not "Germany"',
    ],
    ['prefix,price,message_type\n49,1,OTP!\n', price, 'line 2: message_type must be a type such as "otp"'],
    ['prefix,price\n49,1\n', price, 'FILE has no line for all other destinations: --rest UNITS'],
    ['prefix,price\n10000-40000,1\n', price, 'FILE: line 2: a card has 20000 lines at most'],
    ['prefix,cost\n49,1\n', price, 'FILE has no column "price", which --price names; its columns are prefix, cost'],
    [
      'code,price\n49,1\n',
      price,
      'FILE needs a column of destinations: --prefix or --country names one of code, price',
    ],
    ['prefix,price,price\n49,1,1\n', price, 'FILE has two columns with the name price'],
    ['', price, 'FILE has no column "price"'],
    ['prefix,price\n"49,1\n', price, 'FILE: line 2: a quotation mark is not closed'],
    [
      'prefix,price\n49,1\n',
      [...price.slice(0, 2), '--scale', '0.1'],
      '--scale is a whole number of units from 1, such as 10000, not "0.1"',
    ],
    [
      'prefix,price\n49,1\n',
      [...price, '--rest', '0.04'],
      '--rest is a whole number of units from 1 to 1000000, not "0.04"',
    ],
  ])('%j', async (text, words, ...messages) => {
    const card = fresh()
    const refused = await importing(text, ['--card', card, '--yes', ...words])
    expect(refused).toMatchObject({ code: 2, stdout: '' })
    for (const message of messages) expect(refused.stderr).toContain(message)
    expect((await rates(['get', card])).code).toBe(1)
  })
})

test('a card that is not clear, and options that are not for it', async () => {
  const name = fresh()
  const [one, two] = [
    (await service.call('POST', CARDS, { body: { name } })).body.id,
    (await service.call('POST', CARDS, { body: { name } })).body.id,
  ]
  const refused = async (words: string[], message: string, code = 2) => {
    const { stderr, ...outcome } = await importing(BASIC, [...words, '--yes'])
    expect({ ...outcome, stderr: stderr.split('\n')[0] }).toEqual({ code, stdout: '', stderr: `sms-quota: ${message}` })
  }
  await refused([], 'missing: --card, the name or the id of the rate card')
  await refused(['--card', name], `2 rate cards have the name ${name}: ${two}, ${one}. Say which: --card ${one}`)
  await refused(['--card', '99999'], 'Not found: Rate card 99999 does not exist.', 1)
  await refused(
    ['--card', String(one), '--default'],
    `--default is for a new card: "sms-quota rates update ${one} --is-default true" makes this one the default`,
  )
  const none = fresh()
  await refused(
    ['--card', none, '--from', '2026-04-01'],
    `no rate card has the name ${none}. The first prices of a new one hold at once: leave out --from`,
  )
  const late = await importing(BASIC, ['--card', String(one), '--yes', '--from', '2027-01-01'])
  expect(late).toMatchObject({ code: 2, stderr: expect.stringContaining('--from must be at most 90 days ahead') })
  expect((await importing(BASIC, ['--card', none])).stderr).toContain('give --yes: there is no terminal to ask on')
})

test('prices hold from a day of the local time zone on', async () => {
  const card = fresh()
  await importing(BASIC, ['--card', card, '--yes'])
  const words = ['--card', card, '--yes', '--from', '2026-04-01']
  await importing(BASIC.replace('400', '500'), words, { timeZone: 'Europe/Berlin' })
  const { stdout } = await rates(['get', card, '--json'])
  const [upcoming, holds] = JSON.parse(stdout).lists
  expect([upcoming.state, upcoming.valid_from, holds.state]).toEqual(['upcoming', '2026-03-31T22:00:00.000Z', 'holds'])
  expect((await rates(['export', card, '--version', '2'])).stdout).toContain('\n,,,500,0\n')
  expect((await rates(['export', card])).stdout).toContain('\n,,,400,0\n')
})

test('prices that were changed since they were shown are not overwritten', async () => {
  const card = fresh()
  const id = /Rate card (\d+)/.exec((await importing(BASIC, ['--card', card, '--yes'])).stdout)?.[1]
  const ask = async () => {
    await service.call('PUT', `${CARDS}/${id}/lines`, { body: { lines: [{ per_segment: 7 }] } })
    return 'y'
  }
  const { code, stderr } = await importing(BASIC.replace('400', '500'), ['--card', card], { ask })
  expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining('now has version 2.') })
  expect(await linesOf(card)).toEqual([',,,7,0'])
})

test('a card is made the default, named for a user, renamed and archived', async () => {
  const [one, two] = [fresh(), fresh()]
  await importing(BASIC, ['--card', one, '--default', '--yes'])
  const other = await importing(BASIC, ['--card', two, '--default', '--dry-run'])
  expect(other.stdout).toMatch(new RegExp(`\\nrate card \\d+, ${one}, is no longer the default\\n`))
  await importing(BASIC, ['--card', two, '--yes'])
  expect((await rates(['update', two, '--is-default', 'true', '--name', `${two} b`])).stdout).toMatch(
    /is_default +yes\n/,
  )
  expect((await rates(['list'])).stdout).toMatch(new RegExp(` +1 +${two} b +yes +4 `))
  const given = await run(['user', 'update', '7', '--rate-card-id', one], { env })
  expect(given.stdout).toMatch(/rate_card_id +\d+\n/)
  expect((await rates(['archive', one])).stderr).toContain('rate_card_in_use')
  await run(['user', 'update', '7', '--rate-card-id', 'null'], { env })
  expect((await rates(['archive', one])).stdout).toMatch(/^Rate card \d+ is archived\.\n$/)
})
