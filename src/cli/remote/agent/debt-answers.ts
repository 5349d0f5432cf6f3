/** How the agent answers for a message that is a debt: with the fields of the service, and `debt`. */
import type { SenderRequest } from '../../../contract/sender.ts'
import { measureMessage } from '../../../domain/messages/message.ts'
import { DEFAULT_SEGMENT_RULES, type SegmentRules } from '../../../domain/messages/segment-rules.ts'
import { invalidRequest, Problem } from '../../../errors.ts'

type State = 'reserved' | 'committed' | 'released'

export type DebtAnswers = ReturnType<typeof createDebtAnswers>

/** @param segments how the service counts segments; null if that is not known: they are counted as by default */
export function createDebtAnswers(segments: () => SegmentRules | null) {
  const measureOf = ({ message }: SenderRequest) =>
    message && measureMessage(message.to, message.text, segments() ?? DEFAULT_SEGMENT_RULES)

  function debtGranted(request: SenderRequest, state: State, replayed: boolean) {
    const measure = measureOf(request)
    return {
      granted: true,
      ...reservationOf(request, state),
      remaining: null,
      replayed,
      ...(measure && { encoding: measure.encoding, segments: measure.segments, country: measure.country }),
    }
  }

  function debtSettled(request: SenderRequest, state: State, replayed: boolean) {
    return { ...reservationOf(request, state), replayed }
  }

  const reservationOf = (request: SenderRequest, state: State) => viewOf(request, state, contentOf(request).units)

  /** What has to be the same in a repeated call: the message as the service counts it. */
  function contentOf(request: SenderRequest) {
    const { units, country, message_type, allow_partial } = request
    const measure = measureOf(request)
    return {
      units: measure?.units ?? units ?? 0,
      country: (measure === undefined ? country : measure.country) ?? null,
      message_type: message_type ?? null,
      allow_partial: allow_partial ?? false,
    }
  }

  /** @throws Problem `idempotency_mismatch` */
  function checkSame(request: SenderRequest, owed: SenderRequest): void {
    const known = new Map<string, unknown>(Object.entries(contentOf(owed)))
    const fields = Object.entries(contentOf(request)).flatMap(([name, value]) =>
      value === known.get(name) ? [] : [name],
    )
    if (fields.length === 0) return
    throw new Problem(
      'idempotency_mismatch',
      `The user already has a reservation "${owed.id}" from a different request. These fields differ: ${fields.join(', ')}.`,
      { members: { errors: fields.map(name => ({ path: `/${name}`, message: 'differs' })) } },
    )
  }

  /** A debt is booked as a whole. @throws Problem `invalid_request` */
  function checkWhole({ total_units }: SenderRequest, owed: SenderRequest): void {
    const { units } = contentOf(owed)
    if (total_units === undefined || total_units === units) return
    const message = `must be ${units} or left out: the service was away, and the reservation is settled as a whole`
    throw invalidRequest([{ path: '/total_units', message }])
  }

  function closed(detail: string, owed: SenderRequest, state: State): Problem {
    return new Problem('reservation_closed', detail, { members: { reservation: reservationOf(owed, state) } })
  }

  return { checkSame, checkWhole, closed, debtGranted, debtSettled }
}

/** As it will be when the service has booked it. No quota counts it yet, so `draws` is empty, and only the service knows which user a reference names. */
function viewOf({ id, user_id, user_ref }: SenderRequest, state: State, units: number) {
  return {
    id,
    user_id: user_id ?? null,
    ...(user_ref === undefined ? undefined : { user_ref }),
    state,
    units,
    committed: state === 'committed' ? units : 0,
    released: state === 'released' ? units : 0,
    refunded: 0,
    unfunded: 0,
    verified: false,
    draws: [],
    expires_at: null,
    debt: true,
  }
}

export function notBooked(done = 'Nothing was done'): Problem {
  return new Problem(
    'unavailable',
    `The message was allowed while the service was away, and is not booked yet. ${done}; repeat the call.`,
  )
}
