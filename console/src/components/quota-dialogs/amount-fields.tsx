import { Button, Group, Radio, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { formatChange } from '../../formats.ts'
import { type Demand, WINDOWS_BEFORE } from '../../queries/demand.ts'
import { useCaller } from '../../session/session.ts'
import { texts } from '../../texts/texts.ts'
import { TextField, wholeNumber } from '../text-field.tsx'
import type { QuotaFormProps } from './effect.tsx'

const TEXTS = texts.quota.adjust

type Quota = QuotaFormProps['quota']

/** The change as the user enters it. */
export interface Amount {
  units: string
  isDecrease: boolean
}

const QUICK_AMOUNTS = [100, 500, 1_000, -100, -500, -1_000]

interface AmountProps {
  quota: Quota
  /** Null until it is read, and where no report says it. */
  demand: Demand | null
  input: Amount
  onChange: (part: Partial<Amount>) => void
  /** Whether the dialog only adds units. */
  isRemedy: boolean
  error: ReactNode
}

/** By how many units the limit changes, with amounts that are often chosen and the one that covers what was denied. */
export function AmountFields({ quota, demand, input, onChange, isRemedy, error }: AmountProps) {
  const { units, isDecrease } = input
  const bound = useCaller().adjust_limit
  const isAllowed = (amount: number) => (bound === null || Math.abs(amount) <= bound) && (amount > 0 || !isRemedy)
  const proposal = demand === null ? null : proposalOf(quota, demand)
  return (
    <>
      {demand !== null && demand.denied > 0 && <Text size="sm">{demandText(quota, demand)}</Text>}
      {!isRemedy && (
        <Radio.Group
          label={TEXTS.direction}
          value={isDecrease ? 'decrease' : 'increase'}
          onChange={value => onChange({ isDecrease: value === 'decrease' })}
        >
          <Group gap="lg" mt={6}>
            <Radio value="increase" label={TEXTS.add} />
            <Radio value="decrease" label={TEXTS.remove} />
          </Group>
        </Radio.Group>
      )}
      <div>
        <TextField
          label={isRemedy ? TEXTS.unitsToAdd : TEXTS.units}
          about={bound === null ? undefined : TEXTS.bound(bound)}
          value={units}
          onChange={text => onChange({ units: text })}
          error={error}
          isRequired
          isNumber
        />
        <Group gap={6} mt={6} role="group" aria-label={TEXTS.quickAmounts}>
          {proposal !== null && isAllowed(proposal.amount) && (
            <Button
              size="compact-sm"
              variant="outline"
              onClick={() => onChange({ units: String(proposal.amount), isDecrease: false })}
            >
              {proposal.label}
            </Button>
          )}
          {QUICK_AMOUNTS.filter(isAllowed).map(amount => (
            <Button
              key={amount}
              size="compact-sm"
              variant="default"
              onClick={() => onChange(addedTo(input, amount, bound))}
            >
              {formatChange(amount)}
            </Button>
          ))}
        </Group>
      </div>
    </>
  )
}

/** What is granted by the figures that the dialog shows; of a grant, and where nothing resets, by the report. */
function grantedOf({ kind, period, used, reserved }: Quota, { committed }: Demand): number {
  return kind === 'cap' && period !== null ? used + reserved : committed
}

interface Proposal {
  amount: number
  label: string
}

/** As much as in the busiest window before, or what is missing for all that was asked for, if that is more; null: nothing is missing. */
function proposalOf(quota: Quota, { denied, busiest }: Demand): Proposal | null {
  const { limit, rolled_over, used, reserved, period } = quota
  if (limit === null) return null
  const missing = denied - (limit + rolled_over - used - reserved)
  const upToBusiest = (busiest ?? 0) - limit - rolled_over
  if (period !== null && period !== 'year' && upToBusiest > Math.max(0, missing))
    return {
      amount: upToBusiest,
      label: TEXTS.coversBusiest[period](formatChange(upToBusiest), WINDOWS_BEFORE[period]),
    }
  return missing > 0 ? { amount: missing, label: TEXTS.covers(formatChange(missing)) } : null
}

function demandText(quota: Quota, demand: Demand): string {
  const { period, limit, rolled_over, kind } = quota
  const text = TEXTS.demand(TEXTS.demandIn[period ?? 'none'], grantedOf(quota, demand), demand.denied, kind)
  if (limit === null || period === null || period === 'year') return text
  const [windows, busiest] = [WINDOWS_BEFORE[period], demand.busiest ?? 0]
  return [
    text,
    ...(busiest > limit + rolled_over ? [TEXTS.busiest[period](windows, busiest)] : []),
    ...(demand.deniedBefore > 0 ? [TEXTS.deniedBefore[period](demand.deniedBefore, windows)] : []),
  ].join(' ')
}

/** Amounts add up: "+100" pressed twice is 200. What is no number counts as nothing. @param bound of the caller's role */
function addedTo(input: Amount, amount: number, bound: number | null): Partial<Amount> {
  const current = deltaOf(input)
  const sum = (typeof current === 'number' ? current : 0) + amount
  const units = Math.min(Math.abs(sum), bound ?? Number.POSITIVE_INFINITY)
  return { units: units === 0 ? '' : String(units), isDecrease: sum < 0 }
}

/** The signed change; invalid input stays a string, which the service rejects with a message. */
export function deltaOf({ units, isDecrease }: Amount): number | string {
  const value = wholeNumber(units)
  return typeof value === 'number' && isDecrease ? -value : value
}
