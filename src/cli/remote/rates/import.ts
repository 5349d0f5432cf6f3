/** The command `rates import`: shows what a file of prices changes, asks, and sets the prices of the card. */
import type { BulkOptions } from '../../../../client/src/main.ts'
import { MAX_RATE } from '../../../domain/basics/bounds.ts'
import { type ChangedLine, changedLines, LINE_CHANGES, nameOfLine } from '../../../domain/rates/rate-line.ts'
import { type Arguments, UsageError } from '../../arguments.ts'
import { safe } from '../../safe.ts'
import type { Terminal } from '../../terminal.ts'
import { type ConfirmedRun, type RunOptions, runConfirmed } from '../bulk/confirmed.ts'
import { inWords } from '../bulk/many-run.ts'
import type { Connection } from '../connection.ts'
import { scaleIn } from '../decimals.ts'
import { readFields } from '../fields.ts'
import { contentOf, csvRowsOf, encodingIn } from '../files.ts'
import { oneNamed, readAll } from '../find-ids.ts'
import type { Address } from '../profiles.ts'
import { columns, tableOf } from '../tables.ts'
import { COLUMNS, type Column, FROM, type PriceLine, readPrices } from './price-file.ts'

/** @returns the exit code */
export async function importPrices(args: Arguments, service: Address, terminal: Terminal): Promise<number> {
  const card = args.one('card') ?? ''
  if (card === '') throw new UsageError('missing: --card, the name or the id of the rate card')
  const named = Object.fromEntries((Object.keys(COLUMNS) as Column[]).map(column => [column, args.one(column)]))
  const format = { named, scale: scaleIn(args), rest: restIn(args) }
  const from = readFields(FROM, args, terminal.timeZone)
  const prices = readPrices(csvRowsOf(await contentOf(args.operand(0), 'FILE', encodingIn(args)), 'FILE'), format)
  return runConfirmed({ args, service, terminal, progress: undefined }, async connection => {
    const order: Order = {
      prices,
      from,
      card: await cardOf(card, args, from, connection),
      isShown: false,
      ...connection,
    }
    return { nameOf: nameOf(prices), runOf: (callOf, options) => new ImportRun(order, callOf(0), options) }
  })
}

/** @throws UsageError */
function restIn(args: Arguments): number | undefined {
  const text = args.one('rest')
  if (text === undefined) return undefined
  if (/^[1-9]\d{0,6}$/.test(text) && Number(text) <= MAX_RATE) return Number(text)
  throw new UsageError(`--rest is a whole number of units from 1 to ${MAX_RATE}, not "${text}"`)
}

