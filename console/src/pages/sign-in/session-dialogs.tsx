import { Button, Group, Text } from '@mantine/core'
import { Suspense } from 'react'
import { Dialog } from '../../components/dialog.tsx'
import { Loading } from '../../components/loaded.tsx'
import { acceptLink, type Caller, declineLink, signOut, useIsLinkWaiting } from '../../session/session.ts'
import { texts } from '../../texts/texts.ts'
import { SignInAgain } from './sign-in-forms.tsx'

const { ended, link } = texts.session

/** The dialogs about the session, over any page. Loaded after the page, so that they are there when they are needed. */
export default function SessionDialogs({ caller, isEnded }: { caller: Caller; isEnded: boolean }) {
  return (
    <>
      <SessionEndedDialog isOpen={isEnded} />
      <LinkDialog caller={caller} />
    </>
  )
}

/** Asks the user to sign in again when the token has expired; the page under it keeps its input. */
function SessionEndedDialog({ isOpen }: { isOpen: boolean }) {
  return (
    <Dialog title={ended.title} isOpen={isOpen}>
      <Text size="sm" mb="md">
        {ended.about}
      </Text>
      <Suspense fallback={<Loading rows={3} />}>
        <SignInAgain />
      </Suspense>
      <Button variant="subtle" color="gray" fullWidth mt="xs" onClick={signOut}>
        {ended.leave}
      </Button>
    </Dialog>
  )
}

/** Asks before a sign-in link replaces the session of this tab. */
function LinkDialog({ caller }: { caller: Caller }) {
  const isOpen = useIsLinkWaiting()
  return (
    <Dialog title={link.title} isOpen={isOpen} onClose={declineLink}>
      <Text size="sm" mb="md">
        {link.about(caller.name ?? caller.subject)}
      </Text>
      <Group justify="flex-end">
        <Button variant="default" onClick={declineLink} data-autofocus>
          {link.keep}
        </Button>
        <Button onClick={acceptLink}>{link.accept}</Button>
      </Group>
    </Dialog>
  )
}
