import { Button, Text } from '@mantine/core'
import { signOut, useCaller } from '../session/session.ts'
import { texts } from '../texts/texts.ts'
import classes from './shell.module.css'

/** The signed-in user and the sign-out button. */
export function Account() {
  const { subject, user_id } = useCaller()
  return (
    <>
      <Text size="sm" c="dimmed" className={classes.account ?? ''} title={texts.shell.account.signedInAs(subject)}>
        {user_id === null ? subject : texts.shell.account.user(user_id)}
      </Text>
      <Button variant="default" size="xs" onClick={signOut}>
        {texts.shell.account.signOut}
      </Button>
    </>
  )
}
