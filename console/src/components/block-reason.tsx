import { TextInput } from '@mantine/core'
import type { Ref } from 'react'
import { MAX_REASON } from '../../../src/domain/quotas/extra-grant.ts'
import { texts } from '../texts/texts.ts'

interface BlockReasonProps {
  value: string
  onChange: (reason: string) => void
  /** Whether it was tried without a reason. */
  isTried: boolean
  ref?: Ref<HTMLInputElement>
}

/** Why users are blocked. The API does not require it; people who meet the block later need it. */
export function BlockReason({ value, onChange, isTried, ref }: BlockReasonProps) {
  const { blockReason, blockReasonAbout, blockReasonMissing } = texts.quota.form
  return (
    <TextInput
      ref={ref}
      label={blockReason}
      description={blockReasonAbout}
      required
      maxLength={MAX_REASON}
      maw="40rem"
      my="md"
      value={value}
      onChange={event => onChange(event.currentTarget.value)}
      error={isTried && value.trim() === '' && blockReasonMissing}
    />
  )
}
