import { useFeed } from '../../api/feed.ts'
import { PageTitle } from '../../parts/page-title.tsx'
import { Denials } from './denials.tsx'
import { Happenings } from './happenings.tsx'
import { LiveSign } from './live-sign.tsx'
import classes from './overview.module.css'
import { RunningOut } from './running-out.tsx'
import { Today } from './today.tsx'
import { TopUsers } from './top-users.tsx'

/** What goes on: where an administrator begins the day. */
export default function Overview() {
  const feed = useFeed()
  return (
    <>
      <PageTitle title="Overview" about="What is used, who runs out and what happens, kept up to date while you look.">
        <LiveSign isConnected={feed.data !== undefined} error={feed.error} />
      </PageTitle>
      <div className={classes.page}>
        <div className={classes.column}>
          <Today />
          <RunningOut />
          <TopUsers />
        </div>
        <div className={classes.column}>
          <Denials />
          <Happenings feed={feed} />
        </div>
      </div>
    </>
  )
}