/** How the command line names a field of the request. */
const nameOf = (prices: readonly PriceLine[]) => (path: string) => {
  const [field = '', index = ''] = path.replace(/^\//, '').split('/')
  if (field === 'lines' && index !== '') return `line ${prices[Number(index)]?.at}:`
  return { valid_from: '--from', name: '--card' }[field] ?? safe(field)
}

interface Card {
  id: number
  version: number
  name: string
  is_default: boolean
}

interface Order extends Connection {
  prices: readonly PriceLine[]
  from: { valid_from?: unknown }
  /** Without id: it is to be made. */
  card: Card | { id?: undefined; name: string; is_default: boolean; replaced: Card | undefined }
  /** Whether the user has seen what changes. */
  isShown: boolean
}

/** @throws UsageError if it is not clear which one is meant, or an option is not for it */
async function cardOf(
  name: string,
  args: Arguments,
  from: Order['from'],
  { call }: Connection,
): Promise<Order['card']> {
  const cards = await readAll<Card>('rate_card', call)
  const isId = /^\d+$/.test(name)
  const card = isId
    ? ((await call('getRateCard', { id: Number(name) })) as Card)
    : oneNamed('rate_card', name, cards, id => `Say which: --card ${id}`)
  const is_default = args.has('default')
  if (card === undefined) {
    if ('valid_from' in from)
      throw new UsageError(
        `no rate card has the name ${name}. The first prices of a new one hold at once: leave out --from`,
      )
    return { name, is_default, replaced: is_default ? cards.find(other => other.is_default) : undefined }
  }
  if (is_default && !card.is_default)
    throw new UsageError(
      `--default is for a new card: "sms-quota rates update ${card.id} --is-default true" makes this one the default`,
    )
  return card
}

/** What a list of prices changes. */
interface Changes {
  changes: Readonly<Record<(typeof LINE_CHANGES)[number], number>>
  changed: readonly ChangedLine[]
}

const LARGEST = 10

class ImportRun implements ConfirmedRun {
  readonly exitCode = 0
  private readonly order: Order
  private readonly options: RunOptions
  private readonly key: object
  private shown: Changes = { changes: { new: 0, gone: 0, dearer: 0, cheaper: 0 }, changed: [] }
  private made: Card | undefined

  constructor(order: Order, { dryRun: _, ...key }: BulkOptions, options: RunOptions) {
    this.order = order
    this.options = options
    this.key = key
  }

  async finish(): Promise<void> {
    const { card, prices, from, call } = this.order
    const lines = prices.map(({ line }) => line)
    const { isDryRun } = this.options
    if (card.id === undefined) {
      const changed = changedLines([], lines)
      this.shown = { changes: { ...this.shown.changes, new: changed.length }, changed }
      const { name, is_default } = card
      if (!isDryRun) this.made = (await call('createRateCard', { name, is_default, lines }, this.key)) as Card
      return
    }
    const request = { id: card.id, lines, ...from }
    const ifMatch = card.version
    this.shown = (await call('setRateLines', { ...request, dry_run: 'true' }, { ifMatch })) as Changes
    if (isDryRun || !this.isChange) return
    this.made = ((await call('setRateLines', request, { ...this.key, ifMatch })) as { card: Card }).card
  }

  private get isChange(): boolean {
    return LINE_CHANGES.some(change => this.shown.changes[change] > 0)
  }

  get question(): string | null {
    const { card, prices } = this.order
    if (card.id !== undefined)
      return this.isChange ? `Change the prices of rate card ${card.id}, ${safe(card.name)}?` : null
    return `Create the rate card ${safe(card.name)} with ${inWords(prices.length, 'line')}?`
  }

  async report(): Promise<void> {
    const { terminal, isDryRun, isFinal } = this.options
    const { card } = this.order
    if (card.id !== undefined && !this.isChange)
      return terminal.print(`Rate card ${card.id}, ${safe(card.name)}, has these prices.\n`)
    if (!this.order.isShown) await this.show()
    this.order.isShown = true
    if (isDryRun && isFinal) await terminal.print('(dry run: nothing was changed)\n')
    if (this.made === undefined) return
    const { id, version, is_default } = this.made
    await terminal.print(
      card.id === undefined
        ? `Rate card ${id} is created.\n`
        : `Rate card ${id} is changed. It has version ${version}.\n`,
    )
    if (card.id === undefined && !is_default)
      terminal.complain(
        `To give it to a user: sms-quota user update USER --rate-card-id ${id}; to all: sms-quota rates update ${id} --is-default true`,
      )
  }

  private async show(): Promise<void> {
    const { terminal } = this.options
    const { card } = this.order
    const { changes, changed } = this.shown
    const title = card.id === undefined ? `New rate card ${card.name}` : `Rate card ${card.id}, ${card.name}`
    await terminal.print(
      `${safe(title)}: ${LINE_CHANGES.map(change => `${change} ${changes[change].toLocaleString('en')}`).join(', ')}\n`,
    )
    await terminal.print(tableOf(changed.slice(0, LARGEST), CHANGED, terminal))
    if (changed.length > LARGEST) await terminal.print(`the ${LARGEST} largest changes\n`)
    if (card.id === undefined && card.replaced !== undefined)
      await terminal.print(
        `${safe(`rate card ${card.replaced.id}, ${card.replaced.name}, is no longer the default`)}\n`,
      )
  }
}

const costOf = (cost: ChangedLine['after']) =>
  cost === null
    ? '-'
    : cost.per_message === 0
      ? String(cost.per_segment)
      : `${cost.per_segment} + ${cost.per_message} a message`

const CHANGED = columns<ChangedLine>(
  { title: 'destination', value: ({ prefix, country }) => nameOfLine({ prefix, country, message_type: null }) },
  'message_type',
  'change',
  { title: 'units a segment', value: ({ before, after }) => `${costOf(before)} → ${costOf(after)}` },
)
