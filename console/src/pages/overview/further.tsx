import { Ending } from './ending.tsx'
import { NearLimit } from './near-limit.tsx'
import { RunningOut } from './running-out.tsx'
import { TopUsers } from './top-users.tsx'

/** The parts of the overview below its first screen, in a file of their own. */
export default function Further() {
  return (
    <>
      <RunningOut />
      <NearLimit />
      <Ending />
      <TopUsers />
    </>
  )
}
