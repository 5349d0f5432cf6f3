import { Button, Group, Radio, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { formatChange } from '../../formats.ts'
import {
  type Amount,
  addedTo,
  comparedPeriod,
  type Demand,
  grantedOf,
  type Proposal,
  proposalOf,
  WINDOWS_BEFORE,
} from '../../model/demand.ts'
import { useCaller } from '../../session/session.ts'
import { texts } from '../../texts/texts.ts'
import { TextField } from '../text-field.tsx'
import type { QuotaFormProps } from './effect.tsx'

const TEXTS = texts.quota.adjust

type Quota = QuotaFormProps['quota']

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
          required
          isNumber
        />
        <Group gap={6} mt={6} role="group" aria-label={TEXTS.quickAmounts}>
          {proposal !== null && isAllowed(proposal.amount) && (
            <Button
              size="compact-sm"
              variant="outline"
              onClick={() => onChange({ units: String(proposal.amount), isDecrease: false })}
            >
              {proposalText(proposal)}
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

function proposalText({ amount, busiestOf }: Proposal): string {
  const change = formatChange(amount)
  return busiestOf === null ? TEXTS.covers(change) : TEXTS.coversBusiest[busiestOf](change, WINDOWS_BEFORE[busiestOf])
}

function demandText(quota: Quota, demand: Demand): string {
  const { limit, rolled_over, kind } = quota
  const text = TEXTS.demand(TEXTS.demandIn[quota.period ?? 'none'], grantedOf(quota, demand), demand.denied, kind)
  const period = comparedPeriod(quota)
  if (limit === null || period === null) return text
  const [windows, busiest] = [WINDOWS_BEFORE[period], demand.busiest ?? 0]
  return [
    text,
    ...(busiest > limit + rolled_over ? [TEXTS.busiest[period](windows, busiest)] : []),
    ...(demand.deniedBefore > 0 ? [TEXTS.deniedBefore[period](demand.deniedBefore, windows)] : []),
  ].join(' ')
}
