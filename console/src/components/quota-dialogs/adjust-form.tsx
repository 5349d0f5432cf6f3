import { Anchor, Button, Group, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Link } from 'wouter'
import { CONTINUED_BY } from '../../../../src/domain/forecasts/raised-cap.ts'
import { newIdempotencyKey } from '../../api/http.ts'
import type { Input as CallInput } from '../../api/operations.ts'
import { type Amount, deltaOf, isException } from '../../model/demand.ts'
import { isLive } from '../../model/quota-status.ts'
import { canRaiseForWindow, currentRaise } from '../../model/raised-cap.ts'
import { useChange } from '../../queries/calls.ts'
import { demandQuery } from '../../queries/demand.ts'
import { isBelowUsage, isForbidden, useRaiseCap } from '../../queries/quota-changes.ts'
import { changesQuotas } from '../../session/rights.ts'
import { useCaller } from '../../session/session.ts'
import { texts } from '../../texts/texts.ts'
import { useDialogInput } from '../dialog.tsx'
import { Form } from '../form.tsx'
import { fieldErrors } from '../form-errors.ts'
import { RadioField } from '../radio-field.tsx'
import { TextField } from '../text-field.tsx'
import { releaseInput, useUnsavedInput } from '../unsaved-input.ts'
import { CapNotice } from '../user/cap-notice.tsx'
import { DistantTime } from '../values.tsx'
import { AmountFields } from './amount-fields.tsx'
import { BelowUsage } from './below-usage.tsx'
import { AboutQuota, type QuotaFormProps } from './effect.tsx'

const TEXTS = texts.quota.adjust

type Quota = QuotaFormProps['quota']

/** What the user has entered. */
interface Input extends Amount {
  reason: string
  /** Null until the user chooses. */
  isThisWindowOnly: boolean | null
}

/** Changes a limit by a number of units, for good or for the current window only. */
export default function AdjustForm({ quota: latest, isRemedy, onClose, onDone }: QuotaFormProps) {
  const [input, setInput] = useState<Input>({ units: '', isDecrease: false, reason: '', isThisWindowOnly: null })
  // Raising a cap takes several steps: after a break they go on with the cap as it was.
  const [begun, setBegun] = useState<Quota | null>(null)
  const quota = begun ?? latest
  const hasInput = input.units !== '' || input.reason !== ''
  useDialogInput(hasInput)
  useUnsavedInput(hasInput)
  const change = (part: Partial<Input>) => setInput({ ...input, ...part })
  const delta = deltaOf(input)
  const canBeThisWindowOnly = useCanBeThisWindowOnly(quota) && !input.isDecrease
  const { data: demand = null } = useQuery({ ...demandQuery(quota), enabled: isLive(quota) && quota.per === null })
  const isThisWindowOnly = canBeThisWindowOnly && (input.isThisWindowOnly ?? (isRemedy && isException(quota, demand)))
  const saving = useSaving(quota, (message: string) => {
    releaseInput()
    onDone(message)
    onClose()
  })
  const errors = fieldErrors(saving.error, ['delta', 'reason'], TEXTS.errors)

  function submit() {
    if (isThisWindowOnly && quota.kind === 'cap') setBegun(quota)
    saving.save(delta, input.reason, isThisWindowOnly)
  }
  return (
    <Form
      sending={saving}
      rest={errors.rest}
      remedy={<Remedy error={errors.rest} onConfirm={() => saving.saveBelowUsage(delta, input.reason)} />}
      onSubmit={submit}
      submit={isThisWindowOnly && quota.kind === 'grant' ? TEXTS.submitGrant : TEXTS.submit}
      isDisabled={saving.isAbove(delta)}
      below={
        saving.canAsk(delta) && (
          <Button variant="default" onClick={() => saving.ask(delta, input.reason, isThisWindowOnly)}>
            {TEXTS.ask}
          </Button>
        )
      }
    >
      <AboutQuota quota={quota} />
      <Caps quota={quota} delta={delta} />
      <AmountFields
        {...{ quota, demand, input, isRemedy }}
        onChange={change}
        error={saving.isAbove(delta) ? TEXTS.above : errors.at('delta')}
      />
      {canBeThisWindowOnly && quota.period !== null && (
        <RadioField
          label={TEXTS.windows}
          value={isThisWindowOnly ? 'this' : 'every'}
          onChange={value => change({ isThisWindowOnly: value === 'this' })}
          choices={['every', 'this']}
          labels={{ every: TEXTS.everyWindow[quota.period], this: TEXTS.thisWindow[quota.period] }}
        />
      )}
      <RaisedAlready quota={quota} />
      <Result quota={quota} delta={delta} isThisWindowOnly={isThisWindowOnly} />
      <ReasonField
        reasons={TEXTS.reasons[quota.kind]}
        about={isThisWindowOnly && quota.kind === 'grant' ? TEXTS.reasonOfGrant : TEXTS.reasonAbout}
        value={input.reason}
        onChange={reason => change({ reason })}
        error={errors.at('reason')}
      />
    </Form>
  )
}

/** @param onConfirm lowers the limit below what is used */
function Remedy({ error, onConfirm }: { error: Error | null; onConfirm: () => void }) {
  if (isForbidden(error)) return <Text size="sm">{TEXTS.usedUp}</Text>
  return isBelowUsage(error) && <BelowUsage onConfirm={onConfirm} />
}

/** What caps make of more units of a grant. */
function Caps({ quota: { kind, user_id }, delta }: { quota: Quota; delta: number | string }) {
  const units = typeof delta === 'number' ? delta : null
  return kind === 'grant' && (units ?? 0) >= 0 && <CapNotice user={{ user_id, isOwn: false }} units={units} />
}

