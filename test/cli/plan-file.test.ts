/** Files of plans: what is refused, with all that is wrong, and how a file differs from a plan that is stored. */
import { expect, test } from 'vitest'
import { differences, readPlanFile, type StoredPlan } from '../../src/cli/remote/plans/plan-file.ts'
import { slotOf } from '../../src/domain/plans/plan.ts'
import { PLAN_FIELD_NAMES, type PlanFields } from '../../src/domain/plans/plan-fields.ts'

const FILE = `# The package of most customers
name: Basic
slots:
  - slot: monthly
    limit: 1000
    period: month
    countries: [DE, AT]
  - &daily
    slot: daily
    kind: cap
    limit: 200
    period: day
`

const read = (text: string) => readPlanFile(text, 'basic.yaml')

test('a slot says what its cap counts by itself', async () => {
  const { slots } = await read(`${FILE}    per: recipient\n`)
  const [, daily] = slots.map(slot => slotOf({ ...slot }))
  expect(daily).toMatchObject({ slot: 'daily', per: 'recipient', counts: 'messages', alert_at: [] })
  await expect(read(`${FILE.replace('kind: cap', 'per: tag')}`)).rejects.toThrow('slot daily: per must be null')
})

test('YAML and JSON say the same', async () => {
  const yaml = await read(`\uFEFF${FILE.replaceAll('\n', '\r\n')}`)
  expect(yaml.slots.map(({ slot }) => slot)).toEqual(['monthly', 'daily'])
  expect(await read(JSON.stringify(yaml, null, '\t'))).toEqual(yaml)
})

/** Each alias stands for ten of those before. */
const bomb = `a: &a [1,1]\n${['b', 'c', 'd'].map((name, n) => `${name}: &${name} [${`*${'abc'[n]},`.repeat(10)}]\n`).join('')}`

test.each([
  ['an empty file', '', ['basic.yaml is empty']],
  ['a file of comments', '# nothing', ['basic.yaml is empty']],
  ['a list', '- name', ['  the plan must be an object']],
  ['two documents', `${FILE}---\nname: Second\n`, ['basic.yaml has 2 documents: each plan needs its own file']],
  ['a key twice', `${FILE}name: Again\n`, ['  Map keys must be unique at line 13, column 1']],
  ['a key of JSON twice', '{"name":"A","name":"B"}', ['  Map keys must be unique at line 1, column 13']],
  ['an unknown tag', 'name: !!map x', ['  Unresolved tag']],
  ['a key that is no text', '? [a]\n: b', ['  With stringKeys, all keys must be strings at line 1, column 3']],
  ['aliases of aliases', bomb, ['basic.yaml has too many aliases, or one that names nothing']],
  ['an alias of nothing', 'name: *x', ['basic.yaml has too many aliases, or one that names nothing']],
  ['a long file', `name: x\n#${'y'.repeat(256 * 1024)}`, ['basic.yaml has more than 262144 characters']],
  [
    'wrong values',
    `${FILE.replace('limit: 200', 'limit: .inf').replace('period: month', 'period: moth')}    anchor: 15\n__proto__: {}\nid: 0\n`,
    [
      '  id must',
      '  slot monthly: period must',
      '  slot daily: limit must',
      '  slot daily: anchor must',
      '  __proto__ is unknown',
    ],
  ],
  [
    'exceptions that name no countries, or stand beside countries',
    `${FILE.replace('period: day', 'except_countries: [DE, XX]')}    name: 7\n`.replace(
      '[DE, AT]',
      '[DE]\n    except_countries: [DE]',
    ),
    [
      '  slot monthly: except_countries cannot be combined with countries',
      '  slot daily: except_countries must be a list of some countries, such as DE, AT',
      '  slot daily: name must',
    ],
  ],
  ['no slots', 'name: Basic\nslots: []', ['  slots must be a list of 1 to 20 values']],
  ['a slot without a name', 'name: x\nslots:\n  - {limit: 0}\n', ['  slots.0.slot is required']],
  ['missing fields', 'slots:\n  - slot: a\n', ['  name is required', '  slot a: limit is required']],
  [
    'slots that contradict the rules',
    `${FILE.replace('daily\n    kind', 'monthly\n    kind')}    rollover_limit: 5\n`,
    ['  slots.1.rollover_limit ', '  slots.1.slot is that of /slots/0'],
  ],
])('%s is refused', async (_what, text, messages) => {
  const error = await read(text).catch(error => error)
  expect(error).toMatchObject({ name: 'UsageError' })
  for (const message of messages) expect(`\n${error.message}`).toContain(`\n${message}`)
  expect(error.message.split('\n')).toHaveLength(messages[0]?.startsWith('  ') ? messages.length + 1 : 1)
})

const stored: StoredPlan = {
  id: 3,
  version: 1,
  name: 'Basic',
  is_default: false,
  rate_card_id: null,
  archived: false,
  slots: [
    slotOf({ slot: 'monthly', limit: 1000, period: 'month', countries: ['AT', 'DE'] }),
    slotOf({ slot: 'daily', kind: 'cap', limit: 200, period: 'day' }),
  ],
}

test.each([
  ['the same', FILE, []],
  ['defaults that are written', `${FILE}    priority: 100\n    alert_at: [100, 80]\nis_default: false\n`, []],
  [
    'name, default and fields',
    `${FILE.replace('Basic', 'Basic 2').replace('1000', 'null').replace('[DE, AT]', '[DE]')}is_default: true\n`,
    [
      'name Basic → Basic 2',
      'is_default false → true',
      'slot monthly: limit 1000 → null, countries ["AT","DE"] → ["DE"]',
    ],
  ],
  [
    'slots',
    FILE.replace('slot: daily', 'slot: weekly').replace('period: day', 'period: week'),
    ['slot weekly: new, kind cap, limit 200, period week', 'slot daily: dropped'],
  ],
  [
    'all countries but a few',
    FILE.replace('countries: [DE, AT]', 'except_countries: [DE, AT]'),
    ['slot monthly: countries ["AT","DE"] → all but AT,DE'],
  ],
  [
    'the order of slots',
    'name: Basic\nslots:\n- {slot: daily, kind: cap, limit: 200, period: day}\n- {slot: monthly, limit: 1000, period: month, countries: [AT, DE]}',
    ['order of the slots: monthly, daily → daily, monthly'],
  ],
])('%s', async (_what, text, lines) => {
  expect(differences(stored, await read(text))).toEqual(lines)
})

test('a file that differs in a single field of the plan is another one', async () => {
  const other: PlanFields = { name: 'Other', is_default: true, rate_card_id: 7 }
  const file = await read(FILE)
  for (const name of PLAN_FIELD_NAMES)
    expect(differences(stored, { ...file, [name]: other[name] }), name).toHaveLength(1)
})

test('of a new plan all is new', async () => {
  expect(differences(null, await read(`${FILE}is_default: true\n`))).toEqual([
    'is_default false → true',
    'slot monthly: new, limit 1000, period month, countries ["DE","AT"]',
    'slot daily: new, kind cap, limit 200, period day',
  ])
})
