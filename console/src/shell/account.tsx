import { Button, Text } from '@mantine/core'
import { type Caller, signOut } from '../session/session.ts'
import classes from './shell.module.css'

export function Account({ caller }: { caller: Caller }) {
  return (
    <>
      <Text size="sm" c="dimmed" className={classes.account ?? ''} title={`Signed in as ${caller.subject}`}>
        {caller.subject}
      </Text>
      <Button variant="default" size="xs" onClick={signOut}>
        Sign out
      </Button>
    </>
  )
}