/** Why a cap has no such choice: it is raised for its current one, and another cap follows it. */
function RaisedAlready({ quota }: { quota: Quota }) {
  const following = quota.metadata[CONTINUED_BY]
  if (currentRaise(quota) === null || quota.period === null) return null
  return (
    <Text size="sm">
      {TEXTS.raisedAlready[quota.period]}{' '}
      {following !== undefined && (
        <Anchor component={Link} href={`/quotas/${following}`} inherit underline="always">
          {TEXTS.adjustFollowing}
        </Anchor>
      )}
    </Text>
  )
}

/** Grants add up, so a grant gets units by another grant. A cap is raised and followed by another cap, which support staff do not create. */
function useCanBeThisWindowOnly(quota: Quota): boolean {
  const caller = useCaller()
  const fits = quota.kind === 'grant' ? quota.period !== null : canRaiseForWindow(quota) && changesQuotas(caller)
  return fits && isLive(quota)
}

function useSaving(quota: Quota, onSaved: (message: string) => void) {
  const [key] = useState(newIdempotencyKey)
  const adjusting = useChange('POST /admin/quota/{id}/adjust', ({ id, limit }) =>
    onSaved(id === quota.id ? TEXTS.done(limit ?? 0) : TEXTS.grantDone(limit ?? 0)),
  )
  const raising = useRaiseCap(key, () => onSaved(TEXTS.raiseDone))
  const asking = useChange('POST /admin/requests', () => onSaved(TEXTS.asked))
  const adjust = (body: CallInput<'POST /admin/quota/{id}/adjust'>['body']) =>
    adjusting.mutate({ id: quota.id, body, idempotencyKey: key })
  const isPending = adjusting.isPending || raising.isPending || asking.isPending
  const bound = useCaller().adjust_limit
  const isAbove = (delta: number | string) => bound !== null && typeof delta === 'number' && Math.abs(delta) > bound
  return {
    error: asking.error ?? adjusting.error ?? raising.error,
    isPending,
    /** Whether it is more than the caller may ever move. */
    isAbove,
    /** Whether an administrator may give what the caller may not, or not today. */
    canAsk: (delta: number | string) =>
      quota.kind === 'grant' &&
      typeof delta === 'number' &&
      delta > 0 &&
      (isAbove(delta) || (bound !== null && isForbidden(adjusting.error))),
    ask(delta: number | string, reason: string, isThisWindowOnly: boolean) {
      if (isPending || typeof delta !== 'number') return
      const until = isThisWindowOnly ? quota.window_end : null
      const body = { user_id: quota.user_id, quota_id: quota.id, units: delta, until, reason }
      asking.mutate({ body, idempotencyKey: `${key}-ask` })
    },
    save(delta: number | string, reason: string, isThisWindowOnly: boolean) {
      if (isPending) return
      asking.reset()
      adjusting.reset()
      raising.reset()
      const isGrant = quota.kind === 'grant'
      // Without a number and a reason the adjustment is sent in any case: the service names what is missing.
      if (isThisWindowOnly && !isGrant && typeof delta === 'number' && reason.trim() !== '')
        raising.mutate({ cap: quota, delta, reason })
      else
        adjust({
          ...{ delta, reason },
          ...(isThisWindowOnly && isGrant && { until: 'window_end', name: TEXTS.grantName }),
        })
    },
    saveBelowUsage: (delta: number | string, reason: string) => adjust({ delta, reason, allow_below_usage: true }),
  }
}

interface ResultProps {
  quota: Quota
  delta: number | string
  isThisWindowOnly: boolean
}

/** The figures that the change leads to. */
function Result({ quota, delta, isThisWindowOnly }: ResultProps) {
  const { period, limit, rolled_over, used, reserved, window_end, expires_at } = quota
  const raise = currentRaise(quota)
  const from = limit ?? 0
  // What each value has left, no figure of all says.
  const leftAt = (of: number) =>
    used === null || reserved === null ? null : Math.max(0, of + rolled_over - used - reserved)
  if (typeof delta === 'string') return <Text size="sm">{TEXTS.limitNow(from, leftAt(from))}</Text>
  const to = from + delta
  const [leftNow, leftThen] = [leftAt(from), leftAt(to)]
  if ((isThisWindowOnly || raise !== null) && window_end !== null)
    return (
      <Text size="sm" role="status">
        {quota.kind === 'cap'
          ? TEXTS.raises(raise?.from ?? from, to, <DistantTime at={window_end} />)
          : TEXTS.addsGrant(delta, <DistantTime at={window_end} />, from)}
      </Text>
    )
  return (
    <Text size="sm" role="status">
      {TEXTS.limitGoes(from, to)} {period !== null && window_end !== expires_at && TEXTS.inEveryWindow[period]}{' '}
      {leftNow !== null && leftThen !== null && TEXTS.leftInWindow(leftNow, leftThen)}
    </Text>
  )
}

interface ReasonProps {
  reasons: readonly string[]
  about: string
  value: string
  onChange: (reason: string) => void
  error: React.ReactNode
}

function ReasonField({ reasons, about, value, onChange, error }: ReasonProps) {
  return (
    <div>
      <TextField label={TEXTS.reason} about={about} value={value} onChange={onChange} error={error} required />
      <Group gap={6} mt={6} role="group" aria-label={TEXTS.commonReasons}>
        {reasons.map(reason => (
          <Button key={reason} size="compact-sm" variant="default" onClick={() => onChange(reason)}>
            {reason}
          </Button>
        ))}
      </Group>
    </div>
  )
}
