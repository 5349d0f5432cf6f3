import { Button, Menu } from '@mantine/core'
import { useState } from 'react'
import type { Api } from '../../api/types.ts'
import { type QuotaAction, QuotaDialog } from '../../components/quota-dialogs/quota-dialog.tsx'
import { quotaName } from '../../components/quota-labels.ts'
import { texts } from '../../texts/texts.ts'

interface GrantActionProps {
  label: string
  /** Whether another button is what helps. */
  isSecond?: boolean
  action: Omit<QuotaAction, 'quota'>
  grants: readonly Api['SmsQuota'][]
  /** What the menu says of a grant: units that are left, or that can go. */
  unitsOf: (grant: Api['SmsQuota']) => number
  /** Receives a confirmation message. */
  onDone: (message: string) => void
}

/** Opens a dialog for a grant of a user; of several grants, a menu asks which. Empty without one. */
export function GrantAction({ label, isSecond = false, action, grants, unitsOf, onDone }: GrantActionProps) {
  const [opened, setOpened] = useState<QuotaAction | null>(null)
  const open = (quota: Api['SmsQuota']) => setOpened({ ...action, quota })
  const [first, second] = grants
  const look = { size: 'xs', variant: isSecond ? 'default' : 'filled' } as const
  return (
    <>
      {first !== undefined && second === undefined && (
        <Button {...look} aria-haspopup="dialog" onClick={() => open(first)}>
          {label}
        </Button>
      )}
      {second !== undefined && (
        <Menu position="bottom-start" shadow="md">
          <Menu.Target>
            <Button {...look}>{label}</Button>
          </Menu.Target>
          <Menu.Dropdown mah={320} style={{ overflowY: 'auto' }}>
            {grants.map(grant => (
              <Menu.Item key={grant.id} onClick={() => open(grant)}>
                <bdi>{quotaName(grant)}</bdi> · {texts.values.units(unitsOf(grant))}
              </Menu.Item>
            ))}
          </Menu.Dropdown>
        </Menu>
      )}
      <QuotaDialog action={opened} onClose={() => setOpened(null)} onDone={onDone} />
    </>
  )
}
