/** Compares what is charged with what the provider took. */
import { sql } from '../../../src/db/connection/sql.ts'
import type { Deployment } from '../chaos/deployment.ts'
import { type Message, nameOf, type Taken } from './message.ts'
import type { Provider } from './provider.ts'
import type { LossyProxy } from './proxy.ts'
import type { Killed, RunRecord } from './record.ts'

export interface Case {
  readonly deployment: Deployment
  readonly provider: Provider
  readonly record: RunRecord
  readonly proxy: LossyProxy
  readonly users: number
  limitOf(userId: number): number
}

export interface Findings {
  /** Users with other charges than the provider's list has, and what led to them. */
  readonly wrong: string[]
  /** Messages with a second send, though the first one has not failed. */
  readonly twice: string[]
  /** What senders' calls answered, and was not so. */
  readonly untrue: readonly string[]
  /** Users whose messages went past their limits without being debts. */
  readonly past: string[]
}

interface Charge {
  readonly id: string
  /** The sender. */
  readonly by: string
  readonly charged: number
  /** Whether all that was committed was given back: nothing can be charged under this id any more. */
  readonly isGivenBack: boolean
}

export async function checkRun(of: Case): Promise<Findings> {
  const { record, users, limitOf } = of
  const findings: Findings = { wrong: [], twice: twiceSent(of), untrue: record.untrue, past: [] }
  for (let userId = 1; userId <= users; userId++) {
    const charges = await chargesOf(of.deployment, userId)
    const { used, reserved } = await countersOf(of, userId)
    const debts = record.debts.get(userId) ?? 0
    if (used - debts > limitOf(userId)) findings.past.push(`user ${userId}: ${used} used, of these debts: ${debts}`)
    const sum = charges.reduce((units, { charged }) => units + charged, 0)
    if (used !== sum || reserved !== 0)
      findings.wrong.push(`user ${userId}: used ${used}, reserved ${reserved}, charged ${sum}`)
    findings.wrong.push(...wrongSenders(of, userId, charges), ...wrongMessages(of, userId, charges))
  }
  return findings
}

/**
 * Of each sender by itself: the type of a message names its sender. What is not known to be sent may be charged or not; of what was
 * under way in a killed process, and of what two senders had at the same time, see `wrongMessages`.
 */
function wrongSenders(of: Case, userId: number, charges: readonly Charge[]): string[] {
  const { provider, record } = of
  const isKnown = ({ id }: { readonly id: string }) => {
    const name = nameOf({ userId, id })
    return !provider.unknown.has(name) && !record.killed.has(name) && record.shared.get(name)?.isTogether !== true
  }
  const taken = provider.taken.filter(message => message.userId === userId && isKnown(message))
  const certain = charges.filter(isKnown)
  const senders = new Set([...taken.map(({ by }) => by), ...certain.map(({ by }) => by)])
  return [...senders].flatMap(sender => {
    const sent = taken.filter(({ by }) => by === sender)
    const charged = certain.filter(({ by }) => by === sender)
    const [units, ofThese] = [
      sent.reduce((sum, message) => sum + message.units, 0),
      charged.reduce((sum, charge) => sum + charge.charged, 0),
    ]
    if (units === ofThese) return []
    return [`user ${userId}, ${sender}: sent ${units}, charged ${ofThese}\n${differences(of, sent, charged)}`]
  })
}

/** What may be charged for a message that was under way in a killed process, or that two senders had at the same time. */
function wrongMessages(of: Case, userId: number, charges: readonly Charge[]): string[] {
  const { provider, record } = of
  const isOfUser = ({ userId: owner }: { readonly userId: number }) => owner === userId
  const taken = provider.taken.filter(isOfUser)
  const killed = [...record.killed.values()].filter(isOfUser)
  const together = [...record.shared.values()]
    .filter(({ message, isTogether }) => isOfUser(message) && isTogether && !record.killed.has(nameOf(message)))
    .map(({ message }) => message)
  const wrong = (
    message: Message,
    isRight: (charged: number, sent: number, isGivenBack: boolean) => boolean,
  ): string[] => {
    const sent = taken.filter(({ id }) => id === message.id)
    const charge = charges.filter(({ id }) => id === message.id)
    const charged = charge.reduce((sum, one) => sum + one.charged, 0)
    if (charged === 0 && sent.length === 0) return []
    const isUnknown = provider.unknown.has(nameOf(message))
    if (
      charged <= message.units &&
      (isUnknown ||
        isRight(
          charged,
          sent.length,
          charge.some(one => one.isGivenBack),
        ))
    )
      return []
    return [`user ${userId}: sent ${sent.length} times, charged ${charged}\n${differences(of, sent, charge, true)}`]
  }
  return [
    ...killed.flatMap(message =>
      wrong(message, (charged, sent, isGivenBack) =>
        isRightOfKilled(record, message, charged, sent, isGivenBack && provider.failed.has(nameOf(message))),
      ),
    ),
    ...together.flatMap(message => wrong(message, (charged, sent) => isRightOfShared(record, message, charged, sent))),
  ]
}

