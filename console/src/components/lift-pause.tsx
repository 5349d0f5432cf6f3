import { Button, Group, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { countryName } from '../formats.ts'
import type { Pause } from '../model/pauses.ts'
import { useChange } from '../queries/calls.ts'
import { texts } from '../texts/texts.ts'
import { Dialog } from './dialog.tsx'
import { ErrorNotice } from './error-notice.tsx'
import { RowButton } from './row-button.tsx'

const { lift, liftFor, lifting: words } = texts.pauses

interface LiftPauseProps {
  pause: Pick<Pause, 'id' | 'country' | 'user_id'>
  /** Receives a confirmation message. */
  onDone: (message: string) => void
}

/** Lifts a pause, after it has been asked for. */
export function LiftPause({ pause: { id, country, user_id }, onDone }: LiftPauseProps) {
  const [isOpen, setOpen] = useState(false)
  const name = countryName(country)
  const lifting = useChange('DELETE /admin/pauses/{id}', () => {
    setOpen(false)
    onDone(words.done(name))
  })
  return (
    <>
      <RowButton label={liftFor(name, user_id)} onClick={() => setOpen(true)}>
        {lift}
      </RowButton>
      <Dialog title={words.title} isOpen={isOpen} onClose={() => setOpen(false)}>
        <Stack gap="md">
          <Text size="sm">{words.about(name, user_id === null)}</Text>
          <ErrorNotice variant="action" error={lifting.error} />
          <Group justify="flex-end">
            <Button variant="default" onClick={() => setOpen(false)}>
              {words.close}
            </Button>
            <Button loading={lifting.isPending} onClick={() => lifting.mutate({ id })}>
              {words.submit}
            </Button>
          </Group>
        </Stack>
      </Dialog>
    </>
  )
}
