import { lazy, Suspense } from 'react'
import { useReachable } from '../../api/reachability.ts'
import { Badge } from '../../components/badge.tsx'
import { Loading } from '../../components/loaded.tsx'
import { PageTitle } from '../../components/page-title.tsx'
import { useFeed } from '../../queries/feed.ts'
import { texts } from '../../texts/texts.ts'
import { Blocked } from './blocked.tsx'
import { Denials } from './denials.tsx'
import { Destinations, useHasUnusualCountry } from './destinations.tsx'
import { FailingWebhooks } from './failing-webhooks.tsx'
import classes from './overview.module.css'
import { Today } from './today.tsx'

// Below the first screen.
const Further = lazy(() => import('./further.tsx'))
const Pumping = lazy(() => import('./pumping.tsx'))
const ActivityFeed = lazy(() => import('./activity-feed.tsx'))
const Askers = lazy(() => import('./askers.tsx'))

/** The start page of those who see all users: what needs a decision, live. */
export default function Overview() {
  const feed = useFeed()
  const isUnusual = useHasUnusualCountry()
  // Blocked users and destinations keep their state when they change places.
  const webhooks = <FailingWebhooks key="webhooks" />
  const [blocked, destinations] = [<Blocked key="blocked" />, <Destinations key="destinations" />]
  return (
    <>
      <PageTitle title={texts.overview.title} about={texts.overview.about}>
        <LiveIndicator isConnected={feed.data !== undefined} error={feed.error} />
      </PageTitle>
      <Suspense>
        <Askers />
      </Suspense>
      {!isUnusual && webhooks}
      <div className={classes.page}>
        <div className={classes.column}>
          {isUnusual ? [destinations, webhooks, blocked] : [blocked, destinations]}
          <Suspense fallback={<Loading rows={12} height={44} />}>
            <Further />
          </Suspense>
        </div>
        <div className={classes.column}>
          <Denials />
          <Suspense>
            <Pumping />
          </Suspense>
          <Today />
          <Suspense fallback={<Loading rows={6} height={44} />}>
            <ActivityFeed feed={feed} />
          </Suspense>
        </div>
      </div>
    </>
  )
}

/** Whether the overview is up to date. */
function LiveIndicator({ isConnected, error }: { isConnected: boolean; error: Error | null }) {
  const { live } = texts.overview
  // Other requests notice an outage before the long poll does.
  const isReachable = useReachable()
  return <div role="status">{badge()}</div>

  function badge() {
    if (!isReachable) return <Badge tone="held">{live.unreachable}</Badge>
    if (error !== null) return <Badge tone="held">{live.failed(error.message)}</Badge>
    return isConnected ? <Badge tone="good">{live.live}</Badge> : <Badge tone="over">{live.connecting}</Badge>
  }
}