/** Of a message that was sent, once or, since answers were lost, twice: it is charged once. */
function isRightOfShared(record: RunRecord, message: Message, charged: number, sent: number): boolean {
  if (charged === (sent > 0 ? message.units : 0)) return true
  const isGivenBack = sent > 0 && charged === 0 && record.shared.get(nameOf(message))?.mayBeGivenBack === true
  if (isGivenBack) record.count('sent by one of two at the same time, and given back by the other one')
  return isGivenBack
}

/**
 * Units that are committed before the send are charged in any case; units that are committed after it may be free. A debt is free if
 * its id is closed, and only then: a send had failed and was given back, and the process that knew it was killed.
 */
function isRightOfKilled(
  record: RunRecord,
  { units, onExpiry, mayBeDebt }: Killed,
  charged: number,
  sent: number,
  isClosed: boolean,
): boolean {
  if (onExpiry === 'release') return sent > 0 || charged === 0 || mayBeDebt
  if (sent === 0 || charged === units) return true
  const isFree = mayBeDebt && charged === 0 && isClosed
  if (isFree) record.count('sent as a debt after a kill, with an id that was given back')
  return isFree
}

function twiceSent(of: Case): string[] {
  return of.provider.again.flatMap(({ name, by }) => {
    const why = whyTwice(of, name)
    if (why !== undefined) of.record.count(`sent twice, ${why}`)
    const [, id = ''] = name.split(' ')
    return why === undefined ? [[`${name}, ${by}`, ...passagesAbout(of, id)].join('\n')] : []
  })
}

/** What a client cannot know, so that it sends again; see its README. */
function whyTwice({ provider, record }: Case, name: string): string | undefined {
  const shared = record.shared.get(name)
  if (shared?.isTogether === true) return 'by two at the same time'
  // Its reservation is open. If the answer of the next one's reserve is lost, that takes it for its own.
  if (shared?.onExpiry === 'release' && provider.unknown.has(name))
    return 'after a send that could not tell, by another sender'
  const killed = record.killed.get(name)
  if (killed?.onExpiry === 'release') return 'after a kill before its commit'
  // In an outage, the next process cannot ask what the killed one has done.
  return killed?.mayBeDebt === true ? 'as a debt after a kill' : undefined
}

async function chargesOf({ db }: Deployment, userId: number): Promise<Charge[]> {
  return db.query<Charge>({
    text: sql`select id, message_type as by, committed - refunded as charged,
        committed > 0 and committed = refunded as "isGivenBack" from reservation where user_id = $1`,
    values: [userId],
  })
}

async function countersOf({ deployment }: Case, userId: number): Promise<{ used: number; reserved: number }> {
  const answer = await deployment.call(0, 'GET', `/api/sms/admin/quota/summary?user_id=${userId}`)
  return answer?.body
}

/** The messages that differ, and what passed the proxy about them. */
function differences(of: Case, sent: readonly Taken[], charges: readonly Charge[], isWhole = false): string {
  const charged = new Map(charges.map(charge => [charge.id, charge.charged]))
  const taken = new Map(sent.map(message => [message.id, message.units]))
  const lines: string[] = []
  for (const id of new Set([...taken.keys(), ...charged.keys()])) {
    const [before, after] = [taken.get(id) ?? 0, charged.get(id) ?? 0]
    if (before === after && !isWhole) continue
    lines.push(`  ${id}: taken ${before}, charged ${after}`)
    lines.push(...passagesAbout(of, id))
  }
  return lines.slice(0, 200).join('\n')
}

function passagesAbout({ proxy }: Case, id: string): string[] {
  return proxy.passages
    .filter(({ body }) => body.includes(`"${id}"`))
    .flatMap(({ at, sender, path, fault, body, answers }) => [
      `    ${at} ${sender} ${path.replace(/^.*\//, '')} ${fault} ${aboutId(body, id)}`,
      ...answers.map(answer => `      ${answer?.status ?? 'nothing'} ${aboutAnswer(answer?.body ?? '', body, id)}`),
    ])
}

/** The operation of a message in a batch, or the body of a call. */
function aboutId(body: string, id: string): string {
  const { operations } = JSON.parse(body)
  return JSON.stringify(operations?.filter((operation: { id?: string }) => operation.id === id) ?? JSON.parse(body))
}

function aboutAnswer(answer: string, body: string, id: string): string {
  try {
    const { operations } = JSON.parse(body)
    const { results } = JSON.parse(answer)
    if (results === undefined) return answer.slice(0, 300)
    const indexes = [...operations.keys()].filter(index => operations[index].id === id)
    return JSON.stringify(indexes.map(index => results[index])).slice(0, 500)
  } catch {
    return answer.slice(0, 300)
  }
}
