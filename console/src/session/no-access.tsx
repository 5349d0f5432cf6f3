import { Button, Paper, Text, Title } from '@mantine/core'
import { usePageTitle } from '../parts/page-title.tsx'
import { type Caller, signOut } from './session.ts'
import classes from './sign-in.module.css'

/** For who has a good token with which there is nothing to see here: a machine that sends, most likely. */
export function NoAccess({ caller }: { caller: Caller }) {
  usePageTitle('Nothing to see with this token')
  return (
    <main className={classes.page}>
      <Paper className={classes.card} withBorder p="xl">
        <Title order={1} size="h3" mb="xs">
          Nothing to see with this token
        </Title>
        <Text size="sm" mb="md">
          You are signed in as “{caller.subject}”. The console shows people their own quotas, and administrators all of
          them, but this token has neither a user id nor the administrators’ role
          {caller.roles.includes('sender') && ': it is for a machine that sends'}.
        </Text>
        <Button fullWidth onClick={signOut}>
          Sign in with another token
        </Button>
      </Paper>
    </main>
  )
}
