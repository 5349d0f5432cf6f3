import { Button, Text } from '@mantine/core'
import { Dialog } from '../parts/dialog.tsx'
import { signOut } from './session.ts'
import { TokenForm } from './token-form.tsx'

/** Stands over the page when the token is not good any more; the page beneath keeps all that was typed into it. */
export function EndedDialog({ isOpen }: { isOpen: boolean }) {
  return (
    <Dialog title="Your sign-in has ended" isOpen={isOpen}>
      <Text size="sm" mb="md">
        Sign in again to go on where you were. Nothing that you typed is lost.
      </Text>
      <TokenForm />
      <Button variant="subtle" color="gray" fullWidth mt="xs" onClick={signOut}>
        Sign out and leave this page
      </Button>
    </Dialog>
  )
}
