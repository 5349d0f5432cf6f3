import { useFeed } from '../../api/feed.ts'
import { PageTitle } from '../../components/page-title.tsx'
import { ActivityFeed } from './activity-feed.tsx'
import { Denials } from './denials.tsx'
import { LiveIndicator } from './live-indicator.tsx'
import classes from './overview.module.css'
import { RunningOut } from './running-out.tsx'
import { Today } from './today.tsx'
import { TopUsers } from './top-users.tsx'

/** The start page of administrators: usage, alerts and activity, live. */
export default function Overview() {
  const feed = useFeed()
  return (
    <>
      <PageTitle title="Overview" about="Usage, quotas about to run out, and activity, updated live.">
        <LiveIndicator isConnected={feed.data !== undefined} error={feed.error} />
      </PageTitle>
      <div className={classes.page}>
        <div className={classes.column}>
          <Today />
          <RunningOut />
          <TopUsers />
        </div>
        <div className={classes.column}>
          <Denials />
          <ActivityFeed feed={feed} />
        </div>
      </div>
    </>
  )
}
