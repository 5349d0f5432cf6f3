import { Button, Group, Menu } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { Api } from '../../api/types.ts'
import { type QuotaAction, QuotaDialog } from '../../components/quota-dialogs/quota-dialog.tsx'
import { quotaName } from '../../components/quota-labels.ts'
import type { ViewedUser } from '../../model/addresses.ts'
import { transferableUnits } from '../../model/transfers.ts'
import { givingGrantsQuery } from '../../queries/user.ts'
import { texts } from '../../texts/texts.ts'

interface HandOnProps {
  user: ViewedUser
  /** Receives a confirmation message. */
  onDone: (message: string) => void
}

/** Opens the dialog that hands units of a grant on; of several grants, a menu asks which. Empty without one. */
export function HandOn({ user, onDone }: HandOnProps) {
  const { data: grants = [] } = useQuery(givingGrantsQuery(user))
  const [action, setAction] = useState<QuotaAction | null>(null)
  const open = (quota: Api['SmsQuota']) => setAction({ name: 'transfer', quota })
  const label = texts.dialogTitles.transfer.grant
  const [first, second] = grants
  return (
    <Group mb="sm">
      {first !== undefined && second === undefined && (
        <Button size="xs" aria-haspopup="dialog" onClick={() => open(first)}>
          {label}
        </Button>
      )}
      {second !== undefined && (
        <Menu position="bottom-start" shadow="md">
          <Menu.Target>
            <Button size="xs">{label}</Button>
          </Menu.Target>
          <Menu.Dropdown mah={320} style={{ overflowY: 'auto' }}>
            {grants.map(grant => (
              <Menu.Item key={grant.id} onClick={() => open(grant)}>
                <bdi>{quotaName(grant)}</bdi> · {texts.values.units(transferableUnits(grant) ?? 0)}
              </Menu.Item>
            ))}
          </Menu.Dropdown>
        </Menu>
      )}
      <QuotaDialog action={action} onClose={() => setAction(null)} onDone={onDone} />
    </Group>
  )
}
