import { Group, Loader, Text } from '@mantine/core'
import { useReachable } from '../../api/reachability.ts'
import { usePageTitle } from '../../components/page-title.tsx'
import { texts } from '../../texts/texts.ts'
import classes from './sign-in.module.css'

/** Shown while the token is checked or the sign-in options are loaded. */
export function SigningIn() {
  const { opening } = texts.shell
  usePageTitle(opening.tab)
  const isReachable = useReachable()
  return (
    <main className={classes.page}>
      <Group role="status" gap="sm" wrap="nowrap">
        <Loader size="sm" />
        <Text>{isReachable ? opening.text : opening.unreachable}</Text>
      </Group>
    </main>
  )
}
