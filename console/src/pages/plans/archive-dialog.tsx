import { Button, Group, Stack, Text } from '@mantine/core'
import type { Api } from '../../api/types.ts'
import { Dialog } from '../../components/dialog.tsx'
import { ErrorNotice } from '../../components/error-notice.tsx'
import { useChange } from '../../queries/calls.ts'
import { texts } from '../../texts/texts.ts'

const words = texts.plans.archival

interface ArchiveProps {
  plan: Api['PlanDetail']
  onClose: () => void
}

/** Archives a plan, which cannot be undone. */
export default function ArchiveDialog({ plan, onClose }: ArchiveProps) {
  const archiving = useChange('DELETE /admin/plans/{id}', onClose)
  const users = plan.users.reduce((sum, entry) => sum + entry.users, 0)
  return (
    <Dialog title={words.title} isOpen onClose={onClose}>
      <Stack gap="md">
        <Text size="sm">
          {words.about(users)} {plan.is_default && words.aboutDefault}
        </Text>
        <ErrorNotice variant="action" error={archiving.error} />
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            {words.close}
          </Button>
          <Button
            color="red"
            loading={archiving.isPending}
            onClick={() => archiving.mutate({ id: plan.id, ifMatch: plan.version })}
          >
            {words.submit}
          </Button>
        </Group>
      </Stack>
    </Dialog>
  )
}
