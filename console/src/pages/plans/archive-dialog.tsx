import { Text } from '@mantine/core'
import type { Api } from '../../api/types.ts'
import { Dialog } from '../../components/dialog.tsx'
import { Form, Leave } from '../../components/form.tsx'
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
      <Form
        sending={archiving}
        onSubmit={() => archiving.mutate({ id: plan.id, ifMatch: plan.version })}
        submit={words.submit}
        isDanger
        beside={<Leave onClick={onClose}>{words.close}</Leave>}
      >
        <Text size="sm">
          {words.about(users)} {plan.is_default && words.aboutDefault}
        </Text>
      </Form>
    </Dialog>
  )
}
