import { Button, Text } from '@mantine/core'
import { signOut, useCaller } from '../session/session.ts'
import classes from './shell.module.css'

/** The signed-in user and the sign-out button. */
export function Account() {
  const { subject, user_id } = useCaller()
  return (
    <>
      <Text size="sm" c="dimmed" className={classes.account ?? ''} title={`Signed in as ${subject}`}>
        {user_id === null ? subject : `User ${user_id}`}
      </Text>
      <Button variant="default" size="xs" onClick={signOut}>
        Sign out
      </Button>
    </>
  )
}
