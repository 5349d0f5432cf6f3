import { Skeleton, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { messageKindOf, sendableUnits } from '../../../../src/domain/forecasts/sendable.ts'
import type { Api } from '../../api/types.ts'
import { countryName } from '../../formats.ts'
import { liveQuotasQuery } from '../../queries/quota.ts'
import { texts } from '../../texts/texts.ts'
import { Kind } from '../kind.tsx'
import classes from '../notice.module.css'
import { quotaName } from '../quota-labels.ts'
import { UserLink } from '../user-link.tsx'
import { DistantTime } from '../values.tsx'

type Quota = Api['SmsQuota']

/** The props of each form in the dialog. */
export interface QuotaFormProps {
  quota: Quota
  /** Whether it is to help a user that the quota blocks. */
  isRemedy: boolean
  onClose: () => void
  /** Receives a confirmation message when the quota has changed. */
  onDone: (message: string) => void
}

const TEXTS = texts.quota.effect

/** Which quota a dialog is about: it can be opened from a list. */
export function AboutQuota({ quota }: { quota: Quota }) {
  const { kind, window_end } = quota
  return (
    <Text size="sm" c="dimmed">
      <Kind kind={kind}>
        <bdi>{quotaName(quota)}</bdi>
      </Kind>{' '}
      · <UserLink user={quota} unnamed={texts.quota.user(quota.user_id)} inherit underline="always" />
      {window_end !== null && (
        <>
          {' '}
          · {texts.quota.windowEnds} <DistantTime at={window_end} />
        </>
      )}
    </Text>
  )
}

/** What the user can send without the quota instead of now, in figures if they can be read. */
export function EffectWithout({ quota }: { quota: Quota }) {
  const live = useQuery(liveQuotasQuery(quota.user_id))
  const kind = messageKindOf(quota)
  const scope = TEXTS.scope(kind.country === null ? null : countryName(kind.country), kind.message_type)
  return (
    <div className={quota.kind === 'cap' ? classes.lifted : classes.lost} role="status">
      <Text size="sm" fw={600}>
        {quota.kind === 'cap' ? TEXTS.liftsLimit : TEXTS.losesUnits(quota.remaining)}
      </Text>
      {live.data === undefined ? (
        live.error === null ? (
          <Skeleton height={20} mt={4} />
        ) : (
          <Text size="sm">{TEXTS.unknown(quota.user_id)}</Text>
        )
      ) : (
        <Text size="sm">
          {TEXTS.canSend(
            quota.user_id,
            sendableUnits(live.data, kind),
            sendableUnits(
              live.data.filter(({ id }) => id !== quota.id),
              kind,
            ),
            scope,
          )}
        </Text>
      )}
    </div>
  )
}
