import { lazy, Suspense, useEffect, useState } from 'react'
import { useSearch } from 'wouter'
import { useReachable } from '../../api/reachability.ts'
import type { Api } from '../../api/types.ts'
import { Badge } from '../../components/badge.tsx'
import { Loaded, Loading } from '../../components/loaded.tsx'
import { PageTitle } from '../../components/page-title.tsx'
import { decisionsOf } from '../../model/overview.ts'
import { useOverview } from '../../queries/overview.ts'
import { texts } from '../../texts/texts.ts'
import { AtRisk } from './at-risk.tsx'
import { Decisions } from './decisions.tsx'
import classes from './overview.module.css'
import { Strip } from './strip.tsx'
import { Today } from './today.tsx'

// Below the first screen.
const ActivityFeed = lazy(() => import('./activity-feed.tsx'))
const Traffic = lazy(() => import('./traffic.tsx'))

/** The start page of those who see all users: whether all is well, and what needs a decision. */
export default function Overview() {
  const overview = useOverview()
  return (
    <>
      <PageTitle title={texts.overview.title}>
        <LiveIndicator isConnected={overview.data !== undefined} error={overview.error} />
      </PageTitle>
      <Loaded query={overview} loading={<Placeholder />}>
        {data => <Content overview={data} />}
      </Loaded>
      <TrafficDetails />
    </>
  )
}

/** As high as the first screen, so that nothing below moves. */
function Placeholder() {
  return (
    <div className={classes.placeholder}>
      <Loading rows={1} height={32} />
      <Loading rows={6} height={56} />
    </div>
  )
}

/** It is shown as a whole: what comes from one answer moves nothing that is there already. */
function Content({ overview }: { overview: Api['Overview'] }) {
  const { customers, usage, events } = overview
  const decisions = decisionsOf(overview)
  const atRisk = customers?.items ?? []
  const isCalm = decisions.length === 0 && atRisk.length === 0
  return (
    <>
      <Strip overview={overview} />
      <div className={classes.page} data-calm={isCalm || undefined}>
        {!isCalm && (
          <div className={classes.column}>
            <Decisions decisions={decisions} />
            {atRisk.length > 0 && <AtRisk customers={atRisk} />}
          </div>
        )}
        <div className={classes.column}>
          {usage !== null && <Today usage={usage} />}
          {events !== null && (
            <Suspense fallback={<Loading rows={6} height={44} />}>
              <ActivityFeed events={events} />
            </Suspense>
          )}
        </div>
      </div>
    </>
  )
}

/** The addresses that lead to where messages go, and to who sends most. */
const TRAFFIC_PARAMETERS = ['by', 'who', 'top']

/** Where messages go: it is asked for when it is opened. */
function TrafficDetails() {
  const search = useSearch()
  const isLinked = TRAFFIC_PARAMETERS.some(name => new URLSearchParams(search).has(name))
  const [isOpen, setOpen] = useState(isLinked)
  useEffect(() => {
    if (isLinked) setOpen(true)
  }, [isLinked])
  return (
    <details className={classes.traffic} open={isOpen} onToggle={event => setOpen(event.currentTarget.open)}>
      <summary>{texts.overview.traffic}</summary>
      {isOpen && (
        <Suspense fallback={<Loading rows={5} height={36} />}>
          <Traffic />
        </Suspense>
      )}
    </details>
  )
}

/** Whether the overview is up to date. */
function LiveIndicator({ isConnected, error }: { isConnected: boolean; error: Error | null }) {
  const { live } = texts.overview
  // Other requests may notice an outage first.
  const isReachable = useReachable()
  return <div role="status">{badge()}</div>

  function badge() {
    if (!isReachable) return <Badge tone="held">{live.unreachable}</Badge>
    if (error !== null) return <Badge tone="held">{live.failed(error.message)}</Badge>
    return isConnected ? <Badge tone="good">{live.live}</Badge> : <Badge tone="over">{live.connecting}</Badge>
  }
}
