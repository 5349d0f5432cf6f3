import { Button, Text } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useParams } from 'wouter'
import { send } from '../../api/http.ts'
import { ApiProblem } from '../../api/problem.ts'
import { ErrorNotice } from '../../components/error-notice.tsx'
import { NotFound } from '../../components/not-found.tsx'
import { usePageTitle } from '../../components/page-title.tsx'
import { texts } from '../../texts/texts.ts'
import { Card } from '../sign-in/sign-in.tsx'

type What = 'confirm' | 'stop'
const isWhat = (text: string | undefined): text is What => text === 'confirm' || text === 'stop'

/** What the links of messages lead to, without a session. A button does it, as programs that check e-mails open links, too. */
export default function NotificationLink() {
  const { what } = useParams()
  return isWhat(what) ? <Link what={what} /> : <NotFound />
}

function Link({ what }: { what: What }) {
  const words = texts.notifications.links[what]
  const following = useMutation({
    // The link is the proof, so it needs no token.
    mutationFn: (code: string) => send(`POST /quota/notifications/${what}`, { body: { code } }, null),
  })
  const isOutdated = following.error instanceof ApiProblem && following.error.code === 'link_outdated'
  usePageTitle(words.title)
  return (
    <Card title={words.title}>
      <Text size="sm" mb="md" role="status">
        {following.isSuccess ? words.done : isOutdated ? texts.notifications.outdated : words.about}
      </Text>
      {!isOutdated && <ErrorNotice variant="action" error={following.error} />}
      {!following.isSuccess && !isOutdated && (
        <Button fullWidth loading={following.isPending} onClick={() => following.mutate(location.hash.slice(1))}>
          {words.submit}
        </Button>
      )}
    </Card>
  )
}
