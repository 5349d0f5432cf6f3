import { Button, Group, Text } from '@mantine/core'
import { Dialog } from '../components/dialog.tsx'
import { acceptLink, type Caller, declineLink, useIsLinkWaiting } from './session.ts'

/** Asks before a sign-in link replaces the session of this tab. */
export function LinkDialog({ caller }: { caller: Caller }) {
  const isOpen = useIsLinkWaiting()
  return (
    <Dialog title="Replace your session?" isOpen={isOpen} onClose={declineLink}>
      <Text size="sm" mb="md">
        You are signed in as “{caller.subject}”. The link that was opened signs in with another token. Continue only if
        you opened it yourself and trust where it came from.
      </Text>
      <Group justify="flex-end">
        <Button variant="default" onClick={declineLink} data-autofocus>
          Keep my session
        </Button>
        <Button onClick={acceptLink}>Sign in with the link</Button>
      </Group>
    </Dialog>
  )
}
